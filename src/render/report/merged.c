/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the probes of several processes measured, added up: a row for each name
 * with the number of processes that have it. A worker does the same work as
 * the next one, so a table of one process says little about the run.
 *
 * Quantiles are left out: --process and JSON have them.
 */
#include "render/report.h"

#include <stdlib.h>
#include <string.h>

#include "read/stats.h"
#include "render/tables.h"

#define ROWS_SHOWN 10u /* of each table, in the answer */
#define FIXED 56u      /* columns right of the name */

enum table { SCOPES, VALUES, COUNTERS, N_TABLES, NO_TABLE = N_TABLES };

static const uint32_t part_of[N_TABLES] = {
	TARE_REPORT_SCOPES, TARE_REPORT_VALUES, TARE_REPORT_COUNTERS
};

static enum table table_of(const tare_stats *s)
{
	if (tare_stats_is_monitor(s))
		return NO_TABLE;
	if (s->kind == TARE_KIND_SCOPE)
		return SCOPES;
	return s->kind == TARE_KIND_COUNTER || s->kind == TARE_KIND_RATIO ?
		       COUNTERS :
		       VALUES;
}

/* These are in the tables of spark.c. */
static bool is_of_spark(const tare_stats *s)
{
	return strncmp(s->source, "spark.", 6) == 0;
}

static void head(struct tr_report *r, enum table table, size_t width)
{
	static const char *const heading[] = { "scopes of all processes",
					       "values of all processes",
					       "counters of all processes" };
	static const struct tr_report_title titles[][7] = {
		{ { "processes", 9 }, { "count", 11 }, { "total", 9 },
		  { "mean", 9 }, { "failed", 9 }, { NULL, 0 } },
		{ { "processes", 9 }, { "count", 11 }, { "mean", 9 },
		  { "min", 9 }, { "max", 9 }, { NULL, 0 } },
		{ { "processes", 9 }, { "total", 11 }, { NULL, 0 } },
	};

	tr_report_heading(r, heading[table], "");
	tr_report_titles(r, "name", width, titles[table]);
}

static void cell(struct tr_report *r, double value, const char *unit)
{
	tr_report_cell(r, strcmp(unit, "B") ? tr_as_number(value).text :
					      tr_as_bytes(value).text, 9);
}

static void scope(struct tr_report *r, const tare_stats *s)
{
	bool raw = r->options.raw;

	tr_report_count(r, s->count, 11);
	tr_report_time(r, raw ? s->total : s->net_total, 9);
	tr_report_time(r, raw ? s->mean : s->net_mean, 9);
	tr_report_count(r, s->failures, 9);
	if (s->is_estimate)
		tr_buf_adds(r->buf, " *");
	else if (s->below_resolution)
		tr_buf_adds(r->buf, " ~");
}

static void value(struct tr_report *r, const tare_stats *s)
{
	tr_report_count(r, s->count, 11);
	cell(r, s->mean, s->unit);
	cell(r, s->min, s->unit);
	cell(r, s->max, s->unit);
}

static void counter(struct tr_report *r, const tare_stats *s)
{
	if (s->kind == TARE_KIND_RATIO) {
		tr_report_count(r, (uint64_t)s->total, 11);
		tr_buf_adds(r->buf, " of");
		tr_report_count(r, s->count, 0);
		tr_buf_adds(r->buf, " =");
		tr_report_share(r, s->last);
	} else if (s->total != (double)s->count) { /* of doubles */
		tr_report_cell(r, tr_as_number(s->total).text, 11);
	} else {
		tr_report_count(r, s->count, 11);
	}
}

static void row(struct tr_report *r, const tare_stats *s, uint64_t processes,
		size_t width)
{
	static void (*const cells[])(struct tr_report *, const tare_stats *) = {
		scope, value, counter
	};

	tr_report_name(r, s->name, width);
	tr_report_count(r, processes, 9);
	cells[table_of(s)](r, s);
	if (table_of(s) != SCOPES && s->kind != TARE_KIND_RATIO &&
	    s->unit[0] && strcmp(s->unit, "B")) {
		tr_buf_addc(r->buf, ' ');
		tr_report_text(r, s->unit, 16);
	}
	if (s->labels[0]) {
		tr_buf_adds(r->buf, "  {");
		tr_report_text(r, s->labels, 60);
		tr_buf_addc(r->buf, '}');
	}
	if (s->source[0]) {
		tr_buf_adds(r->buf, "  [");
		tr_report_text(r, s->source, 32);
		tr_buf_addc(r->buf, ']');
	}
	tr_buf_addc(r->buf, '\n');
}

/* Returns the number of rows that there are. */
static size_t table(struct tr_report *r, const tare_merge *merge,
		    const tare_stats **rows, enum table table)
{
	size_t width = tr_report_rest(r, FIXED, 17), n = 0, all, most;
	const tare_stats *first = tare_merge_stats(merge, &all);

	most = r->options.top || !r->is_answer ? r->options.top : ROWS_SHOWN;
	for (size_t i = 0; i < all; i++) {
		if (table_of(rows[i]) != table ||
		    (r->is_answer && is_of_spark(rows[i])))
			continue;
		if (!n)
			head(r, table, width);
		if (!most || n < most)
			row(r, rows[i],
			    tr_merge_processes(merge,
					       (size_t)(rows[i] - first)),
			    width);
		n++;
	}
	if (most && n > most)
		tr_buf_addf(r->buf, "... and %zu more (%s)\n", n - most,
			    r->is_answer ? "tare report all" :
					   "--top 0 shows all");
	return n;
}

int tr_report_merged(struct tr_report *r, const tare_merge *merge)
{
	size_t n, shown = 0;
	const tare_stats *stats = tare_merge_stats(merge, &n);
	const tare_stats **rows = tr_report_sorted(r, stats, n);

	if (!rows)
		return TARE_ENOMEM;
	for (unsigned i = 0; i < N_TABLES; i++)
		if (r->is_answer || r->options.parts & part_of[i])
			shown += table(r, merge, rows, (enum table)i);
	if (!shown && !r->is_answer &&
	    !(r->options.parts & TARE_REPORT_PROFILE))
		tr_buf_adds(r->buf, "\nno probe of these processes measured "
				    "any of it\n");
	free(rows);
	return 0;
}

static void merge_sentence(struct tr_report *r, const tare_merge *merge)
{
	uint64_t unreadable, runs = tare_merge_runs(merge, &unreadable);
	size_t n;

	(void)tare_merge_stats(merge, &n);
	tr_buf_addf(r->buf, "tare  %s run%s, %s series",
		    tr_as_count(runs).text, runs == 1 ? "" : "s",
		    tr_as_count(n).text);
	if (unreadable)
		tr_buf_addf(r->buf, "; %s left out: unreadable",
			    tr_as_count(unreadable).text);
	tr_buf_addc(r->buf, '\n');
}

int tr_report_merge(const tare_merge *merge, const tare_report_options *options,
		    tare_write_fn write, void *arg)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_report r = { .buf = &buf };
	int err = tr_report_prepare(&r, options, false);

	if (err)
		return err;
	merge_sentence(&r, merge);
	err = tr_report_merged(&r, merge);
	if (!err && buf.failed)
		err = TARE_ENOMEM;
	if (!err && write(arg, buf.data, buf.len))
		err = TARE_EIO;
	tr_buf_release(&buf);
	return err;
}

void tr_json_merged(struct tr_json *j, const tare_merge *merge)
{
	size_t n;
	const tare_stats *stats = tare_merge_stats(merge, &n);

	tr_json_array(j, "all_series");
	for (size_t i = 0; i < n; i++) {
		if (table_of(&stats[i]) == NO_TABLE)
			continue;
		tr_json_object(j, NULL);
		tr_json_u64(j, "processes", tr_merge_processes(merge, i));
		tr_json_fields(j, TR_ALL(tr_series_fields), &stats[i]);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
}
