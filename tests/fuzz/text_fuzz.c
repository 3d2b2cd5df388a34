/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers, globs and JSON text: any input, and what is known of the answer.
 */
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A number that was read comes back as the same number. */
static void check_numbers(const char *text)
{
	char out[32];
	double x, y = 0;
	uint64_t u;
	bool b;

	(void)tr_parse_u64(text, &u);
	(void)tr_parse_bool(text, &b);
	if (!tr_parse_double(text, &x))
		return;
	(void)tr_double_text(out, x);
	if (x - x == 0 && (!tr_parse_double(out, &y) || x != y))
		__builtin_trap();
}

static void check_doubles(const uint8_t *data, size_t size)
{
	char out[64];
	double value;

	for (; size >= 8; data += 8, size -= 8) {
		memcpy(&value, data, 8);
		(void)tr_double_text(out, value);
		for (int decimals = -1; decimals < 20; decimals += 5)
			(void)tr_fixed_text(out, sizeof(out), value,
					    decimals);
		(void)tr_fixed_text(out, 5, value, 2);
		(void)tr_as_duration(value);
		(void)tr_as_bytes(value);
	}
}

/* Only what JSON allows between the quotes: printable, escaped, UTF-8. */
static void check_json(const char *text)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_json json;
	uint32_t c;

	tr_json_begin(&json, &buf);
	tr_json_array(&json, NULL);
	tr_json_str(&json, NULL, text);
	tr_json_end_array(&json);
	for (size_t i = 0; i < buf.len;) {
		size_t n = tr_utf8_decode(buf.data + i, buf.len - i, &c);

		if (n == 0 || c < 0x20)
			__builtin_trap();
		i += n;
	}
	tr_buf_release(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	size_t clipped;

	memcpy(text, data, size);
	text[size] = '\0';
	check_numbers(text);
	check_doubles(data, size);
	check_json(text);
	clipped = tr_utf8_clip(text, size, size / 2);
	if (clipped > size / 2)
		__builtin_trap();
	if (size > 1) {
		/* First half a pattern, second half a text. */
		char *middle = text + size / 2;
		char *pattern = malloc(size / 2 + 1);

		memcpy(pattern, text, size / 2);
		pattern[size / 2] = '\0';
		(void)tr_glob_match(pattern, middle);
		(void)tr_glob_list_match(pattern, middle);
		free(pattern);
	}
	free(text);
	return 0;
}
