/* SPDX-License-Identifier: Apache-2.0 */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static void write_string(FILE *stream, const char *text)
{
	(void)fputc('"', stream);
	while (*text) {
		unsigned char c = (unsigned char)*text;
		uint32_t code;
		size_t n = tr_utf8_decode(text, strnlen(text, 4),
					  &code);

		if (n == 0)
			(void)fputs("\xef\xbf\xbd", stream);
		else if (c == '"' || c == '\\')
			(void)fprintf(stream, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			(void)fprintf(stream, "\\u%04x", c);
		else
			(void)fwrite(text, 1, n, stream);
		text += n ? n : 1;
	}
	(void)fputc('"', stream);
}

void json_place(struct json *json, const char *key)
{
	uint64_t bit = UINT64_C(1) << json->depth;

	if (json->has_item & bit)
		(void)fputc(',', json->stream);
	json->has_item |= bit;
	if (key) {
		write_string(json->stream, key);
		(void)fputc(':', json->stream);
	}
}

static void begin(struct json *json, const char *key, char bracket)
{
	json_place(json, key);
	(void)fputc(bracket, json->stream);
	json->depth++;
	json->has_item &= ~(UINT64_C(1) << json->depth);
}

static void end(struct json *json, char bracket)
{
	json->depth--;
	(void)fputc(bracket, json->stream);
}

void json_begin_object(struct json *json, const char *key)
{
	begin(json, key, '{');
}

void json_end_object(struct json *json)
{
	end(json, '}');
}

void json_begin_array(struct json *json, const char *key)
{
	begin(json, key, '[');
}

void json_end_array(struct json *json)
{
	end(json, ']');
}

void json_text(struct json *json, const char *key, const char *value)
{
	json_place(json, key);
	if (value)
		write_string(json->stream, value);
	else
		(void)fputs("null", json->stream);
}

void json_unsigned(struct json *json, const char *key, uint64_t value)
{
	json_place(json, key);
	(void)fprintf(json->stream, "%llu", (unsigned long long)value);
}

void json_signed(struct json *json, const char *key, int64_t value)
{
	json_place(json, key);
	(void)fprintf(json->stream, "%lld", (long long)value);
}

void json_number(struct json *json, const char *key, double value)
{
	char text[32];

	json_place(json, key);
	if (isnan(value) || isinf(value)) {
		(void)fputs("null", json->stream);
		return;
	}
	/* The fewest digits that read back as the same number. */
	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	(void)fputs(text, json->stream);
}

void json_bool(struct json *json, const char *key, bool value)
{
	json_place(json, key);
	(void)fputs(value ? "true" : "false", json->stream);
}

void json_finish(struct json *json)
{
	(void)fputc('\n', json->stream);
	json->has_item = 0;
}
