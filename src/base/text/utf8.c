/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <string.h>

/* Length of a sequence with this first byte; 0: no sequence starts with it. */
static unsigned sequence_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead < 0xc2) /* a continuation byte, or an overlong form */
		return 0;
	if (lead < 0xe0)
		return 2;
	if (lead < 0xf0)
		return 3;
	return lead < 0xf5 ? 4 : 0;
}

/* Rejects overlong forms, surrogates and code points above U+10FFFF. */
static bool is_allowed(uint32_t code, unsigned length)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	return code >= least[length] && code <= 0x10ffff &&
	       (code < 0xd800 || code > 0xdfff);
}

size_t tr_utf8_decode(const char *text, size_t len, uint32_t *ret)
{
	unsigned length;
	uint32_t code;

	if (len == 0)
		return 0;
	length = sequence_length((unsigned char)text[0]);
	if (length == 0 || length > len)
		return 0;
	if (length == 1) {
		*ret = (unsigned char)text[0];
		return 1;
	}

	code = (unsigned char)text[0] & (0x7fu >> length);
	for (unsigned i = 1; i < length; i++) {
		unsigned char byte = (unsigned char)text[i];

		if ((byte & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (byte & 0x3f);
	}
	if (!is_allowed(code, length))
		return 0;

	*ret = code;
	return length;
}

size_t tr_utf8_clip(const char *text, size_t len, size_t max)
{
	uint32_t code;

	if (!text)
		return 0;
	if (len <= max)
		return len;

	/*
	 * The cut can only be inside a sequence that starts at most three bytes
	 * before it. A first byte is never a continuation byte of another
	 * sequence, so there is no need to read from the beginning.
	 */
	for (size_t back = 1; back <= 3 && back <= max; back++) {
		size_t start = max - back;

		if (tr_utf8_decode(text + start, len - start, &code) > back)
			return start;
	}

	return max;
}

/* ---- text for terminals ------------------------------------------------ */

struct range {
	uint32_t first, last;
};

static bool is_within(uint32_t c, const struct range *range)
{
	for (; range->last; range++)
		if (c >= range->first && c <= range->last)
			return true;
	return false;
}

/*
 * Characters of a name that must not reach a terminal: controls (C0, DEL, C1),
 * invisible ones, line separators and changes of the writing direction.
 */
static bool is_printable(uint32_t c)
{
	static const struct range not[] = {
		{ 0x0, 0x1f },	     { 0x7f, 0x9f },	 { 0x61c, 0x61c },
		{ 0x200b, 0x200b },  { 0x200e, 0x200f }, { 0x2028, 0x202e },
		{ 0x2060, 0x2069 },  { 0xfeff, 0xfeff }, { 0, 0 },
	};

	return !is_within(c, not);
}

/* East Asian wide forms and emoji take two columns, marks none. */
static size_t width_of(uint32_t c)
{
	static const struct range none[] = {
		{ 0x300, 0x36f },   { 0x200c, 0x200d }, { 0x20d0, 0x20ff },
		{ 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f }, { 0, 0 },
	};
	static const struct range wide[] = {
		{ 0x1100, 0x115f },   { 0x2e80, 0x303e },
		{ 0x3041, 0xa4cf },   { 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff },   { 0xfe30, 0xfe6f },
		{ 0xff01, 0xff60 },   { 0xffe0, 0xffe6 },
		{ 0x1f300, 0x1f64f }, { 0x1f900, 0x1f9ff },
		{ 0x20000, 0x3fffd }, { 0, 0 },
	};

	if (c < 0x300)
		return 1;
	return is_within(c, none) ? 0 : is_within(c, wide) ? 2 : 1;
}

size_t tr_text_next(const char *text, size_t len, bool *ret_print,
		    size_t *ret_width)
{
	uint32_t c = 0;
	size_t n = tr_utf8_decode(text, len, &c);

	*ret_print = n > 0 && is_printable(c);
	*ret_width = *ret_print ? width_of(c) : 1;
	return n ? n : 1;
}

size_t tr_text_columns(const char *text)
{
	size_t len = strlen(text), n = 0, width;
	bool print;

	for (size_t i = 0; i < len; n += width)
		i += tr_text_next(text + i, len - i, &print, &width);
	return n;
}

size_t tr_text_cut(const char *text, size_t columns)
{
	size_t len = strlen(text), n, width;
	bool print;

	for (size_t i = 0; i < len; i += n) {
		n = tr_text_next(text + i, len - i, &print, &width);
		if (width > columns)
			return i;
		columns -= width;
	}
	return len;
}

void tr_text_make_printable(char *text)
{
	size_t len = strlen(text), to = 0, n, width;
	bool print;

	for (size_t i = 0; i < len; i += n) {
		n = tr_text_next(text + i, len - i, &print, &width);
		if (!print) {
			text[to++] = '?';
			continue;
		}
		memmove(text + to, text + i, n);
		to += n;
	}
	text[to] = '\0';
}

void tr_buf_add_printable(struct tr_buf *buf, const char *text, size_t columns)
{
	size_t len = tr_text_cut(text, columns), n, width;
	bool print;

	for (size_t i = 0; i < len; i += n) {
		n = tr_text_next(text + i, len - i, &print, &width);
		tr_buf_add(buf, print ? text + i : "?", print ? n : 1);
	}
}
