/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a report is made of, and in which order.
 */
#include "render/report.h"

#include <stdlib.h>
#include <string.h>

static double key_total(const tare_stats *s)
{
	return s->total;
}
static double key_own(const tare_stats *s)
{
	return s->own;
}
static double key_calls(const tare_stats *s)
{
	return (double)s->count;
}
static double key_mean(const tare_stats *s)
{
	return s->mean;
}
static double key_max(const tare_stats *s)
{
	return s->max;
}
static double key_p99(const tare_stats *s)
{
	return s->p99;
}
static double key_failures(const tare_stats *s)
{
	return (double)s->failures;
}

static const struct {
	const char *name;
	double (*key)(const tare_stats *s);
} orders[] = {
	{ "total", key_total }, { "own", key_own },
	{ "calls", key_calls }, { "mean", key_mean },
	{ "max", key_max },	{ "p99", key_p99 },
	{ "failures", key_failures }, { "name", NULL },
	{ "samples", key_calls },
};

static int order_of(const char *name)
{
	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		if (strcmp(orders[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* What Python's pstats calls the same; its "time" is the own time. */
static const char *plain_name(const char *sort)
{
	static const char *const others[][2] = {
		{ "cumtime", "total" }, { "cumulative", "total" },
		{ "tottime", "own" },	{ "time", "own" },
		{ "ncalls", "calls" },
	};

	for (size_t i = 0; sort && i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(sort, others[i][0]) == 0)
			return others[i][1];
	return sort;
}

int tr_report_prepare(struct tr_report *report,
		      const tare_report_options *options)
{
	memset(&report->options, 0, sizeof(report->options));
	if (options && TR_TAKE_STRUCT(&report->options, options, filter))
		return TARE_EINVAL;
	if (!tr_filter_take(&report->options.filter, &report->filter))
		return TARE_EINVAL;
	if (!report->options.parts)
		report->options.parts = TARE_REPORT_ALL;
	if (report->options.width < 80)
		report->options.width = report->options.width ? 80 : 100;
	report->options.sort = plain_name(report->options.sort);
	report->asked_sort = report->options.sort;
	if (!report->options.sort)
		report->options.sort = "total";
	return order_of(report->options.sort) < 0 ? TARE_EINVAL : 0;
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
	int order = order_of(report->options.sort);
	struct keyed *keyed = calloc(n + 1, sizeof(*keyed));
	const tare_stats **rows = calloc(n + 1, sizeof(*rows));

	if (!keyed || !rows) {
		free(keyed);
		free(rows);
		return NULL;
	}
	for (size_t i = 0; i < n; i++) {
		keyed[i].row = &stats[i];
		if (orders[order].key)
			keyed[i].key = orders[order].key(&stats[i]);
	}
	qsort(keyed, n, sizeof(*keyed), largest_first);
	for (size_t i = 0; i < n; i++)
		rows[i] = keyed[i].row;
	free(keyed);
	return rows;
}

TARE_API int tare_view_report(tare_view *view,
			      const tare_report_options *options,
			      tare_write_fn write, void *arg)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_report report = { .view = view, .buf = &buf };
	int err;

	if (!view || !write)
		return TARE_EINVAL;
	err = tr_report_prepare(&report, options);
	if (err)
		return err;
	if (report.options.parts & TARE_REPORT_HEAD)
		tr_report_head(&report);
	if (report.options.parts & TARE_REPORT_TRAININGS)
		tr_report_trainings(&report);
	if (report.options.parts & TARE_REPORT_TREE)
		err = tr_report_tree(&report);
	if (!err && report.options.parts & TARE_REPORT_FRAMES)
		err = tr_report_frames(&report);
	if (!err && report.options.parts & TARE_REPORT_PROFILE)
		err = tr_report_profile(&report);
	if (!err && report.options.parts & TARE_REPORT_STAGES)
		err = tr_report_stages(&report);
	if (!err && report.options.parts & TARE_REPORT_ALLOCS)
		err = tr_report_allocs(&report);
	if (!err && report.options.parts & TARE_REPORT_FLAT)
		err = tr_report_flat(&report);
	if (!err && report.options.parts & TARE_REPORT_FLAT)
		err = tr_report_recent(&report);
	if (!err && report.options.parts & TARE_REPORT_HEALTH)
		tr_report_health(&report);
	if (!err && buf.failed)
		err = TARE_ENOMEM;
	if (!err && buf.len && write(arg, buf.data, buf.len))
		err = TARE_EIO;
	tr_buf_release(&buf);
	return err;
}
