/* SPDX-License-Identifier: Apache-2.0 */
/* tare summary: rank operations; show success rates and recent records. */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "base/text.h"
#include "message.h"
#include "output.h"
#include "read/stats.h"
#include "selection.h"
#include "summary_values.h"
#include "table.h"

#define SORTS "failures total slowest calls"
#define RECENT 5u

static struct {
	const char *sort;
	uint64_t top;
	bool json;
} opts = { .sort = "total", .top = 10 };

static const struct option_spec options[] = {
	OPTION_WORD('s', "sort", &opts.sort, "KEY", SORTS, "rank by " SORTS),
	OPTION_COUNT('n', "top", &opts.top, "N",
		     "show the first N (default: 10; 0: all)"),
	SELECTION_OPTIONS,
	OPTION_JSON(&opts.json),
	OPTION_END
};

/* What is shown of a run. Rows are of scopes alone. */
struct summary {
	tare_view *view;
	const tare_run *run;
	const tare_stats **rows;
	size_t n, n_shown;
	uint64_t calls, failures;
	double total_ns;
	const tare_record *records; /* oldest first */
	size_t n_records;
	double inside_ns;
	struct summary_values values;
};

/* ---- adding up and ranking --------------------------------------------- */

static double success_of(const struct summary *s)
{
	return tr_stats_success(&(tare_stats){ .count = s->calls,
					       .failures = s->failures });
}

static double rank_key(const tare_stats *s)
{
	if (strcmp(opts.sort, "failures") == 0)
		return (double)s->failures;
	if (strcmp(opts.sort, "calls") == 0)
		return (double)s->count;
	return s->net_total;
}

static int by_rank(const void *a, const void *b)
{
	const tare_stats *x = *(const tare_stats *const *)a;
	const tare_stats *y = *(const tare_stats *const *)b;
	double p, q;

	if (strcmp(opts.sort, "slowest") == 0)
		return tr_stats_order_slowest(x, y);
	p = rank_key(x);
	q = rank_key(y);
	if (p != q)
		return p < q ? 1 : -1;
	if (strcmp(x->name, y->name) != 0)
		return strcmp(x->name, y->name);
	return strcmp(x->labels, y->labels);
}

static int add_rows(struct summary *s, const tare_stats *stats, size_t n)
{
	s->rows = calloc(n + 1, sizeof(s->rows[0]));
	if (!s->rows)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (stats[i].kind != TARE_KIND_SCOPE)
			continue;
		s->rows[s->n++] = &stats[i];
		s->calls += stats[i].count;
		s->failures += stats[i].failures;
		s->total_ns += stats[i].net_total;
	}
	qsort(s->rows, s->n, sizeof(s->rows[0]), by_rank);
	s->n_shown = opts.top && opts.top < s->n ? (size_t)opts.top : s->n;
	return 0;
}

static int gather(struct summary *s, const tare_filter *filter)
{
	const tare_stats *stats;
	size_t n;
	int err = tare_view_stats(s->view, filter, &stats, &n);

	if (!err)
		err = add_rows(s, stats, n);
	if (!err && !summary_values_take(&s->values, stats, n))
		err = TARE_ENOMEM;
	if (!err)
		err = tare_view_records(s->view, filter, &s->records,
					&s->n_records);
	s->values.records = s->records;
	s->values.n_records = s->n_records;
	s->run = tare_view_run(s->view);
	s->inside_ns = s->run->inside_ns;
	return err;
}

/* ---- for people -------------------------------------------------------- */

static void add_row(struct table *table, const struct summary *summary,
		    const tare_stats *s)
{
	double inside_ns = summary->inside_ns;
	const double one[] = { s->p50, s->p95, s->max };

	table_add_name(table, s->name, s->labels);
	table_add(table, tr_as_count(s->count).text);
	table_add_tinted(table, tr_as_count(s->failures).text,
			 s->failures ? TINT_RED : TINT_NONE);
	table_add(table, tr_as_success(s->success_rate).text);
	table_add(table, tr_as_duration(s->net_total).text);
	table_add(table, tr_as_duration(s->net_mean).text);
	for (int i = 0; i < 3; i++)
		table_add(table, tr_as_duration(tr_stats_net(s, one[i],
							     inside_ns)).text);
}

/* Says what ranks the rows, and that the measuring is not in the times. */
static void print_order(void)
{
	const char *by = strcmp(opts.sort, "slowest") == 0 ? "mean time" :
			 strcmp(opts.sort, "total") == 0   ? "total time" :
							     opts.sort;

	(void)printf("\noperations by %s; times net of measuring\n", by);
}

static void print_rows(const struct summary *s)
{
	static const struct column columns[] = {
		COLUMN_WIDE("OPERATION"),  COLUMN_NUMBER("CALLS", 0),
		COLUMN_NUMBER("FAILED", 0), COLUMN_NUMBER("SUCCESS", 0),
		COLUMN_NUMBER("TOTAL", 0), COLUMN_NUMBER("MEAN", 0),
		COLUMN_NUMBER("P50", 2),   COLUMN_NUMBER("P95", 1),
		COLUMN_NUMBER("MAX", 3),
	};
	struct table table;

	table_init(&table, columns, 9);
	for (size_t i = 0; i < s->n_shown; i++)
		add_row(&table, s, s->rows[i]);
	table_end(&table, stdout);
	if (s->n_shown < s->n)
		(void)printf("... and %s more (--top 0 shows all)\n",
			     tr_as_count(s->n - s->n_shown).text);
}

static void print_head(const struct summary *s)
{
	const tare_window *window = tare_view_window(s->view);

	(void)fputs("tare  ", stdout);
	terminal_safe(stdout, s->run->program);
	(void)printf("  pid %lld, %s, from %s to %s, %s\n",
		     (long long)s->run->pid, tr_run_state_name(s->run->state),
		     tr_as_date(window->from_ns).text,
		     tr_as_date(window->to_ns).text,
		     tr_as_duration((double)window->to_ns -
				     (double)window->from_ns).text);
	(void)printf("      %s operations, %s calls",
		     tr_as_count(s->n).text, tr_as_count(s->calls).text);
	(void)printf(", %s failed, %s succeeded\n",
		     tr_as_count(s->failures).text,
		     tr_as_success(success_of(s)).text);
	if (s->values.n)
		(void)printf("      %s values and gauges, %s records in the "
			     "history\n",
			     tr_as_count(s->values.n).text,
			     tr_as_count(s->n_records).text);
}

static bool is_recent(const tare_record *r, bool failed)
{
	return r->kind == TARE_RECORD_OPERATION && (!failed || !r->ok);
}

/* The first record to show, so that up to RECENT of them follow. */
static size_t first_recent(const struct summary *s, bool failed)
{
	size_t i = s->n_records, left = RECENT;

	while (i > 0 && left > 0)
		left -= is_recent(&s->records[--i], failed);
	return i;
}

static void print_recent(const struct summary *s, bool failed)
{
	static const struct column columns[] = {
		COLUMN_TEXT("STARTED", 0),    COLUMN_TEXT("OPERATION", 0),
		COLUMN_NUMBER("DURATION", 0), COLUMN_WIDE("OUTCOME"),
	};
	struct table table;

	table_init(&table, columns, 4);
	for (size_t i = first_recent(s, failed); i < s->n_records; i++) {
		const tare_record *r = &s->records[i];

		if (!is_recent(r, failed))
			continue;
		table_add(&table, tr_as_clock(r->start_ns).text);
		table_add(&table, r->name);
		table_add(&table, tr_as_duration((double)r->duration_ns).text);
		table_add_tinted(&table, r->ok ? "ok" :
				 r->error[0] ? r->error : "failed",
				 r->ok ? TINT_NONE : TINT_RED);
	}
	if (table.n_cells) {
		(void)puts(failed ? "\nlast failures" : "\nlast operations");
		table_end(&table, stdout);
	}
}

static void print_summary(const struct summary *s)
{
	print_head(s);
	if (!s->n && !s->values.n) {
		message("no operation was measured");
		return;
	}
	if (s->n) {
		print_order();
		print_rows(s);
		print_recent(s, false);
		print_recent(s, true);
	}
	summary_values_print(&s->values);
}

/* ---- for programs ------------------------------------------------------ */

static void json_row(struct tr_json *json, const tare_stats *s, size_t rank)
{
	tr_json_object(json, NULL);
	tr_json_u64(json, "rank", rank);
	tr_json_str(json, "name", s->name);
	tr_json_str(json, "source", s->source);
	tr_json_str(json, "labels", s->labels);
	tr_json_u64(json, "count", s->count);
	tr_json_u64(json, "success_count",
		    s->failures < s->count ? s->count - s->failures : 0);
	tr_json_u64(json, "failure_count", s->failures);
	tr_json_double(json, "success_rate", s->success_rate);
	tr_json_double(json, "total_ns", s->total);
	tr_json_double(json, "net_total_ns", s->net_total);
	tr_json_double(json, "mean_ns", s->mean);
	tr_json_double(json, "net_mean_ns", s->net_mean);
	tr_json_double(json, "min_ns", s->min);
	tr_json_double(json, "max_ns", s->max);
	tr_json_double(json, "p50_ns", s->p50);
	tr_json_double(json, "p95_ns", s->p95);
	tr_json_double(json, "p99_ns", s->p99);
	tr_json_u64(json, "items", s->items);
	tr_json_end_object(json);
}

static void json_recent(struct tr_json *json, const struct summary *s,
			const char *key, bool failed)
{
	tr_json_array(json, key);
	for (size_t i = first_recent(s, failed); i < s->n_records; i++) {
		const tare_record *r = &s->records[i];

		if (!is_recent(r, failed))
			continue;
		tr_json_object(json, NULL);
		tr_json_str(json, "name", r->name);
		tr_json_str(json, "source", r->source);
		tr_json_i64(json, "start_ns", r->start_ns);
		tr_json_u64(json, "duration_ns", r->duration_ns);
		tr_json_bool(json, "ok", r->ok);
		tr_json_str(json, "error", r->error[0] ? r->error : NULL);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
}

static void json_totals(struct tr_json *json, const struct summary *s)
{
	const tare_window *window = tare_view_window(s->view);

	tr_json_object(json, "window");
	tr_json_i64(json, "from_ns", window->from_ns);
	tr_json_i64(json, "to_ns", window->to_ns);
	tr_json_end_object(json);
	tr_json_object(json, "totals");
	tr_json_u64(json, "operations", s->n);
	tr_json_u64(json, "count", s->calls);
	tr_json_u64(json, "success_count",
		    s->failures < s->calls ? s->calls - s->failures : 0);
	tr_json_u64(json, "failure_count", s->failures);
	tr_json_double(json, "success_rate", success_of(s));
	tr_json_double(json, "net_total_ns", s->total_ns);
	tr_json_u64(json, "records", s->n_records);
	tr_json_end_object(json);
}

static void json_summary(const struct summary *s)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_json json = { .buf = &buf };

	tr_json_object(&json, NULL);
	tr_json_str(&json, "run", s->run->id);
	tr_json_str(&json, "program", s->run->program);
	tr_json_i64(&json, "pid", s->run->pid);
	tr_json_str(&json, "state", tr_run_state_name(s->run->state));
	tr_json_i64(&json, "start_ns", s->run->start_ns);
	tr_json_i64(&json, "end_ns", s->run->end_ns);
	json_totals(&json, s);
	tr_json_str(&json, "sort", opts.sort);
	tr_json_array(&json, "operations");
	for (size_t i = 0; i < s->n_shown; i++)
		json_row(&json, s->rows[i], i + 1);
	tr_json_end_array(&json);
	json_recent(&json, s, "recent", false);
	json_recent(&json, s, "recent_failures", true);
	summary_values_json(&s->values, &json);
	tr_json_end_object(&json);
	output_json(&json, stdout);
}

/* ---- command ----------------------------------------------------------- */

static int summary(tare_view *view, const char *which)
{
	struct summary s = { .view = view };
	tare_filter filter;
	int code = selection_apply(tare_view_run(view), &filter), err;

	if (code)
		return code;
	err = gather(&s, &filter);
	if (err)
		code = message_error("summarise", which, err);
	else if (opts.json)
		json_summary(&s);
	else
		print_summary(&s);
	free(s.rows);
	summary_values_release(&s.values);
	return code;
}

const struct command cmd_summary = {
	.name = "summary",
	.usage = "[RUN] [options]",
	.summary = "rank operations; show success rates and recent records",
	.examples =
		"  tare summary                      most total time first\n"
		"  tare summary --sort failures      most failures first\n"
		"  tare summary --sort slowest -n 3  highest net mean\n"
		"  tare summary 12345 --last 5m      the last five minutes of "
		"a live run\n",
	.notes = NOTE_RUN,
	.options = options,
	.max_operands = 1,
	.show = summary,
};
