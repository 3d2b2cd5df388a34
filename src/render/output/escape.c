/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Escape: writes any bytes as a JSON string or as a table cell.
 *
 * Nearly all texts are short, plain ASCII. They are checked and copied eight
 * bytes per step; from the first byte that needs escaping, the slow loop writes
 * the rest.
 */
#include "render/output.h"

#include <assert.h>
#include <math.h>

#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

#define ONES 0x0101010101010101ull
#define HIGHS 0x8080808080808080ull

/* The high bit of each byte that is `c`; bits above a hit may be wrong. */
static uint64_t bytes_equal(uint64_t x, unsigned char c)
{
	x ^= ONES * c;
	return (x - ONES) & ~x & HIGHS;
}

static uint64_t bytes_below_space(uint64_t x)
{
	return (x - ONES * 0x20) & ~x & HIGHS;
}

/* Nonzero if one of eight bytes must not be copied unchanged. */
static uint64_t json_special(uint64_t x)
{
	return (x & HIGHS) | bytes_below_space(x) | bytes_equal(x, '"') |
	       bytes_equal(x, '\\') | bytes_equal(x, 0x7f);
}

/* Bytes for which a cell is quoted, and bytes that are not ASCII. */
static uint64_t cell_special(uint64_t x)
{
	return (x & HIGHS) | bytes_equal(x, '"') | bytes_equal(x, ',') |
	       bytes_equal(x, '\r') | bytes_equal(x, '\n');
}

/* The last bytes of a text, padded with letters. */
static uint64_t load_tail(const char *text, size_t len)
{
	uint64_t x = ONES * 'a';

	memcpy(&x, text, len);
	return x;
}

/* One code point at `text`, or U+FFFD for an invalid byte. */
static char *put_character(char *at, const char *text, size_t len,
			   size_t *ret_step)
{
	uint32_t code;
	size_t step = tr_utf8_decode(text, len, &code);

	*ret_step = step ? step : 1;
	return step ? tr_put(at, text, step) : TR_LIT(at, REPLACEMENT);
}

static char *put_json_byte(char *at, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	static const char bytes[] = "\"\\\n\r\t", letters[] = "\"\\nrt";
	const char *found = memchr(bytes, c, sizeof(bytes) - 1);

	*at++ = '\\';
	if (found) {
		*at++ = letters[found - bytes];
		return at;
	}
	at = TR_LIT(at, "u00");
	*at++ = hex[c >> 4];
	*at++ = hex[c & 15];
	return at;
}

static char *put_json_slow(char *at, const char *text, size_t len)
{
	size_t step;

	for (size_t i = 0; i < len; i += step) {
		unsigned char c = (unsigned char)text[i];

		step = 1;
		if (c >= 0x80)
			at = put_character(at, text + i, len - i, &step);
		else if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f)
			at = put_json_byte(at, c);
		else
			*at++ = (char)c;
	}
	return at;
}

static char *put_json_inner(char *at, const char *text, size_t len)
{
	uint64_t x;

	for (; len >= 8; text += 8, at += 8, len -= 8) {
		memcpy(&x, text, 8);
		if (json_special(x))
			return put_json_slow(at, text, len);
		memcpy(at, &x, 8);
	}
	x = load_tail(text, len);
	if (json_special(x))
		return put_json_slow(at, text, len);
	memcpy(at, &x, 8);
	return at + len;
}

char *tr_put_json(char *at, const char *text, size_t len)
{
	assert(len <= TR_ESCAPE_MOST);
	*at++ = '"';
	at = put_json_inner(at, text, len);
	*at++ = '"';
	return at;
}

void tr_sink_json(struct tr_sink *sink, const char *text)
{
	size_t len = strlen(text);

	tr_sink_add(sink, "\"", 1);
	while (len) {
		size_t n = tr_utf8_clip(text, len, TR_ESCAPE_MOST);
		char *at = tr_sink_begin(sink);

		tr_sink_end(sink, put_json_inner(at, text, n));
		text += n;
		len -= n;
	}
	tr_sink_add(sink, "\"", 1);
}

void tr_sink_attr(struct tr_sink *sink, const tare_attr_value *attr)
{
	char *at;

	if (attr->type == TARE_ATTR_STR) {
		tr_sink_json(sink, attr->s);
		return;
	}
	at = tr_sink_begin(sink);
	if (attr->type == TARE_ATTR_INT)
		at = tr_put_i64(at, attr->i);
	else if (isfinite(attr->d))
		at += tr_double_text(at, attr->d);
	else
		at = TR_LIT(at, "null");
	tr_sink_end(sink, at);
}

bool tr_attr_is_replaced(const tare_record *r, size_t attr)
{
	for (size_t k = attr + 1; k < r->n_attrs; k++)
		if (strcmp(r->attrs[k].key, r->attrs[attr].key) == 0)
			return true;
	return false;
}

/* ---- cells ------------------------------------------------------------- */

/* A spreadsheet treats a text that begins with these as a formula. */
static bool is_formula(char first)
{
	return first == '=' || first == '+' || first == '-' || first == '@' ||
	       first == '\t' || first == '\r';
}

bool tr_cell_is_plain(const char *text, size_t len)
{
	uint64_t x;

	if (len && is_formula(text[0]))
		return false;
	for (; len >= 8; text += 8, len -= 8) {
		memcpy(&x, text, 8);
		if (cell_special(x))
			return false;
	}
	return !cell_special(load_tail(text, len));
}

/* Doubles the quotes; does not write the enclosing ones. */
static char *put_cell_inner(char *at, const char *text, size_t len)
{
	size_t step;

	for (size_t i = 0; i < len; i += step) {
		step = 1;
		if ((unsigned char)text[i] >= 0x80) {
			at = put_character(at, text + i, len - i, &step);
			continue;
		}
		if (text[i] == '"')
			*at++ = '"';
		*at++ = text[i];
	}
	return at;
}

char *tr_put_cell(char *at, const char *text, size_t len)
{
	assert(len <= TR_ESCAPE_MOST);
	if (tr_cell_is_plain(text, len))
		return tr_put(at, text, len);
	*at++ = '"';
	if (is_formula(text[0]))
		*at++ = '\'';
	at = put_cell_inner(at, text, len);
	*at++ = '"';
	return at;
}

void tr_sink_cell(struct tr_sink *sink, const char *text)
{
	size_t len = strlen(text);

	if (len <= TR_ESCAPE_MOST) {
		tr_sink_end(sink, tr_put_cell(tr_sink_begin(sink), text, len));
		return;
	}
	tr_sink_adds(sink, is_formula(text[0]) ? "\"'" : "\"");
	while (len) {
		size_t n = tr_utf8_clip(text, len, TR_ESCAPE_MOST);
		char *at = tr_sink_begin(sink);

		tr_sink_end(sink, put_cell_inner(at, text, n));
		text += n;
		len -= n;
	}
	tr_sink_adds(sink, "\"");
}
