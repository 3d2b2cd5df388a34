/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for programs: the same content as one JSON document. Raw and
 * net values side by side; durations in nanoseconds. docs/formats/report.md
 * lists the names.
 */
#include "render/report.h"

#include <stdlib.h>

#include "render/tables.h"

static int put_tree(struct tr_json *j, tare_view *view)
{
	const tare_node *node;
	size_t n;
	int err = tare_view_tree(view, &node, &n);

	if (err)
		return err;
	tr_json_array(j, "tree");
	for (size_t i = 0; i < n; i++, node++) {
		tr_json_object(j, NULL);
		tr_json_str(j, "name", node->name);
		tr_json_str(j, "source", node->source);
		tr_json_u64(j, "depth", node->depth);
		tr_json_u64(j, "calls", node->calls);
		tr_json_u64(j, "open", node->open);
		tr_json_u64(j, "failures", node->failures);
		tr_json_u64(j, "repaired", node->repaired);
		tr_json_double(j, "total_ns", node->total_ns);
		tr_json_double(j, "own_ns", node->own_ns);
		tr_json_double(j, "net_total_ns", node->net_total_ns);
		tr_json_double(j, "net_own_ns", node->net_own_ns);
		tr_json_double(j, "share", node->share);
		tr_json_bool(j, "below_resolution", node->below_resolution);
		tr_json_bool(j, "estimate", node->is_estimate);
		tr_json_bool(j, "function", node->is_function);
		tr_json_str(j, "file", node->file);
		tr_json_u64(j, "line", node->line);
		if (node->is_function) {
			tr_json_u64(j, "timed", node->timed);
			tr_json_u64(j, "address", node->address);
		}
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
	return 0;
}

/* Of the monitor's series, what a series does not tell. */
static int put_monitor(struct tr_json *j, struct tr_report *r,
		       const tare_stats *stats, size_t n_stats)
{
	struct tr_monitored *row;
	size_t n;
	int err = tr_monitored_take(r->view, r->options.filter, stats, n_stats,
				    &row, &n);

	if (err)
		return err;
	tr_json_array(j, "monitor");
	for (size_t i = 0; i < n; i++) {
		tr_json_object(j, NULL);
		tr_json_str(j, "source", row[i].stats.source);
		tr_json_str(j, "name", row[i].stats.name);
		tr_json_str(j, "labels", row[i].stats.labels);
		tr_json_str(j, "unit", row[i].stats.unit);
		tr_json_double(j, "now", row[i].stats.last);
		tr_json_double(j, "mean", row[i].stats.mean);
		tr_json_double(j, "max", row[i].stats.max);
		tr_json_double(j, "change", row[i].change);
		tr_json_end_object(j);
	}
	tr_json_end_array(j);
	free(row);
	return 0;
}

static int put_flat(struct tr_json *j, struct tr_report *r)
{
	const tare_stats *stats, **rows;
	size_t n;
	int err = tare_view_stats(r->view, r->options.filter, &stats, &n);

	if (err)
		return err;
	rows = tr_report_sorted(r, stats, n);
	if (!rows)
		return TARE_ENOMEM;
	tr_json_window(j, tare_view_window(r->view));
	tr_json_array(j, "series");
	for (size_t i = 0; i < n; i++)
		if (!r->options.top || i < r->options.top)
			tr_json_series(j, rows[i]);
	tr_json_end_array(j);
	free(rows);
	return put_monitor(j, r, stats, n);
}

TARE_API int tare_view_json(tare_view *view,
			    const tare_report_options *options,
			    tare_write_fn write, void *arg)
{
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_report report = { .view = view, .buf = &buf };
	struct tr_json json;
	int err;

	if (!view || !write)
		return TARE_EINVAL;
	err = tr_report_prepare(&report, options);
	if (err)
		return err;
	tr_json_begin(&json, &buf);
	tr_json_object(&json, NULL);
	if (report.options.parts & TARE_REPORT_HEAD)
		tr_json_run(&json, tare_view_run(view));
	if (report.options.parts & TARE_REPORT_TRAININGS)
		tr_json_trainings(&json, &report);
	if (report.options.parts & TARE_REPORT_TREE)
		err = put_tree(&json, view);
	if (!err && report.options.parts & TARE_REPORT_FRAMES)
		err = tr_json_frames(&json, &report);
	if (!err && report.options.parts & TARE_REPORT_PROFILE)
		err = tr_json_profile(&json, &report);
	if (!err && report.options.parts & TARE_REPORT_STAGES)
		err = tr_json_stages(&json, &report);
	if (!err && report.options.parts & TARE_REPORT_ALLOCS)
		err = tr_json_allocs(&json, &report);
	if (!err && report.options.parts & TARE_REPORT_FLAT)
		err = tr_json_calls(&json, &report);
	if (!err && report.options.parts & TARE_REPORT_FLAT)
		err = put_flat(&json, &report);
	if (!err && report.options.parts & TARE_REPORT_FLAT)
		err = tr_json_recent(&json, &report);
	if (!err && report.options.parts & TARE_REPORT_HEALTH)
		tr_json_health(&json, tare_view_health(view));
	tr_json_end_object(&json);
	tr_buf_addc(&buf, '\n');
	if (!err && buf.failed)
		err = TARE_ENOMEM;
	if (!err && write(arg, buf.data, buf.len))
		err = TARE_EIO;
	tr_buf_release(&buf);
	return err;
}
