/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON writer. Misuse (too deep, one end too many) marks the buffer as
 * `failed`, like a failed allocation: the output is valid, or an error.
 */
#include "base/text.h"

#include <math.h>
#include <string.h>

#define MAX_DEPTH 63 /* one bit of has_item each, and the outermost */
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

static void put_escaped_byte(struct tr_buf *buf, unsigned char c)
{
	static const char plain[] = "\"\\\n\r\t", letter[] = "\"\\nrt";
	const char *found = memchr(plain, c, sizeof(plain) - 1);

	if (found)
		tr_buf_addf(buf, "\\%c", letter[found - plain]);
	else
		tr_buf_addf(buf, "\\u%04x", c);
}

static bool needs_escape(unsigned char c)
{
	return c < 0x20 || c == '"' || c == '\\' || c == 0x7f;
}

/* Number of bytes from `text` on that need no escape. */
static size_t clean_run(const char *text, size_t len)
{
	size_t n = 0;

	while (n < len && !needs_escape((unsigned char)text[n])) {
		uint32_t code;
		size_t step = tr_utf8_decode(text + n, len - n, &code);

		if (step == 0)
			break;
		n += step;
	}

	return n;
}

static void put_quoted(struct tr_buf *buf, const char *text)
{
	size_t len = strlen(text);
	size_t at = 0;

	tr_buf_addc(buf, '"');
	while (at < len) {
		size_t run = clean_run(text + at, len - at);

		tr_buf_add(buf, text + at, run);
		at += run;
		if (at == len)
			break;
		if (needs_escape((unsigned char)text[at]))
			put_escaped_byte(buf, (unsigned char)text[at]);
		else
			tr_buf_adds(buf, REPLACEMENT);
		at++;
	}
	tr_buf_addc(buf, '"');
}

/* Writes what precedes a value: a comma if needed, and the key. */
static void begin_item(struct tr_json *json, const char *key)
{
	uint64_t bit = 1ull << json->depth;

	if (json->has_item & bit)
		tr_buf_addc(json->buf, ',');
	json->has_item |= bit;

	if (key) {
		put_quoted(json->buf, key);
		tr_buf_addc(json->buf, ':');
	}
}

static void begin_level(struct tr_json *json, const char *key, char bracket)
{
	begin_item(json, key);
	tr_buf_addc(json->buf, bracket);
	if (json->depth == MAX_DEPTH) {
		json->buf->failed = true;
		return;
	}

	json->depth++;
	json->has_item &= ~(1ull << json->depth);
}

static void end_level(struct tr_json *json, char bracket)
{
	if (json->depth == 0) {
		json->buf->failed = true;
		return;
	}

	json->depth--;
	tr_buf_addc(json->buf, bracket);
}

void tr_json_begin(struct tr_json *json, struct tr_buf *buf)
{
	*json = (struct tr_json){ .buf = buf };
}

void tr_json_object(struct tr_json *json, const char *key)
{
	begin_level(json, key, '{');
}

void tr_json_array(struct tr_json *json, const char *key)
{
	begin_level(json, key, '[');
}

void tr_json_end_object(struct tr_json *json)
{
	end_level(json, '}');
}

void tr_json_end_array(struct tr_json *json)
{
	end_level(json, ']');
}

void tr_json_str(struct tr_json *json, const char *key, const char *value)
{
	begin_item(json, key);
	if (value)
		put_quoted(json->buf, value);
	else
		tr_buf_adds(json->buf, "null");
}

void tr_json_u64(struct tr_json *json, const char *key, uint64_t value)
{
	char text[32];

	begin_item(json, key);
	tr_buf_add(json->buf, text, tr_u64_text(text, value));
}

void tr_json_i64(struct tr_json *json, const char *key, int64_t value)
{
	char text[32];
	/* As unsigned: the lowest number has no positive counterpart. */
	uint64_t size = value < 0 ? -(uint64_t)value : (uint64_t)value;

	begin_item(json, key);
	if (value < 0)
		tr_buf_addc(json->buf, '-');
	tr_buf_add(json->buf, text, tr_u64_text(text, size));
}

void tr_json_double(struct tr_json *json, const char *key, double value)
{
	char text[32];

	begin_item(json, key);
	if (isfinite(value))
		tr_buf_add(json->buf, text, tr_double_text(text, value));
	else
		tr_buf_adds(json->buf, "null");
}

void tr_json_bool(struct tr_json *json, const char *key, bool value)
{
	begin_item(json, key);
	tr_buf_adds(json->buf, value ? "true" : "false");
}
