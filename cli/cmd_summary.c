/* SPDX-License-Identifier: Apache-2.0 */
/* tare summary: rank operations; show success rates and recent records. */
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "group_view.h"
#include "base/text.h"
#include "message.h"
#include "output.h"
#include "read/stats.h"
#include "read/view.h"
#include "selection.h"
#include "summary.h"

#define SORTS "failures total slowest calls"

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
	OPTION_PROCESS,
	OPTION_JSON(&opts.json),
	OPTION_END
};

/* ---- sums and ranking -------------------------------------------------- */

double summary_success(const struct summary *s)
{
	return tr_stats_success(&(tare_stats){ .count = s->calls,
					       .failures = s->failures });
}

size_t summary_values(const struct summary *s)
{
	return s->n_values < SUMMARY_RECENT ? s->n_values : SUMMARY_RECENT;
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

static int by_mean(const void *a, const void *b)
{
	const tare_stats *x = *(const tare_stats *const *)a;
	const tare_stats *y = *(const tare_stats *const *)b;

	/* Rows without a number come last. */
	if ((x->mean != x->mean) != (y->mean != y->mean))
		return x->mean != x->mean ? 1 : -1;
	if (x->mean != y->mean && x->mean == x->mean)
		return x->mean < y->mean ? 1 : -1;
	if (strcmp(x->name, y->name) != 0)
		return strcmp(x->name, y->name);
	return strcmp(x->labels, y->labels);
}

/* The monitor's own series are left out. */
static bool is_value_row(const tare_stats *row)
{
	return (row->kind == TARE_KIND_VALUE ||
		row->kind == TARE_KIND_GAUGE) &&
	       !tare_stats_is_monitor(row);
}

static int add_rows(struct summary *s, const tare_stats *stats, size_t n)
{
	s->rows = calloc(n + 1, sizeof(s->rows[0]));
	s->values = calloc(n + 1, sizeof(s->values[0]));
	if (!s->rows || !s->values)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (is_value_row(&stats[i]))
			s->values[s->n_values++] = &stats[i];
		if (stats[i].kind != TARE_KIND_SCOPE)
			continue;
		s->rows[s->n++] = &stats[i];
		s->calls += stats[i].count;
		s->failures += stats[i].failures;
		s->total_ns += stats[i].net_total;
	}
	qsort(s->rows, s->n, sizeof(s->rows[0]), by_rank);
	qsort(s->values, s->n_values, sizeof(s->values[0]), by_mean);
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
	if (!err)
		err = tare_view_records(s->view, filter, &s->records,
					&s->n_records);
	s->run = tare_view_run(s->view);
	return err;
}

/* ---- records ----------------------------------------------------------- */

bool summary_is_operation(const tare_record *record)
{
	return record->kind == TARE_RECORD_OPERATION;
}

bool summary_is_failure(const tare_record *record)
{
	return summary_is_operation(record) && !record->ok;
}

bool summary_is_value(const tare_record *record)
{
	return record->kind == TARE_RECORD_VALUE ||
	       record->kind == TARE_RECORD_GAUGE ||
	       record->kind == TARE_RECORD_COUNTER ||
	       record->kind == TARE_RECORD_RATIO;
}

const tare_record *summary_next(const struct summary *s,
				bool (*is_wanted)(const tare_record *record),
				const tare_record *record)
{
	const tare_record *end = s->records + s->n_records;
	size_t left = SUMMARY_RECENT;

	if (record) {
		record++;
	} else { /* find the first of them */
		record = end;
		while (record > s->records && left)
			left -= is_wanted(--record);
	}
	while (record < end && !is_wanted(record))
		record++;
	return record < end ? record : NULL;
}

/* ---- JSON -------------------------------------------------------------- */

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
			const char *key,
			bool (*is_wanted)(const tare_record *record))
{
	const tare_record *r = NULL;

	tr_json_array(json, key);
	while ((r = summary_next(s, is_wanted, r)) != NULL) {
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

static void json_values(struct tr_json *json, const struct summary *s)
{
	const tare_record *r = NULL;

	tr_json_array(json, "top_by_average");
	for (size_t i = 0; i < summary_values(s); i++) {
		const tare_stats *v = s->values[i];

		tr_json_object(json, NULL);
		tr_json_str(json, "name", v->name);
		tr_json_str(json, "source", v->source);
		tr_json_str(json, "labels", v->labels);
		tr_json_str(json, "unit", v->unit);
		tr_json_str(json, "type", tare_type_name(v->type));
		tr_json_u64(json, "count", v->count);
		tr_json_double(json, "mean", v->mean);
		tr_json_double(json, "min", v->min);
		tr_json_double(json, "max", v->max);
		tr_json_end_object(json);
	}
	tr_json_end_array(json);
	tr_json_array(json, "recent_values");
	while ((r = summary_next(s, summary_is_value, r)) != NULL) {
		tr_json_object(json, NULL);
		tr_json_str(json, "name", r->name);
		tr_json_str(json, "source", r->source);
		tr_json_str(json, "labels", r->labels);
		tr_json_str(json, "kind", tare_record_kind_name(r->kind));
		tr_json_str(json, "type", tare_type_name(r->type));
		tr_json_i64(json, "start_ns", r->start_ns);
		tr_json_double(json, "value", r->value);
		tr_json_str(json, "unit", r->unit);
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
	tr_json_double(json, "success_rate", summary_success(s));
	tr_json_double(json, "net_total_ns", s->total_ns);
	tr_json_u64(json, "records", s->n_records);
	tr_json_end_object(json);
}

static void json_summary(const struct summary *s)
{
	struct tr_json *json = output_json_begin();

	tr_json_object(json, NULL);
	tr_json_str(json, "run", s->run->id);
	tr_json_str(json, "program", s->run->program);
	tr_json_i64(json, "pid", s->run->pid);
	tr_json_str(json, "state", tr_run_state_name(s->run->state));
	tr_json_i64(json, "start_ns", s->run->start_ns);
	tr_json_i64(json, "end_ns", s->run->end_ns);
	json_totals(json, s);
	tr_json_str(json, "sort", opts.sort);
	tr_json_array(json, "operations");
	for (size_t i = 0; i < s->n_shown; i++)
		json_row(json, s->rows[i], i + 1);
	tr_json_end_array(json);
	json_recent(json, s, "recent", summary_is_operation);
	json_recent(json, s, "recent_failures", summary_is_failure);
	json_values(json, s);
	tr_json_end_object(json);
	output_json(json, stdout);
}

/* ---- command ----------------------------------------------------------- */

static int summary(tare_view *view, const char *which)
{
	struct summary s = { .view = view, .sort = opts.sort };
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
		summary_print(&s);
	code = code ? code : selection_result(s.n + s.n_values);
	free(s.rows);
	free(s.values);
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
