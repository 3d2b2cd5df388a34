/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a report, and their order.
 */
#include "render/report.h"

#include <stdlib.h>
#include <string.h>

#include "read/profile.h"
#include "render/tables.h"

#define ORDER(key, field) TR_FIELD(tare_stats, key, field)

static const struct tr_field orders[] = {
	ORDER("total", total), ORDER("own", own),   ORDER("calls", count),
	ORDER("mean", mean),   ORDER("max", max),   ORDER("p99", p99),
	ORDER("failures", failures), ORDER("name", name),
	ORDER("samples", count),
};

/* NULL: no such order. */
static const struct tr_field *order_of(const char *name)
{
	for (size_t i = 0; i < TR_N_OF(orders); i++)
		if (strcmp(orders[i].key, name) == 0)
			return &orders[i];
	return NULL;
}

/* Names of Python's pstats for the same orders; its "time" is own time. */
static const char *plain_name(const char *sort)
{
	static const char *const others[][2] = {
		{ "cumtime", "total" }, { "cumulative", "total" },
		{ "tottime", "own" },	{ "time", "own" },
		{ "ncalls", "calls" },
	};

	for (size_t i = 0; sort && i < TR_N_OF(others); i++)
		if (strcmp(sort, others[i][0]) == 0)
			return others[i][1];
	return sort;
}

#define FLAT_TABLES \
	(TARE_REPORT_SCOPES | TARE_REPORT_VALUES | TARE_REPORT_COUNTERS | \
	 TARE_REPORT_MONITOR | TARE_REPORT_RECORDS)

int tr_report_prepare(struct tr_report *report,
		      const tare_report_options *options, bool is_json)
{
	memset(&report->options, 0, sizeof(report->options));
	if (options && TR_TAKE_STRUCT(&report->options, options, filter))
		return TARE_EINVAL;
	if (!tr_filter_take(&report->options.filter, &report->filter))
		return TARE_EINVAL;
	if (!report->options.parts)
		report->options.parts = is_json ? TARE_REPORT_ALL :
						  TARE_REPORT_ANSWER;
	if (report->options.parts & TARE_REPORT_FLAT)
		report->options.parts |= FLAT_TABLES;
	report->is_answer = report->options.parts & TARE_REPORT_ANSWER;
	if (report->options.width < 80)
		report->options.width = report->options.width ? 80 : 100;
	report->options.sort = plain_name(report->options.sort);
	report->asked_sort = report->options.sort;
	if (!report->options.sort)
		report->options.sort = "total";
	return order_of(report->options.sort) ? 0 : TARE_EINVAL;
}

void tr_report_order_note(struct tr_report *report, const char *const *known,
			  const char *what)
{
	const char *asked = report->asked_sort;

	for (size_t i = 0; asked && known[i]; i++)
		if (strcmp(known[i], asked) == 0)
			return;
	if (asked)
		tr_buf_addf(report->buf, "by %s time: %s have no order by "
			    "%s\n", known[0], what, asked);
}

struct keyed {
	const tare_stats *row;
	double key;
};

static int largest_first(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;
	bool x_none = x->key != x->key, y_none = y->key != y->key;

	if (x_none != y_none)
		return x_none ? 1 : -1;
	if (!x_none && x->key != y->key)
		return x->key < y->key ? 1 : -1;
	if (strcmp(x->row->name, y->row->name) != 0)
		return strcmp(x->row->name, y->row->name);
	return strcmp(x->row->labels, y->row->labels);
}

const tare_stats **tr_report_sorted(const struct tr_report *report,
				    const tare_stats *stats, size_t n)
{
	const struct tr_field *order = order_of(report->options.sort);
	struct keyed *keyed = calloc(n + 1, sizeof(*keyed));
	const tare_stats **rows = calloc(n + 1, sizeof(*rows));

	if (!keyed || !rows) {
		free(keyed);
		free(rows);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		keyed[i].row = &stats[i];
		if (order->kind != TR_FIELD_STR)
			keyed[i].key = tr_field_number(order, &stats[i]);
	}
	qsort(keyed, n, sizeof(*keyed), largest_first);
	for (size_t i = 0; i < n; i++)
		rows[i] = keyed[i].row;
	free(keyed);
	return rows;
}

/* ---- all parts --------------------------------------------------------- */

static int json_head(struct tr_json *json, struct tr_report *report)
{
	tr_json_run(json, tare_view_run(report->view));
	return tr_views_n(report->view) > 1 ?
		       tr_json_joined(json, report->view) :
		       0;
}

/* JSON is for programs: it has no short form. */
static int json_answer(struct tr_json *json, struct tr_report *report)
{
	(void)json;
	(void)report;
	return 0;
}

static int json_health(struct tr_json *json, struct tr_report *report)
{
	tr_json_health(json, tare_view_health(report->view));
	return 0;
}

static const struct {
	uint32_t part;
	int (*text)(struct tr_report *report);
	int (*json)(struct tr_json *json, struct tr_report *report);
} parts[] = {
	{ TARE_REPORT_ANSWER, tr_report_answer, json_answer },
	{ TARE_REPORT_HEAD, tr_report_head, json_head },
	{ TARE_REPORT_TRAININGS, tr_report_trainings, tr_json_trainings },
	{ TARE_REPORT_GPU, tr_report_gpu, tr_json_gpu },
	{ TARE_REPORT_STAGES, tr_report_spark, tr_json_spark },
	{ TARE_REPORT_TREE, tr_report_tree, tr_json_tree },
	{ TARE_REPORT_FRAMES, tr_report_frames, tr_json_frames },
	{ TARE_REPORT_PROFILE, tr_report_profile, tr_json_profile },
	{ TARE_REPORT_STAGES, tr_report_stages, tr_json_stages },
	{ TARE_REPORT_ALLOCS, tr_report_allocs, tr_json_allocs },
	{ FLAT_TABLES & ~TARE_REPORT_RECORDS, tr_report_flat, tr_json_flat },
	{ TARE_REPORT_RECORDS, tr_report_recent, tr_json_recent },
	{ TARE_REPORT_HEALTH, tr_report_health, json_health },
};

static void use_window(struct tr_report *report)
{
	const tare_filter *filter = report->options.filter;

	if (filter)
		tr_profile_window(report->view, filter->from_ns,
				  filter->to_ns);
}

static int put_parts(struct tr_report *report, struct tr_json *json)
{
	int err = 0;

	for (size_t i = 0; i < TR_N_OF(parts) && !err; i++) {
		if (!(report->options.parts & parts[i].part))
			continue;
		/* Only these: the cost of measuring is that of the run. */
		if (parts[i].part & (TARE_REPORT_PROFILE | TARE_REPORT_FRAMES))
			use_window(report);
		err = json ? parts[i].json(json, report) :
			     parts[i].text(report);
		tr_profile_window(report->view, 0, 0);
	}
	return err;
}

static int write_report(tare_view *view, const tare_report_options *options,
			const struct tr_ending *ending, bool is_json,
			tare_write_fn write, void *arg)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_report report = { .view = view, .buf = &buf,
				    .ending = ending };
	struct tr_json json;
	int err;

	if (!view || !write)
		return TARE_EINVAL;
	err = tr_report_prepare(&report, options, is_json);
	if (err)
		return err;
	tr_json_begin(&json, &buf);
	if (is_json)
		tr_json_object(&json, NULL);
	err = put_parts(&report, is_json ? &json : NULL);
	if (is_json) {
		tr_json_end_object(&json);
		tr_buf_addc(&buf, '\n');
	}
	if (!err && buf.failed)
		err = TARE_ENOMEM;
	if (!err && buf.len && write(arg, buf.data, buf.len))
		err = TARE_EIO;
	tr_buf_release(&buf);
	return err;
}

TARE_API int tare_view_report(tare_view *view,
			      const tare_report_options *options,
			      tare_write_fn write, void *arg)
{
	return write_report(view, options, NULL, false, write, arg);
}

TARE_API int tare_view_json(tare_view *view,
			    const tare_report_options *options,
			    tare_write_fn write, void *arg)
{
	return write_report(view, options, NULL, true, write, arg);
}

int tr_report_ended(tare_view *view, const tare_report_options *options,
		    const struct tr_ending *ending, tare_write_fn write,
		    void *arg)
{
	return write_report(view, options, ending, false, write, arg);
}
