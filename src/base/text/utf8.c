/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

/* Bytes that a sequence starting with this byte has; 0: none starts so. */
static unsigned sequence_length(unsigned char lead)
{
	if (lead < 0x80)
		return 1;
	if (lead < 0xc2) /* a later byte, or a longer form than needed */
		return 0;
	if (lead < 0xe0)
		return 2;
	if (lead < 0xf0)
		return 3;
	return lead < 0xf5 ? 4 : 0;
}

/* Refuses longer forms than needed, surrogates and what is past U+10FFFF. */
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
	 * The cut can only be inside a sequence that starts at most three
	 * bytes before it. A first byte is never a later byte of another
	 * sequence, so there is no need to read from the beginning.
	 */
	for (size_t back = 1; back <= 3 && back <= max; back++) {
		size_t start = max - back;

		if (tr_utf8_decode(text + start, len - start, &code) > back)
			return start;
	}

	return max;
}
