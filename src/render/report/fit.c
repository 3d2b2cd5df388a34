/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fit: lines that are wider than any line of a report should be end after the
 * last column, or word, that has room, with "..": half a figure is a wrong one.
 */
#include "render/report.h"

#include <string.h>

#define COLUMNS 110u /* of the widest lines */
#define MARK " .."
#define MARK_COLUMNS (sizeof(MARK) - 1)

/* Bytes of text[0..len) that are a style of the terminal; 0: none. */
static size_t style_bytes(const char *text, size_t len)
{
	size_t n = 1;

	if (*text != '\033')
		return 0;
	while (n < len && text[n] != 'm')
		n++;
	return n < len ? n + 1 : len;
}

/* Bytes of the line that fit in `most` columns. */
static size_t fitting(const char *line, size_t len, size_t most)
{
	size_t column = 0, at = 0;

	while (at < len) {
		size_t width = 0, n = style_bytes(line + at, len - at);
		bool print;

		if (!n)
			n = tr_text_next(line + at, len - at, &print, &width);
		column += width;
		if (column > most)
			break;
		at += n;
	}
	return at;
}

/* Where the last column ends that begins and ends before `cut`, or the word. */
static size_t whole_fields(const char *line, size_t cut)
{
	size_t at = cut;

	while (at > cut / 2 && (line[at] != ' ' || line[at + 1] != ' '))
		at--;
	if (at == cut / 2)
		for (at = cut; at > cut / 2 && line[at] != ' ';)
			at--;
	if (at == cut / 2)
		return cut;
	while (at && line[at - 1] == ' ')
		at--;
	return at;
}

static void add_line(struct tr_buf *buf, const char *line, size_t len,
		     size_t most)
{
	size_t cut = fitting(line, len, most);

	if (cut < len)
		cut = whole_fields(line, fitting(line, len,
						 most - MARK_COLUMNS));
	tr_buf_add(buf, line, cut);
	if (cut == len)
		return;
	tr_buf_adds(buf, MARK);
	/* What ends a style stands behind the text. */
	for (size_t i = cut, n; i < len; i += n ? n : 1) {
		n = style_bytes(line + i, len - i);
		tr_buf_add(buf, line + i, n);
	}
}

void tr_report_fit(struct tr_report *r)
{
	size_t most = r->options.width < COLUMNS ? COLUMNS : r->options.width;
	struct tr_buf whole = *r->buf;
	const char *line = whole.data, *end = whole.data + whole.len;

	if (whole.failed || !whole.len)
		return;
	*r->buf = (struct tr_buf)TR_BUF_INIT;
	while (line < end) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		add_line(r->buf, line, (size_t)((stop ? stop : end) - line),
			 most);
		if (!stop)
			break;
		tr_buf_addc(r->buf, '\n');
		line = stop + 1;
	}
	tr_buf_release(&whole);
}
