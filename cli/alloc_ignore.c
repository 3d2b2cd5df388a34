/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc_ignore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "message.h"
#include "read/profile.h"

#define FILE_MOST 65536u /* bytes of a file of globs */

#define BY_OPTION "--ignore"
#define BY_FILE "--ignore-file"

static int read_file(struct alloc_ignore *ignore)
{
	FILE *file = fopen(ignore->file, "re");
	size_t n;
	int error;

	if (!file)
		return message_error("open", ignore->file, errno);
	ignore->text = malloc(FILE_MOST + 1);
	n = ignore->text ? fread(ignore->text, 1, FILE_MOST + 1, file) : 0;
	error = ferror(file) ? errno : 0;
	(void)fclose(file);
	if (!ignore->text)
		return message_error("read", ignore->file, ENOMEM);
	if (error)
		return message_error("read", ignore->file, error);
	if (n > FILE_MOST) {
		message("'%s' is too long: at most %u bytes", ignore->file,
			FILE_MOST);
		return CODE_USAGE;
	}
	ignore->text[n] = '\0';
	/* A text for each line: where it ends there is a NUL. */
	for (size_t i = 0; i < n; i++)
		if (ignore->text[i] == '\n' || ignore->text[i] == '\r')
			ignore->text[i] = '\0';
	ignore->text_bytes = n;
	return CODE_OK;
}

int alloc_ignore_open(struct alloc_ignore *ignore)
{
	return ignore->file ? read_file(ignore) : CODE_OK;
}

static bool is_in_file(const struct alloc_ignore *ignore, tare_view *view,
		       const tare_alloc *row)
{
	const char *line = ignore->text;
	const char *end = line ? line + ignore->text_bytes : NULL;

	for (; line && line < end; line += strlen(line) + 1) {
		const char *glob = line + strspn(line, " \t");

		if (glob[0] && glob[0] != '#' &&
		    tr_alloc_matches(view, row, glob))
			return true;
	}
	return false;
}

/* NULL: it is a leak. */
static const char *reason(const struct alloc_ignore *ignore, tare_view *view,
			  const tare_alloc *row)
{
	const char *what = ignore->no_known ? NULL :
					      tr_alloc_kept_by(view, row);

	for (size_t i = 0; !what && i < ignore->globs->n; i++)
		if (tr_alloc_matches(view, row, ignore->globs->at[i]))
			what = BY_OPTION;
	if (!what && is_in_file(ignore, view, row))
		what = BY_FILE;
	return what;
}

static void count(struct alloc_ignore *ignore, const char *what,
		  const tare_alloc *row)
{
	size_t i = 0;

	while (i < ignore->n_kinds && strcmp(ignore->kind[i].what, what) != 0)
		i++;
	if (i == IGNORE_KINDS)
		return;
	if (i == ignore->n_kinds)
		ignore->kind[ignore->n_kinds++].what = what;
	ignore->kind[i].n += row->live;
	ignore->kind[i].bytes += row->live_bytes;
}

tare_alloc *alloc_ignore_rows(struct alloc_ignore *ignore, tare_view *view,
			      const tare_alloc *rows, size_t n, size_t *ret_n)
{
	tare_alloc *left = calloc(n + 1, sizeof(*left));
	size_t n_left = 0;

	for (size_t i = 0; left && i < n; i++) {
		const tare_alloc *row = tare_alloc_at(rows, i);
		const char *what = row->live ? reason(ignore, view, row) : NULL;

		if (what)
			count(ignore, what, row);
		else
			left[n_left++] = *row;
	}
	*ret_n = n_left;
	return left;
}

void alloc_ignore_sum(const struct alloc_ignore *ignore, uint64_t *ret_n,
		      uint64_t *ret_bytes)
{
	*ret_n = *ret_bytes = 0;
	for (size_t i = 0; i < ignore->n_kinds; i++) {
		*ret_n += ignore->kind[i].n;
		*ret_bytes += ignore->kind[i].bytes;
	}
}

void alloc_ignore_print(const struct alloc_ignore *ignore)
{
	uint64_t n, bytes;

	alloc_ignore_sum(ignore, &n, &bytes);
	if (!n)
		return;
	(void)printf("ignored: %s in %s (", tr_as_bytes((double)bytes).text,
		     tr_as_count(n).text);
	for (size_t i = 0; i < ignore->n_kinds; i++)
		(void)printf("%s%s %s", i ? ", " : "", ignore->kind[i].what,
			     tr_as_bytes((double)ignore->kind[i].bytes).text);
	(void)printf("); --no-ignore shows what libraries keep\n");
}

void alloc_ignore_close(struct alloc_ignore *ignore)
{
	free(ignore->text);
	ignore->text = NULL;
}
