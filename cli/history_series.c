/* SPDX-License-Identifier: Apache-2.0 */
#include "history_series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rows -------------------------------------------------------------- */

#define N_TEXTS 11u

static void texts_of(struct store_run *run, const char **at[N_TEXTS])
{
	const char **all[N_TEXTS] = {
		&run->key,	&run->source, &run->project, &run->program,
		&run->arguments, &run->machine, &run->cpu,   &run->revision,
		&run->build_id, &run->state,  &run->version,
	};

	memcpy(at, all, sizeof(all));
}

int history_take_row(void *arg, const struct store_run *run)
{
	struct history_rows *rows = arg;
	struct history_row row = { .run = *run };
	const char **text[N_TEXTS];
	size_t size = 0;
	char *to;

	texts_of(&row.run, text);
	for (size_t i = 0; i < N_TEXTS; i++)
		size += *text[i] ? strlen(*text[i]) + 1 : 0;
	row.texts = to = malloc(size);
	if (!to || !TR_ARRAY_ROOM(rows->row, rows->n, rows->cap)) {
		free(row.texts);
		return 1;
	}
	for (size_t i = 0; i < N_TEXTS; i++) {
		size_t n = *text[i] ? strlen(*text[i]) + 1 : 0;

		if (!n)
			continue;
		*text[i] = memcpy(to, *text[i], n);
		to += n;
	}
	rows->row[rows->n++] = row;
	return 0;
}

/* ---- series ------------------------------------------------------------ */

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Runs of one series are equal in all of this. */
static int compare_runs(const struct store_run *a, const struct store_run *b)
{
	int order = compare_text(a->program, b->program);

	order = order ? order : compare_text(a->arguments, b->arguments);
	order = order ? order : compare_text(a->project, b->project);
	order = order ? order : compare_text(a->machine, b->machine);
	return order ? order : compare_text(a->source, b->source);
}

static const struct history_row *sorted_rows;

static int by_series(const void *a, const void *b)
{
	const size_t *x = a, *y = b;
	int order = compare_runs(&sorted_rows[*x].run, &sorted_rows[*y].run);

	/* Rows are in the order of time. */
	return order ? order : (*x > *y) - (*x < *y);
}

static int newest_first(const void *a, const void *b)
{
	const struct history_series *x = a, *y = b;
	size_t last_x = x->row[x->n - 1], last_y = y->row[y->n - 1];

	return (last_x < last_y) - (last_x > last_y);
}

static bool take_series(struct history_list *list, const size_t *order,
			size_t n)
{
	struct history_series series = {
		.row = malloc(n * sizeof(*series.row)),
		.value = malloc(n * sizeof(*series.value)),
		.n = n,
	};

	if (!series.row || !series.value)
		goto failed;
	memcpy(series.row, order, n * sizeof(*order));
	for (size_t i = 0; i < n; i++) {
		const struct store_run *run = &list->rows.row[order[i]].run;

		/* What failed may have ended early. */
		series.value[i] = run->exit_status > 0 ? (double)NAN :
							 run->value;
	}
	if (tare_changes_find(series.value, n, NULL, &series.changes,
			      &series.n_changes))
		goto failed;
	list->series[list->n_series++] = series;
	return true;

failed:
	free(series.row);
	free(series.value);
	return false;
}

bool history_group(struct history_list *list)
{
	size_t n = list->rows.n, from = 0;
	size_t *order = malloc((n + 1) * sizeof(*order));
	bool is_good = order != NULL;

	list->series = calloc(n + 1, sizeof(*list->series));
	is_good &= list->series != NULL;
	for (size_t i = 0; i < n && is_good; i++)
		order[i] = i;
	sorted_rows = list->rows.row;
	if (is_good && n)
		qsort(order, n, sizeof(*order), by_series);
	for (size_t i = 1; i <= n && is_good; i++) {
		if (i < n && compare_runs(&sorted_rows[order[i - 1]].run,
					  &sorted_rows[order[i]].run) == 0)
			continue;
		is_good = take_series(list, order + from, i - from);
		from = i;
	}
	if (is_good && list->n_series)
		qsort(list->series, list->n_series, sizeof(*list->series),
		      newest_first);
	free(order);
	return is_good;
}

void history_release(struct history_list *list)
{
	for (size_t i = 0; i < list->n_series; i++) {
		free(list->series[i].row);
		free(list->series[i].value);
		tare_changes_free(list->series[i].changes);
	}
	for (size_t i = 0; i < list->rows.n; i++)
		free(list->rows.row[i].texts);
	free(list->series);
	free(list->rows.row);
}

/* ---- texts ------------------------------------------------------------- */

struct tr_text history_value(const struct history_list *list, double value)
{
	if (isnan(value))
		return (struct tr_text){ "-" };
	if (strcmp(list->unit, "ns") == 0)
		return tr_as_duration(value);
	if (strcmp(list->unit, "B") == 0)
		return tr_as_bytes(value);
	return strcmp(list->unit, "1") == 0 ? tr_as_number(value) :
					      tr_as_value(value, list->unit);
}

struct tr_text history_revision(const struct store_run *run)
{
	struct tr_text text;

	if (!run->revision[0])
		return (struct tr_text){ "-" };
	(void)snprintf(text.text, sizeof(text.text), "%.8s%s", run->revision,
		       run->dirty == 1 ? "*" : "");
	return text;
}
