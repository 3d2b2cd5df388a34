/* SPDX-License-Identifier: Apache-2.0 */
#include "read/training/run_parse.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ledger/read.h"

/* The epoch, then the columns of a row. */
#define RUN_EPOCH 0
#define RUN_COLUMN(name) (1 + TR_COLUMN_##name)
#define N_RUN_COLUMNS (1 + (int)TR_TRAINING_COLUMNS)

static const char *run_name(int column)
{
	return column == RUN_EPOCH ?
		       "epoch" :
		       tr_column_name((enum tr_run_column)(column - 1));
}

int tr_run_report(tare_run_problem *problem, uint64_t line, uint64_t column,
		  const char *format, ...)
{
	va_list args;

	if (!problem)
		return TARE_EFORMAT;
	problem->line = line;
	problem->column = column;
	va_start(args, format);
	(void)vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
	/* Safe for a terminal, whatever bytes the file has. */
	for (char *c = problem->text; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 127)
			*c = '?';
	return TARE_EFORMAT;
}

/* ---- cells ------------------------------------------------------------- */

char *tr_run_trim(char *text)
{
	size_t n;

	text += strspn(text, " \t");
	n = strlen(text);
	while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		text[--n] = '\0';
	return text;
}

char *tr_run_unquote(char *text, char **ret_cell)
{
	char *to = text, *from = text + 1;

	*ret_cell = text;
	while (*from && (*from != '"' || from[1] == '"')) {
		from += *from == '"';
		*to++ = *from++;
	}
	from += *from == '"';
	/* Text after the closing quote is ignored. */
	*to = '\0';
	return from;
}

/* Splits a line at its separators. Their number, or UINT32_MAX: too many. */
static uint32_t run_cells(char *line, char separator, char **cells)
{
	uint32_t n = 0;
	char *at = line;

	for (;;) {
		char *cell, *next;

		if (n == TR_RUN_MOST_CELLS)
			return UINT32_MAX;
		cell = at + strspn(at, " ");
		if (*cell == '"')
			at = tr_run_unquote(cell, &cell);
		next = strchr(at, separator);
		if (next)
			*next = '\0';
		cells[n++] = tr_run_trim(cell);
		if (!next)
			return n;
		at = next + 1;
	}
}

/* ---- the header -------------------------------------------------------- */

static int run_column(const char *name)
{
	for (int i = 0; i < N_RUN_COLUMNS; i++)
		if (tr_same_word(name, run_name(i)))
			return i;
	return -1;
}

static int run_check_header(const struct tr_run_parser *p, uint32_t seen)
{
	for (int i = RUN_EPOCH; i <= RUN_COLUMN(total_time); i++)
		if (!(seen & 1u << i))
			return tr_run_report(p->problem, p->line, 0,
					     "the header has no column '%s'",
					     run_name(i));
	return 0;
}

int tr_run_header(struct tr_run_parser *p, char *line)
{
	uint32_t seen = 0;

	p->separator = strchr(line, ';') ? ';' :
		       !strchr(line, ',') && strchr(line, '\t') ? '\t' : ',';
	p->n_cells = run_cells(line, p->separator, p->cells);
	if (p->n_cells == UINT32_MAX)
		return tr_run_report(p->problem, p->line, 0, "more than %u "
				     "columns", TR_RUN_MOST_CELLS);
	for (uint32_t i = 0; i < p->n_cells; i++) {
		int column = run_column(p->cells[i]);

		p->column_of[i] = column;
		if (column < 0)
			continue;
		if (seen & 1u << column)
			return tr_run_report(p->problem, p->line, i + 1,
					     "the column '%s' is there twice",
					     run_name(column));
		seen |= 1u << column;
	}
	if (!seen)
		return tr_run_report(p->problem, p->line, 0,
				     "the header row is missing: it begins "
				     "with 'epoch,total_time'");
	p->has_header = true;
	p->file->table.columns = seen >> 1;
	return run_check_header(p, seen);
}

/* ---- rows -------------------------------------------------------------- */

/* With semicolons or tabs as separators, a comma is a decimal point. */
static bool run_number(const struct tr_run_parser *p, char *cell, double *ret)
{
	char *comma = p->separator == ',' ? NULL : strchr(cell, ',');

	if (comma && !strchr(cell, '.'))
		*comma = '.';
	if (tr_parse_double(cell, ret))
		return true;
	if (comma)
		*comma = ','; /* restored for the message */
	if (!tr_same_word(cell, "na") && !tr_same_word(cell, "n/a") &&
	    !tr_same_word(cell, "null"))
		return false;
	*ret = NAN;
	return true;
}

/* Times and epochs must be numbers that can be added up. */
static const char *run_wrong(int column, const char *cell, double value)
{
	if (column == RUN_EPOCH && !(value >= 0 && value < 0x1p53 &&
				     value == (double)(uint64_t)value))
		return "no epoch";
	if (column > RUN_COLUMN(update_time) || column == RUN_EPOCH || !*cell ||
	    (isnan(value) && column != RUN_COLUMN(total_time)))
		return NULL;
	return value >= 0 && !isinf(value) ? NULL : "no time in seconds";
}

static int run_cell(const struct tr_run_parser *p, uint32_t i,
		    tare_run_row *row)
{
	int column = p->column_of[i];
	char *cell = p->cells[i];
	const char *wrong;
	double value = NAN;

	if (column < 0)
		return 0;
	if (!*cell && column <= RUN_COLUMN(total_time))
		return tr_run_report(p->problem, p->line, i + 1,
				     "%s is missing", run_name(column));
	if (*cell && !run_number(p, cell, &value))
		return tr_run_report(p->problem, p->line, i + 1,
				     "%s: '%.40s' is no number",
				     run_name(column), cell);
	wrong = run_wrong(column, cell, value);
	if (wrong)
		return tr_run_report(p->problem, p->line, i + 1,
				     "%s: '%.40s' is %s", run_name(column),
				     cell, wrong);
	if (column == RUN_EPOCH)
		row->epoch = (uint64_t)value;
	else
		*tr_row_at(row, (enum tr_run_column)(column - 1)) = value;
	return 0;
}

static int run_keep_row(tare_run_file *file, const tare_run_row *row)
{
	size_t room = file->rows_room ? 2 * file->rows_room : 256;
	tare_run_row *grown;

	if (file->table.n_rows == file->rows_room) {
		grown = realloc(file->rows, room * sizeof(*grown));
		if (!grown)
			return TARE_ENOMEM;
		file->rows = grown;
		file->rows_room = room;
	}
	file->rows[file->table.n_rows++] = *row;
	file->table.rows = file->rows;
	return 0;
}

static int run_check_order(const struct tr_run_parser *p,
			   const tare_run_row *row)
{
	const tare_run_table *table = &p->file->table;
	uint64_t last;

	if (table->n_rows == 0)
		return 0;
	last = table->rows[table->n_rows - 1].epoch;
	if (row->epoch > last)
		return 0;
	return tr_run_report(p->problem, p->line, 0, "epoch %llu comes after "
			     "epoch %llu: two runs in one file?",
			     (unsigned long long)row->epoch,
			     (unsigned long long)last);
}

int tr_run_row(struct tr_run_parser *p, char *line)
{
	tare_run_row row = { .epoch = 0 };
	uint32_t n = run_cells(line, p->separator, p->cells);
	int err = 0;

	for (unsigned i = 0; i < TR_TRAINING_COLUMNS; i++)
		*tr_row_at(&row, i) = NAN;
	if (run_column(p->cells[0]) >= 0)
		return tr_run_report(p->problem, p->line, 0, "a second header "
				     "row: two runs in one file?");
	while (n > p->n_cells && n != UINT32_MAX && !*p->cells[n - 1])
		n--; /* empty columns of a spreadsheet */
	if (n != p->n_cells)
		return tr_run_report(p->problem, p->line, 0,
				     "%u cells, but the header has %u",
				     n == UINT32_MAX ? TR_RUN_MOST_CELLS : n,
				     p->n_cells);
	for (uint32_t i = 0; !err && i < n; i++)
		err = run_cell(p, i, &row);
	if (!err)
		err = run_check_order(p, &row);
	return err ? err : run_keep_row(p->file, &row);
}
