/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CSV: rows of cells of a text, which is split in place.
 *
 * Reads what other programs write: any line ends, a byte order mark, quotes,
 * commas or semicolons or tabs. A cell ends with its line: a quoted line end is
 * not supported, since one missing quote would make the rest of a file one
 * cell.
 */
#include "base/text.h"

#include <string.h>

void tr_csv_begin(struct tr_csv *csv, char *text)
{
	*csv = (struct tr_csv){ .at = text };
	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		csv->at += 3;
}

static char *next_line(char *line)
{
	char *end = line + strcspn(line, "\r\n");
	char c = *end;

	if (!c)
		return NULL;
	*end++ = '\0';
	if (c == '\r' && *end == '\n')
		end++;
	return *end ? end : NULL;
}

static char *trim(char *text)
{
	size_t n;

	text += strspn(text, " \t");
	n = strlen(text);
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		text[--n] = '\0';
	return text;
}

/* The text between quotes, doubled quotes as one; gives what follows it. */
static char *unquote(char *text)
{
	char *to = text, *from = text + 1;

	while (*from && (*from != '"' || from[1] == '"')) {
		from += *from == '"';
		*to++ = *from++;
	}
	from += *from == '"';
	*to = '\0';
	return from;
}

static char separator_of(const char *line)
{
	return strchr(line, ',')  ? ',' :
	       strchr(line, ';')  ? ';' :
	       strchr(line, '\t') ? '\t' :
				    ',';
}

/* What comes after the last cell that fits is dropped. */
static void split(struct tr_csv *csv, char *line)
{
	char *at = line;

	csv->n = 0;
	while (at && csv->n < TR_CSV_CELLS) {
		char *cell = at + strspn(at, " "), *next;

		at = *cell == '"' ? unquote(cell) : cell;
		next = strchr(at, csv->separator);
		if (next)
			*next++ = '\0';
		csv->cell[csv->n++] = trim(cell);
		at = next;
	}
}

bool tr_csv_row(struct tr_csv *csv)
{
	char *line = csv->at;

	if (!line)
		return false;
	csv->at = next_line(line);
	csv->line++;
	if (!csv->separator && line[0] != '#' && *trim(line))
		csv->separator = separator_of(line);
	csv->is_comment = line[0] == '#';
	if (csv->separator && !csv->is_comment) {
		split(csv, line);
	} else {
		csv->cell[0] = line;
		csv->n = 1;
	}
	return true;
}
