/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads run CSV files, also those changed by other programs.
 *
 * The text is split into lines and cells in place. One loop handles comments,
 * the header and rows. The first cell, and whether there was a header, decide
 * which of them a line is.
 */
#include "read/training/run_parse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/platform.h"
#include "base/text.h"

#define RUN_MOST_BYTES ((uint64_t)1 << 30)

/* ---- lines and cells --------------------------------------------------- */

/* Ends the line at `text` and gives the next; NULL: it was the last one. */
static char *run_next_line(char *text, bool *ret_ended)
{
	char *end = text + strcspn(text, "\r\n");
	char c = *end;

	*ret_ended = c != '\0';
	if (!c)
		return NULL;
	*end++ = '\0';
	if (c == '\r' && *end == '\n')
		end++;
	return *end ? end : NULL;
}

/* ---- comments ---------------------------------------------------------- */

/* A spreadsheet adds quotes around the text, and empty cells after it. */
static char *run_comment_text(char *line)
{
	size_t n;

	if (*line == '"')
		(void)tr_run_unquote(line, &line);
	line += strspn(line, "# \t");
	n = strlen(line);
	while (n && strchr(",;\t ", line[n - 1]))
		line[--n] = '\0';
	return line;
}

static int run_add_comment(tare_run_file *file, char *line)
{
	char *key = run_comment_text(line);
	char *end = key + strcspn(key, ":=");
	size_t room = file->comments_room ? 2 * file->comments_room : 16;
	struct tr_run_comment *grown;

	if (!*end)
		return 0;
	*end = '\0';
	if (file->n_comments == file->comments_room) {
		grown = realloc(file->comments, room * sizeof(*grown));
		if (!grown)
			return TARE_ENOMEM;
		file->comments = grown;
		file->comments_room = room;
	}
	file->comments[file->n_comments++] = (struct tr_run_comment){
		tr_run_trim(key), tr_run_trim(end + 1)
	};
	return 0;
}

/* ---- the whole --------------------------------------------------------- */

static void run_no_problem(tare_run_problem *problem)
{
	if (problem)
		memset(problem, 0, sizeof(*problem));
}

static bool run_is_blank(const char *line)
{
	return line[strspn(line, " \t,;\"")] == '\0';
}

static int run_line(struct tr_run_parser *p, char *line)
{
	const char *start = line + strspn(line, " \t\"");
	int err;

	if (run_is_blank(line))
		return 0;
	if (*start == '#')
		return run_add_comment(p->file, line);
	if (!p->has_header)
		return tr_run_header(p, line);
	err = tr_run_row(p, line);
	/* A line without an end may be incomplete: the run was killed. */
	if (err == TARE_EFORMAT && !p->is_ended) {
		p->file->table.is_cut = true;
		run_no_problem(p->problem);
		return 0;
	}
	return err;
}

static void run_total(tare_run_file *file)
{
	const char *text = tare_run_file_comment(file, "total_training_time");
	double said = 0, sum = 0;

	for (size_t i = 0; i < file->table.n_rows; i++)
		sum += file->rows[i].total_time;
	if (text)
		(void)tr_parse_double(text, &said);
	/* The comment of a killed run may be older than its rows. */
	file->table.total_training_time = said > sum ? said : sum;
	text = tare_run_file_comment(file, "finished");
	file->table.is_open = text && strcmp(text, "no") == 0;
}

static int run_no_text(const char *text, tare_run_problem *problem)
{
	if (strncmp(text, "\xff\xfe", 2) == 0 ||
	    strncmp(text, "\xfe\xff", 2) == 0)
		return tr_run_report(problem, 0, 0,
				     "this is UTF-16: save it as "
				     "CSV in UTF-8");
	return tr_run_report(problem, 0, 0, "a zero byte: this is no text");
}

static int run_lines(struct tr_run_parser *p, char *text)
{
	int err = 0;

	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	while (text && !err) {
		char *next = run_next_line(text, &p->is_ended);

		p->line++;
		err = run_line(p, text);
		text = next;
	}
	if (!err && !p->has_header)
		err = tr_run_report(p->problem, 0, 0,
				    "no header row: the file is "
				    "empty, or no run CSV file");
	if (!err)
		run_total(p->file);
	return err;
}

/* Takes ownership of the text, which is NUL-terminated. */
static int run_parse(char *text, size_t len, tare_run_file **ret_file,
		     tare_run_problem *problem)
{
	tare_run_file *file = calloc(1, sizeof(*file));
	struct tr_run_parser *p = calloc(1, sizeof(*p));
	int err = TARE_ENOMEM;

	if (file && p) {
		file->text = text;
		text = NULL;
		*p = (struct tr_run_parser){ .file = file, .problem = problem };
		err = strlen(file->text) == len ?
			      run_lines(p, file->text) :
			      run_no_text(file->text, problem);
	}
	free(text);
	free(p);
	if (err) {
		tare_run_file_close(file);
		return err;
	}
	*ret_file = file;
	return 0;
}

int tare_run_file_parse(const char *text, size_t len,
			tare_run_file **ret_file,
			tare_run_problem *ret_problem)
{
	char *copy;

	if ((!text && len) || !ret_file || len > RUN_MOST_BYTES)
		return TARE_EINVAL;
	run_no_problem(ret_problem);
	copy = malloc(len + 1);
	if (!copy)
		return TARE_ENOMEM;
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return run_parse(copy, len, ret_file, ret_problem);
}

int tare_run_file_open(const char *path, tare_run_file **ret_file,
		       tare_run_problem *ret_problem)
{
	struct stat st;
	int64_t got;
	char *text;

	if (!path || !ret_file)
		return TARE_EINVAL;
	run_no_problem(ret_problem);
	if (stat(path, &st))
		return TARE_ENOENT;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > RUN_MOST_BYTES)
		return tr_run_report(ret_problem, 0, 0,
				     "not a file of less than "
				     "1 GiB");
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return TARE_ENOMEM;
	got = tr_file_read(path, text, (size_t)st.st_size);
	if (got < 0) {
		free(text);
		return (int)got;
	}
	text[got] = '\0';
	return run_parse(text, (size_t)got, ret_file, ret_problem);
}

void tare_run_file_close(tare_run_file *file)
{
	if (!file)
		return;
	free(file->text);
	free(file->rows);
	free(file->comments);
	free(file);
}

const tare_run_table *tare_run_file_table(const tare_run_file *file)
{
	return file ? &file->table : NULL;
}

const char *tare_run_file_comment(const tare_run_file *file, const char *key)
{
	for (size_t i = 0; file && key && i < file->n_comments; i++)
		if (strcmp(file->comments[i].key, key) == 0)
			return file->comments[i].value;
	return NULL;
}

bool tare_run_file_comment_at(const tare_run_file *file, size_t index,
			      const char **ret_key, const char **ret_value)
{
	if (!file || !ret_key || !ret_value || index >= file->n_comments)
		return false;
	*ret_key = file->comments[index].key;
	*ret_value = file->comments[index].value;
	return true;
}
