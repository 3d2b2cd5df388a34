/* SPDX-License-Identifier: Apache-2.0 */
#include "utf8.h"

#include <stdint.h>

static size_t announced_length(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc0)
		return 0;
	if (first < 0xe0)
		return 2;
	if (first < 0xf0)
		return 3;
	return first < 0xf8 ? 4 : 0;
}

size_t utf8_length(const char *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	size_t n = announced_length(s[0]);
	uint32_t code;

	if (n < 2)
		return n;
	code = s[0] & (0xffu >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (s[i] & 0x3fu);
	}
	/* Too long a form, beyond Unicode, or half of a surrogate pair. */
	if (code < least[n] || code > 0x10ffff ||
	    (code >= 0xd800 && code < 0xe000))
		return 0;
	return n;
}

size_t utf8_printable(const char *text)
{
	unsigned char first = (unsigned char)text[0];
	size_t n = utf8_length(text);

	if (first < 0x20 || first == 0x7f)
		return 0;
	/* U+0080 to U+009F: xterm takes them for control sequences. */
	if (n == 2 && first == 0xc2 && (unsigned char)text[1] < 0xa0)
		return 0;
	return n;
}

void utf8_make_printable(char *text)
{
	size_t n;

	while (*text) {
		n = utf8_printable(text);
		if (n == 0) {
			*text = '?';
			n = 1;
		}
		text += n;
	}
}
