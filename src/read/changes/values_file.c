/* SPDX-License-Identifier: Apache-2.0 */
/* Series files: one column of a CSV file, in the order of its rows. */
#include "read/changes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/platform.h"
#include "base/text.h"

#define MOST_BYTES ((uint64_t)1 << 30)

struct reading {
	struct tr_csv csv;
	const char *column; /* as asked for */
	uint32_t index;	    /* of the column */
	bool is_begun;	    /* the column is known */
	struct tr_value_list series;
	size_t room;
	size_t end; /* values up to the last that is not a blank line */
	tare_run_problem *problem;
};

static int problem_at(tare_run_problem *problem, uint64_t line,
		      const char *format, ...) TARE_PRINTF(3, 4);

static int problem_at(tare_run_problem *problem, uint64_t line,
		      const char *format, ...)
{
	va_list args;

	if (!problem)
		return TARE_EFORMAT;
	problem->line = line;
	problem->column = 0;
	va_start(args, format);
	(void)vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	tr_text_make_printable(problem->text);
	return TARE_EFORMAT;
}

/* ---- cells ------------------------------------------------------------- */

/* Words that programs write for a value that is not there. */
static bool is_gap(const char *cell)
{
	static const char *const word[] = { "", "-", "na", "n/a", "nan",
					    "null", "none" };

	for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); i++)
		if (tr_same_word(cell, word[i]))
			return true;
	return false;
}

static bool is_number(const char *cell, double *ret_value)
{
	if (is_gap(cell)) {
		*ret_value = (double)NAN;
		return true;
	}
	return tr_parse_double(cell, ret_value);
}

static int take_value(struct reading *r, double value)
{
	if (!TR_ARRAY_ROOM(r->series.value, r->series.n, r->room))
		return TARE_ENOMEM;
	r->series.value[r->series.n++] = value;
	return 0;
}

static int take_row(struct reading *r)
{
	const char *cell = r->index < r->csv.n ? r->csv.cell[r->index] : "";
	bool is_blank = r->csv.n == 1 && !*cell;
	double value;
	int err;

	if (!is_number(cell, &value))
		return problem_at(r->problem, r->csv.line,
				  "'%.40s' is not a number", cell);
	err = take_value(r, value);
	if (!err && !is_blank)
		r->end = r->series.n;
	return err;
}

/* ---- the column -------------------------------------------------------- */

static bool find_named(struct reading *r, const char *name)
{
	for (uint32_t i = 0; i < r->csv.n; i++)
		if (strcmp(r->csv.cell[i], name) == 0) {
			r->index = i;
			return true;
		}
	return false;
}

static int find_column(struct reading *r)
{
	uint64_t number;

	r->index = r->csv.n - 1;
	if (!r->column) {
		(void)find_named(r, "value");
		return 0;
	}
	if (find_named(r, r->column))
		return 0;
	if (!tr_parse_u64(r->column, &number) || !number ||
	    number > r->csv.n)
		return problem_at(r->problem, r->csv.line,
				  "there is no column '%.60s'", r->column);
	r->index = (uint32_t)number - 1;
	return 0;
}

/* The first row names the columns, unless its cell is a number. */
static int begin(struct reading *r)
{
	double value;
	int err = find_column(r);

	if (err)
		return err;
	r->is_begun = true;
	return *r->csv.cell[r->index] &&
			       is_number(r->csv.cell[r->index], &value) ?
		       take_row(r) :
		       0;
}

/* ---- the file ---------------------------------------------------------- */

static int rows(struct reading *r, char *text)
{
	int err = 0;

	tr_csv_begin(&r->csv, text);
	while (!err && tr_csv_row(&r->csv)) {
		if (r->csv.is_comment)
			continue;
		if (r->is_begun)
			err = take_row(r);
		else if (r->csv.n > 1 || *r->csv.cell[0])
			err = begin(r);
	}
	/* Blank lines at the end are no gaps. */
	r->series.n = r->end;
	if (!err && !r->end)
		err = problem_at(r->problem, 0, "there are no values");
	return err;
}

/* Takes the text, which is NUL-terminated. */
static int parse(char *text, size_t len, const char *column,
		 struct tr_value_list *ret_list, tare_run_problem *problem)
{
	struct reading *r = calloc(1, sizeof(*r));
	int err = TARE_ENOMEM;

	if (r) {
		r->column = column;
		r->problem = problem;
		err = strlen(text) == len ?
			      rows(r, text) :
			      problem_at(problem, 0, "a zero byte: this is "
					 "no text");
		if (err)
			tr_value_list_release(&r->series);
		else
			*ret_list = r->series;
	}
	free(r);
	free(text);
	return err;
}

int tr_value_list_parse(const char *text, size_t len, const char *column,
		    struct tr_value_list *ret_list, tare_run_problem *problem)
{
	char *copy;

	if (len > MOST_BYTES)
		return problem_at(problem, 0, "more than 1 GiB");
	copy = malloc(len + 1);
	if (!copy)
		return TARE_ENOMEM;
	if (len)
		memcpy(copy, text, len);
	copy[len] = '\0';
	return parse(copy, len, column, ret_list, problem);
}

int tr_value_list_open(const char *path, const char *column,
		   struct tr_value_list *ret_list, tare_run_problem *problem)
{
	struct stat st;
	int64_t got;
	char *text;

	if (stat(path, &st))
		return TARE_ENOENT;
	if (!S_ISREG(st.st_mode) || (uint64_t)st.st_size > MOST_BYTES)
		return problem_at(problem, 0, "not a file of less than 1 GiB");
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		return TARE_ENOMEM;
	got = tr_file_read(path, text, (size_t)st.st_size);
	if (got < 0) {
		free(text);
		return (int)got;
	}
	text[got] = '\0';
	return parse(text, (size_t)got, column, ret_list, problem);
}

void tr_value_list_release(struct tr_value_list *series)
{
	free(series->value);
	*series = (struct tr_value_list){ NULL, 0 };
}
