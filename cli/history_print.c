/* SPDX-License-Identifier: Apache-2.0 */
/* The history as text: rows, a plot of a series, its changes. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history_series.h"
#include "table.h"

#define PLOT_ROWS 9u
#define PLOT_COLUMNS 64u
#define PLOT_MOST 200u

/* ---- rows -------------------------------------------------------------- */

static void add_name(struct table *table, const struct store_run *run)
{
	table_addf(table, "%s%s%s", run->program,
		   run->arguments && run->arguments[0] ? " " : "",
		   run->arguments ? run->arguments : "");
}

static void add_status(struct table *table, const struct store_run *run)
{
	if (run->exit_status > 0)
		table_addf(table, "status %lld", (long long)run->exit_status);
	else
		table_add(table, strcmp(run->source, "run") ? run->source :
							      run->state);
}

static struct tr_text minute_of(int64_t ns)
{
	struct tr_text text = tr_as_date(ns);

	/* 2026-11-15T17:34:05Z to 2026-11-15 17:34 */
	text.text[10] = ' ';
	text.text[16] = '\0';
	return text;
}

void history_print_rows(const struct history_list *list, size_t most)
{
	struct column columns[] = {
		COLUMN_TEXT("STARTED", 0),  COLUMN_WIDE("COMMAND"),
		COLUMN_NUMBER("VALUE", 0),  COLUMN_NUMBER("CPU", 2),
		COLUMN_NUMBER("PEAK", 1),   COLUMN_TEXT("REVISION", 0),
		COLUMN_TEXT("STATUS", 0),
	};
	size_t n = list->rows.n, from = most && n > most ? n - most : 0;
	struct table table;
	char title[48];

	(void)snprintf(title, sizeof(title), "%.40s", list->figure);
	for (char *c = title; strcmp(list->figure, "wall") == 0 && *c; c++)
		*c = (char)(*c - 'a' + 'A');
	columns[2].title = title;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = n; i-- > from;) {
		const struct store_run *run = &list->rows.row[i].run;

		table_add(&table, minute_of(run->started_ns).text);
		add_name(&table, run);
		table_add(&table, history_value(list, run->value).text);
		table_add(&table, isnan(run->cpu_ns) ? "-" :
				  tr_as_duration(run->cpu_ns).text);
		table_add(&table, isnan(run->peak_bytes) ? "-" :
				  tr_as_bytes(run->peak_bytes).text);
		table_add(&table, history_revision(run).text);
		add_status(&table, run);
	}
	table_end(&table, stdout);
	if (from)
		(void)printf("%zu older: --limit 0 shows all\n", from);
}

/* ---- the plot ---------------------------------------------------------- */

/* Columns of the plot; a column has the median of its values. */
struct plot {
	double value[PLOT_MOST];
	bool has_change[PLOT_MOST];
	size_t n;
	double low, high;
};

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double median_of(const double *value, size_t n, double *scratch)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (!isnan(value[i]))
			scratch[kept++] = value[i];
	if (!kept)
		return (double)NAN;
	qsort(scratch, kept, sizeof(*scratch), by_size);
	return kept % 2 ? scratch[kept / 2] :
			  (scratch[kept / 2 - 1] + scratch[kept / 2]) / 2;
}

static bool plot_fill(struct plot *plot, const struct history_series *series,
		      size_t columns)
{
	double *scratch = malloc(series->n * sizeof(*scratch));

	if (!scratch)
		return false;
	plot->n = series->n < columns ? series->n : columns;
	plot->low = (double)INFINITY;
	plot->high = -(double)INFINITY;
	for (size_t i = 0; i < plot->n; i++) {
		size_t from = i * series->n / plot->n;
		size_t to = (i + 1) * series->n / plot->n;
		double value = median_of(series->value + from, to - from,
					 scratch);

		plot->value[i] = value;
		plot->has_change[i] = false;
		for (size_t k = 0; k < series->n_changes; k++)
			plot->has_change[i] |=
				series->changes[k].index >= from &&
				series->changes[k].index < to;
		plot->low = value < plot->low ? value : plot->low;
		plot->high = value > plot->high ? value : plot->high;
	}
	free(scratch);
	return plot->low <= plot->high;
}

static char mark_at(const struct plot *plot, size_t column, size_t row)
{
	double span = plot->high - plot->low;
	double place = span > 0 ? (plot->value[column] - plot->low) / span :
				  0.5;

	if (!isnan(place) &&
	    (size_t)(place * (PLOT_ROWS - 1) + 0.5) == row)
		return '*';
	return plot->has_change[column] ? '|' : ' ';
}

static void plot_print(const struct history_list *list,
		       const struct history_series *series)
{
	unsigned width = terminal_width(stdout);
	size_t columns = width > 30 ? width - 14 : PLOT_COLUMNS;
	struct plot plot;

	if (!plot_fill(&plot, series,
		       columns < PLOT_MOST ? columns : PLOT_MOST))
		return;
	for (size_t row = PLOT_ROWS; row-- > 0;) {
		const char *label = row == PLOT_ROWS - 1 ?
			history_value(list, plot.high).text :
			row == 0 ? history_value(list, plot.low).text : "";
		char line[PLOT_MOST + 1];
		size_t n = plot.n;

		for (size_t i = 0; i < plot.n; i++)
			line[i] = mark_at(&plot, i, row);
		while (n && line[n - 1] == ' ')
			n--;
		line[n] = '\0';
		(void)printf("%10s |%s\n", label, line);
	}
}

/* ---- changes ----------------------------------------------------------- */

static void print_changes(const struct history_list *list,
			  const struct history_series *series)
{
	static const struct column columns[] = {
		COLUMN_TEXT("CHANGED", 0),  COLUMN_TEXT("REVISION", 0),
		COLUMN_TEXT("BEFORE", 0),   COLUMN_NUMBER("FROM", 0),
		COLUMN_NUMBER("TO", 0),	    COLUMN_NUMBER("CHANGE", 0),
		COLUMN_WIDE("NOTE"),
	};
	struct table table;

	if (!series->n_changes)
		return;
	table_init(&table, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < series->n_changes; i++) {
		const tare_change *c = &series->changes[i];
		const struct store_run *run =
			&list->rows.row[series->row[c->index]].run;
		const struct store_run *last =
			&list->rows.row[series->row[c->index - 1]].run;

		table_add(&table, minute_of(run->started_ns).text);
		table_add(&table, history_revision(run).text);
		table_add(&table, history_revision(last).text);
		table_add(&table, history_value(list, c->before).text);
		table_add(&table, history_value(list, c->after).text);
		table_add_tinted(&table, tr_as_change(c->change).text,
				 c->change > 0 ? TINT_RED : TINT_GREEN);
		table_addf(&table, "%s%s", c->is_gradual ? "gradual " : "",
			   c->is_provisional ? "provisional" : "");
	}
	table_end(&table, stdout);
}

void history_print_series(const struct history_list *list,
			  const struct history_series *series)
{
	const struct store_run *run =
		&list->rows.row[series->row[series->n - 1]].run;

	terminal_safe(stdout, run->program);
	if (run->arguments && run->arguments[0]) {
		(void)putchar(' ');
		terminal_safe(stdout, run->arguments);
	}
	(void)fputs(" in ", stdout);
	terminal_safe(stdout, run->project);
	(void)fputs(" on ", stdout);
	terminal_safe(stdout, run->machine);
	(void)printf(": %s of %zu run%s, %zu change%s\n", list->figure,
		     series->n, series->n == 1 ? "" : "s", series->n_changes,
		     series->n_changes == 1 ? "" : "s");
	if (series->n > 1)
		plot_print(list, series);
	print_changes(list, series);
	(void)putchar('\n');
}
