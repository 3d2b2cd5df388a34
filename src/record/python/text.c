/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text: a str object of the interpreter, as UTF-8.
 *
 * A str has its characters behind its head, each in 1, 2 or 4 bytes. Only
 * these compact ones are read: names in code objects are no others.
 */
#include "record/python/python.h"

#include <string.h>

#define TEXT_LENGTH 16u /* offsets in the object */
#define TEXT_STATE 32u
#define STATE_KIND(state) ((state) >> 2 & 7)
#define STATE_IS_COMPACT(state) ((state) >> 5 & 1)
#define STATE_IS_ASCII(state) ((state) >> 6 & 1)
#define TEXT_MOST 65536u /* characters; a longer one is no name */

static uint32_t letter_at(const struct tr_python_text *text, uint32_t i)
{
	const unsigned char *at = (const void *)(uintptr_t)
		(text->at + (uint64_t)i * text->width);
	uint32_t letter = 0;

	for (uint32_t k = 0; k < text->width; k++)
		letter |= (uint32_t)at[k] << 8 * k;
	return letter;
}

/* A surrogate, as in names of files that are no UTF-8, is "?". */
static uint32_t shown(uint32_t letter)
{
	if ((letter >= 0xd800 && letter < 0xe000) || letter > 0x10ffff ||
	    !letter)
		return '?';
	return letter;
}

static uint32_t bytes_of(uint32_t letter)
{
	if (letter < 0x80)
		return 1;
	if (letter < 0x800)
		return 2;
	return letter < 0x10000 ? 3 : 4;
}

/* From the end: the end of a path or of a qualified name says more. */
static void cut_text(struct tr_python_text *text, uint32_t most)
{
	uint32_t first = text->n, bytes = 0;

	while (first > 0) {
		uint32_t more = bytes_of(shown(letter_at(text, first - 1)));

		if (bytes + more > most)
			break;
		bytes += more;
		first--;
	}
	text->at += (uint64_t)first * text->width;
	text->n -= first;
	text->bytes = bytes;
}

bool tr_python_text_of(struct tr_python_pages *pages, uint64_t object,
		       uint32_t most, struct tr_python_text *ret_text)
{
	const struct tr_python_layout *layout = tr_python.layout;
	struct tr_python_text text = { .n = 0 };
	uint64_t length, state;

	if (!tr_python_load(pages, object + TEXT_LENGTH, &length) ||
	    !tr_python_load(pages, object + TEXT_STATE, &state) ||
	    !STATE_IS_COMPACT(state) || length > TEXT_MOST)
		return false;
	text.width = (uint32_t)STATE_KIND(state);
	if (text.width != 1 && text.width != 2 && text.width != 4)
		return false;
	text.at = object + (STATE_IS_ASCII(state) ? layout->ascii_bytes :
						    layout->compact_bytes);
	text.n = (uint32_t)length;
	if (!tr_python_can_read_all(pages, text.at, length * text.width))
		return false;
	cut_text(&text, most);
	*ret_text = text;
	return true;
}

static char *put_letter(char *to, uint32_t letter)
{
	uint32_t n = bytes_of(letter);

	if (n == 1) {
		*to++ = (char)letter;
		return to;
	}
	*to++ = (char)((0xf00 >> n & 0xff) | letter >> 6 * (n - 1));
	for (uint32_t i = n - 1; i-- > 0;)
		*to++ = (char)(0x80 | (letter >> 6 * i & 0x3f));
	return to;
}

void tr_python_text_copy(const struct tr_python_text *text, char *to)
{
	for (uint32_t i = 0; i < text->n; i++)
		to = put_letter(to, shown(letter_at(text, i)));
	*to = '\0';
}

/* Letters go to `letter`, of `most`; the end of a long name is cut. */
void tr_python_text_title(const struct tr_python_text *name, uint32_t *letter,
			  uint32_t most, struct tr_python_text *ret_text)
{
	static const char head[] = "[thread ";
	uint32_t n = 0, bytes = 0;

	for (; head[n]; n++)
		letter[n] = (unsigned char)head[n];
	for (uint32_t i = 0; i < name->n && n + 1 < most; i++) {
		uint32_t next = shown(letter_at(name, i));

		if (next >= '0' && next <= '9') {
			if (letter[n - 1] == '*')
				continue;
			next = '*';
		}
		letter[n++] = next;
	}
	letter[n++] = ']';
	for (uint32_t i = 0; i < n; i++)
		bytes += bytes_of(letter[i]);
	*ret_text = (struct tr_python_text){
		.at = (uint64_t)(uintptr_t)letter, .n = n,
		.width = sizeof(*letter), .bytes = bytes
	};
}
