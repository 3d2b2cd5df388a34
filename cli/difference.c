/* SPDX-License-Identifier: Apache-2.0 */
#include "difference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tare/read/alloc.h>

#include "table.h"
#include "terminal.h"

#define SERIES_SHOWN 10u
#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- finding ----------------------------------------------------------- */

/* The views of a side that have what a part needs. */
static struct tr_side part_of(const struct tr_side *side, tare_view **room,
			      bool (*has)(tare_view *view), double runs)
{
	struct tr_side part = { .views = room, .runs = runs };

	for (size_t i = 0; i < side->n; i++)
		if (has(side->views[i]))
			room[part.n++] = side->views[i];
	return part;
}

static bool has_cpu(tare_view *view)
{
	const tare_sampling *s = tare_view_sampling(view);

	return s->was_on && !s->is_wall;
}

static bool has_wall(tare_view *view)
{
	const tare_sampling *s = tare_view_sampling(view);

	return s->was_on && s->is_wall;
}

static bool has_allocs(tare_view *view)
{
	return tare_view_heap(view)->was_on;
}

static bool is_group_of(tare_view *a, tare_view *b)
{
	const char *group = tare_view_run(a)->group;

	return group[0] && strcmp(group, tare_view_run(b)->group) == 0;
}

/* Processes of one `tare run` are one run. */
static double count_runs(const struct tr_side *side)
{
	double runs = 0;

	for (size_t i = 0; i < side->n; i++) {
		size_t k = 0;

		while (k < i && !is_group_of(side->views[k], side->views[i]))
			k++;
		runs += k == i;
	}
	return runs;
}

static int explain(const struct tr_side *old, const struct tr_side *now,
		   bool (*has)(tare_view *view), enum tare_frames_from from,
		   struct tr_explanation *ret, bool *ret_has)
{
	tare_view **room = calloc(old->n + now->n + 1, sizeof(*room));
	struct tr_side a, b;
	int err = 0;

	if (!room)
		return TARE_ENOMEM;
	a = part_of(old, room, has, 0);
	b = part_of(now, room + old->n, has, 0);
	a.runs = count_runs(&a);
	b.runs = count_runs(&b);
	*ret_has = a.n && b.n;
	if (*ret_has)
		err = tr_explain(&a, &b, from, ret);
	free(room);
	return err;
}

int difference_find(struct difference *d, const struct tr_side *old,
		    const struct tr_side *now)
{
	int err;

	*d = (struct difference){ .has_functions = false };
	d->runs[0] = count_runs(old);
	d->runs[1] = count_runs(now);
	err = explain(old, now, has_cpu, TARE_FRAMES_SAMPLES, &d->functions,
		      &d->has_functions);
	if (!err)
		err = explain(old, now, has_wall, TARE_FRAMES_SAMPLES,
			      &d->waits, &d->has_waits);
	if (!err)
		err = explain(old, now, has_allocs, TARE_FRAMES_ALLOC,
			      &d->allocs, &d->has_allocs);
	if (!err)
		err = tr_explain_series(&(struct tr_side){ old->views, old->n,
							   d->runs[0] },
					&(struct tr_side){ now->views, now->n,
							   d->runs[1] },
					&d->series);
	return err;
}

void difference_release(struct difference *d)
{
	tr_explanation_release(&d->functions);
	tr_explanation_release(&d->waits);
	tr_explanation_release(&d->allocs);
	tr_series_changes_release(&d->series);
}

bool difference_is_empty(const struct difference *d)
{
	return !d->has_functions && !d->has_waits && !d->has_allocs &&
	       !d->series.n;
}

/* ---- text -------------------------------------------------------------- */

static struct tr_text signed_duration(double ns)
{
	struct tr_text text = { "" };

	(void)snprintf(text.text, sizeof(text.text), "%s%.30s",
		       ns < 0 ? "-" : "+", tr_as_duration(fabs(ns)).text);
	return text;
}

static struct tr_text signed_number(double n)
{
	struct tr_text text = { "" };

	(void)snprintf(text.text, sizeof(text.text), "%s%.30s",
		       n < 0 ? "-" : "+", tr_as_number(fabs(n)).text);
	return text;
}

static void add_where(struct table *table, const struct tr_explained *row)
{
	const char *slash = strrchr(row->file, '/');
	const char *file = slash ? slash + 1 : row->file;

	table_addf(table, "%s%s%s%s%s%s", row->name,
		   row->callee[0] ? ", in " : "", row->callee,
		   file[0] ? " (" : "", file, file[0] ? ")" : "");
}

/* The share of the whole change; shares of a change of 0 say nothing. */
static void add_share(struct table *table, double change,
		      const struct tr_explanation *e)
{
	double all = e->now - e->old;

	if (fabs(all) > 3 * e->error)
		table_addf(table, "%s", tr_as_share(change / all).text);
	else
		table_add(table, "-");
}

static void print_functions(const struct tr_explanation *e, const char *title)
{
	const struct column columns[] = {
		COLUMN_NUMBER("CHANGE", 0), COLUMN_NUMBER("SHARE", 2),
		COLUMN_NUMBER("OLD", 1),    COLUMN_NUMBER("NEW", 1),
		{ title, false, true, 0 },
	};
	struct table table;

	table_init(&table, columns, N_OF(columns));
	for (size_t i = 0; i < e->n; i++) {
		const struct tr_explained *row = &e->row[i];

		table_add_tinted(&table, signed_duration(row->change).text,
				 row->change > 0 ? TINT_RED : TINT_GREEN);
		add_share(&table, row->change, e);
		table_add(&table, tr_as_duration(row->old).text);
		table_add(&table, tr_as_duration(row->now).text);
		add_where(&table, row);
	}
	table_add(&table, signed_duration(e->rest).text);
	add_share(&table, e->rest, e);
	table_add(&table, "");
	table_add(&table, "");
	table_addf(&table, "%zu %sfunctions%s", e->n_rest,
		   e->n ? "other " : "",
		   e->n ? "" : ": none changed by more than the samples can "
			       "tell");
	table_add(&table, signed_duration(e->now - e->old).text);
	table_add(&table, "");
	table_add(&table, tr_as_duration(e->old).text);
	table_add(&table, tr_as_duration(e->now).text);
	table_addf(&table, "all, +-%s", tr_as_duration(2 * e->error).text);
	table_end(&table, stdout);
}

static void print_allocs(const struct tr_explanation *e)
{
	static const struct column columns[] = {
		COLUMN_NUMBER("CHANGE", 0), COLUMN_NUMBER("OLD", 0),
		COLUMN_NUMBER("NEW", 0),    COLUMN_NUMBER("BYTES", 1),
		COLUMN_WIDE("ALLOCATIONS A RUN"),
	};
	struct table table;

	if (!e->n)
		return;
	(void)putchar('\n');
	table_init(&table, columns, N_OF(columns));
	for (size_t i = 0; i < e->n && i < 10; i++) {
		const struct tr_explained *row = &e->row[i];
		double bytes = row->now - row->old;

		table_add(&table, signed_number(row->change).text);
		table_add(&table, tr_as_number(row->old_n).text);
		table_add(&table, tr_as_number(row->now_n).text);
		table_addf(&table, "%s%s", bytes < 0 ? "-" : "+",
			   tr_as_bytes(fabs(bytes)).text);
		table_add(&table, row->name);
	}
	table_end(&table, stdout);
}

static void print_series(const struct tr_series_changes *changes)
{
	static const struct column columns[] = {
		COLUMN_WIDE("SERIES"),	      COLUMN_NUMBER("OLD COUNT", 0),
		COLUMN_NUMBER("NEW COUNT", 0), COLUMN_NUMBER("OLD TIME", 1),
		COLUMN_NUMBER("NEW TIME", 1),
	};
	struct table table;

	if (!changes->n)
		return;
	(void)putchar('\n');
	table_init(&table, columns, N_OF(columns));
	for (size_t i = 0; i < changes->n && i < SERIES_SHOWN; i++) {
		const struct tr_series_change *row = &changes->row[i];
		bool is_scope = row->kind == TARE_KIND_SCOPE;

		table_add_name(&table, row->name, row->labels);
		table_add(&table, tr_as_number(row->old_count).text);
		table_add(&table, tr_as_number(row->now_count).text);
		table_add(&table, is_scope ? tr_as_duration(row->old_ns).text :
					     "-");
		table_add(&table, is_scope ? tr_as_duration(row->now_ns).text :
					     "-");
	}
	table_end(&table, stdout);
	if (changes->n > SERIES_SHOWN)
		(void)printf("and %zu more series\n",
			     changes->n - SERIES_SHOWN);
}

void difference_print(const struct difference *d)
{
	if (d->has_functions) {
		(void)putchar('\n');
		print_functions(&d->functions, "CPU TIME A RUN, BY SAMPLES");
	}
	if (d->has_waits) {
		(void)putchar('\n');
		print_functions(&d->waits,
				"TIME OF ALL THREADS A RUN, BY SAMPLES");
	}
	if (d->has_allocs)
		print_allocs(&d->allocs);
	print_series(&d->series);
}

/* ---- JSON -------------------------------------------------------------- */

static void json_explanation(const struct tr_explanation *e,
			     struct tr_json *json, const char *key)
{
	tr_json_object(json, key);
	tr_json_double(json, "old", e->old);
	tr_json_double(json, "new", e->now);
	tr_json_double(json, "error", e->error);
	tr_json_double(json, "rest", e->rest);
	tr_json_u64(json, "not_listed", e->n_rest);
	tr_json_array(json, "rows");
	for (size_t i = 0; i < e->n; i++) {
		const struct tr_explained *row = &e->row[i];

		tr_json_object(json, NULL);
		tr_json_str(json, "name", row->name);
		tr_json_str(json, "file", row->file);
		tr_json_str(json, "in", row->callee);
		tr_json_double(json, "old", row->old);
		tr_json_double(json, "new", row->now);
		tr_json_double(json, "old_count", row->old_n);
		tr_json_double(json, "new_count", row->now_n);
		tr_json_double(json, "change", row->change);
		tr_json_double(json, "error", row->error);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
	tr_json_end_object(json);
}

void difference_json(const struct difference *d, struct tr_json *json)
{
	tr_json_object(json, "difference");
	tr_json_double(json, "old_runs", d->runs[0]);
	tr_json_double(json, "new_runs", d->runs[1]);
	if (d->has_functions)
		json_explanation(&d->functions, json, "cpu_ns");
	if (d->has_waits)
		json_explanation(&d->waits, json, "thread_ns");
	if (d->has_allocs)
		json_explanation(&d->allocs, json, "allocations");
	tr_json_array(json, "series");
	for (size_t i = 0; i < d->series.n; i++) {
		const struct tr_series_change *row = &d->series.row[i];

		tr_json_object(json, NULL);
		tr_json_str(json, "name", row->name);
		tr_json_str(json, "labels", row->labels);
		tr_json_double(json, "old_count", row->old_count);
		tr_json_double(json, "new_count", row->now_count);
		tr_json_double(json, "old_ns", row->old_ns);
		tr_json_double(json, "new_ns", row->now_ns);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
	tr_json_end_object(json);
}

/* ---- Markdown ---------------------------------------------------------- */

/* In a cell: no bar ends it, no line breaks it, no backquote the code. */
void markdown_code(FILE *stream, const char *text)
{
	(void)fputc('`', stream);
	for (; *text; text++) {
		if (*text == '|')
			(void)fputc('\\', stream);
		(void)fputc((unsigned char)*text < ' ' ? ' ' :
			    *text == '`'	       ? '\'' :
							 *text, stream);
	}
	(void)fputc('`', stream);
}

static void md_functions(const struct tr_explanation *e, const char *title,
			 FILE *stream)
{
	(void)fprintf(stream, "\n| change | old | new | %s |\n"
		      "|--:|--:|--:|---|\n", title);
	for (size_t i = 0; i < e->n; i++) {
		const struct tr_explained *row = &e->row[i];

		(void)fprintf(stream, "| %s | %s | %s | ",
			      signed_duration(row->change).text,
			      tr_as_duration(row->old).text,
			      tr_as_duration(row->now).text);
		markdown_code(stream, row->name);
		if (row->callee[0]) {
			(void)fputs(", in ", stream);
			markdown_code(stream, row->callee);
		}
		(void)fputs(" |\n", stream);
	}
	(void)fprintf(stream, "| %s | | | %zu other functions |\n"
		      "| **%s** | %s | %s | all, ±%s |\n",
		      signed_duration(e->rest).text, e->n_rest,
		      signed_duration(e->now - e->old).text,
		      tr_as_duration(e->old).text,
		      tr_as_duration(e->now).text,
		      tr_as_duration(2 * e->error).text);
}

static void md_allocs(const struct tr_explanation *e, FILE *stream)
{
	if (!e->n)
		return;
	(void)fputs("\n| change | old | new | allocations a run |\n"
		    "|--:|--:|--:|---|\n", stream);
	for (size_t i = 0; i < e->n && i < 10; i++) {
		(void)fprintf(stream, "| %s | %s | %s | ",
			      signed_number(e->row[i].change).text,
			      tr_as_number(e->row[i].old_n).text,
			      tr_as_number(e->row[i].now_n).text);
		markdown_code(stream, e->row[i].name);
		(void)fputs(" |\n", stream);
	}
}

void difference_markdown(const struct difference *d, FILE *stream)
{
	if (d->has_functions)
		md_functions(&d->functions, "CPU time a run, by samples",
			     stream);
	if (d->has_waits)
		md_functions(&d->waits, "time of all threads a run", stream);
	if (d->has_allocs)
		md_allocs(&d->allocs, stream);
}
