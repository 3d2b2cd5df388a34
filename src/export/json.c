/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report for programs: the same content as one JSON document. Raw and
 * net values side by side; durations in nanoseconds. docs/formats/report.md
 * lists the names.
 */
#include "export/export.h"

#include <stdlib.h>

static const char *state_name(enum tare_run_state state)
{
	switch (state) {
	case TARE_RUN_LIVE:
		return "live";
	case TARE_RUN_FINISHED:
		return "finished";
	default:
		return "killed";
	}
}

const char *tr_kind_name(enum tare_kind kind)
{
	static const char *const name[] = { "",	     "scope", "counter",
					    "gauge", "value", "ratio" };

	return kind <= TARE_KIND_RATIO ? name[kind] : "";
}

void tr_json_run(struct tr_json *j, const tare_run *run)
{
	tr_json_object(j, "run");
	tr_json_str(j, "id", run->id);
	tr_json_str(j, "path", run->path);
	tr_json_str(j, "program", run->program);
	tr_json_str(j, "command", run->command);
	tr_json_str(j, "state", state_name(run->state));
	tr_json_i64(j, "pid", run->pid);
	tr_json_str(j, "host", run->host);
	tr_json_str(j, "cpu", run->cpu);
	tr_json_str(j, "git", run->git);
	tr_json_str(j, "folder", run->folder);
	tr_json_str(j, "group", run->group);
	tr_json_str(j, "config", run->config);
	tr_json_str(j, "version", run->version);
	tr_json_i64(j, "start_ns", run->start_ns);
	tr_json_i64(j, "end_ns", run->end_ns);
	tr_json_i64(j, "cleared_ns", run->cleared_ns);
	tr_json_u64(j, "tracks", run->n_tracks);
	tr_json_u64(j, "sites", run->n_sites);
	tr_json_str(j, "clock", run->clock);
	tr_json_double(j, "resolution_ns", run->resolution_ns);
	tr_json_double(j, "inside_ns", run->inside_ns);
	tr_json_double(j, "outside_ns", run->outside_ns);
	tr_json_u64(j, "ledger_bytes", run->ledger_bytes);
	tr_json_u64(j, "ledger_limit", run->ledger_limit);
	tr_json_u64(j, "rss_start", run->rss_start);
	tr_json_u64(j, "rss_end", run->rss_end);
	tr_json_u64(j, "rss_peak", run->rss_peak);
	tr_json_str(j, "damage", run->damage);
	tr_json_end_object(j);
}

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

static void put_numbers(struct tr_json *j, const tare_stats *s)
{
	tr_json_u64(j, "count", s->count);
	tr_json_u64(j, "timed", s->timed);
	tr_json_u64(j, "failures", s->failures);
	tr_json_double(j, "success_rate", s->success_rate);
	tr_json_u64(j, "items", s->items);
	tr_json_double(j, "items_per_s", s->items_per_s);
	tr_json_double(j, "total", s->total);
	tr_json_double(j, "own", s->own);
	tr_json_double(j, "mean", s->mean);
	tr_json_double(j, "min", s->min);
	tr_json_double(j, "max", s->max);
	tr_json_double(j, "p50", s->p50);
	tr_json_double(j, "p90", s->p90);
	tr_json_double(j, "p95", s->p95);
	tr_json_double(j, "p99", s->p99);
	tr_json_double(j, "p999", s->p999);
	tr_json_double(j, "net_total", s->net_total);
	tr_json_double(j, "net_own", s->net_own);
	tr_json_double(j, "net_mean", s->net_mean);
	tr_json_double(j, "last", s->last);
	tr_json_bool(j, "below_resolution", s->below_resolution);
	tr_json_bool(j, "estimate", s->is_estimate);
	tr_json_u64(j, "missed", s->missed);
}

void tr_json_series(struct tr_json *j, const tare_stats *s)
{
	tr_json_object(j, NULL);
	tr_json_str(j, "name", s->name);
	tr_json_str(j, "source", s->source);
	tr_json_str(j, "labels", s->labels);
	tr_json_str(j, "unit", s->unit);
	tr_json_str(j, "kind", tr_kind_name(s->kind));
	tr_json_str(j, "type", tare_type_name(s->type));
	tr_json_str(j, "file", s->file);
	tr_json_u64(j, "line", s->line);
	put_numbers(j, s);
	tr_json_end_object(j);
}

void tr_json_window(struct tr_json *j, const tare_window *w)
{
	tr_json_object(j, "window");
	tr_json_i64(j, "from_ns", w->from_ns);
	tr_json_i64(j, "to_ns", w->to_ns);
	tr_json_i64(j, "horizon_ns", w->horizon_ns);
	tr_json_u64(j, "skew", w->skew);
	tr_json_end_object(j);
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

void tr_json_health(struct tr_json *j, const tare_health *h)
{
	tr_json_object(j, "health");
#define TR_PUT(field) tr_json_u64(j, #field, h->field)
	TR_PUT(events);
	TR_PUT(lost);
	TR_PUT(lost_no_track);
	TR_PUT(lost_no_space);
	TR_PUT(lost_busy);
	TR_PUT(lost_damage);
	TR_PUT(lost_records);
	TR_PUT(cleared);
	TR_PUT(overflow_sites);
	TR_PUT(overflow_calls);
	TR_PUT(overflow_nodes);
	TR_PUT(repairs);
	TR_PUT(stray_ends);
	TR_PUT(clock_steps);
	TR_PUT(unbucketed);
	TR_PUT(redone);
	TR_PUT(records);
	TR_PUT(records_trimmed);
	TR_PUT(history_room);
	TR_PUT(trace_events);
	TR_PUT(trace_dropped);
	TR_PUT(threads);
	TR_PUT(damaged);
	TR_PUT(governed);
	TR_PUT(governed_ever);
	TR_PUT(governor_actions);
	TR_PUT(missed);
#undef TR_PUT
	tr_json_double(j, "measuring_ns", h->measuring_ns);
	tr_json_double(j, "measuring_share", h->measuring_share);
	tr_json_double(j, "monitor_ns", h->monitor_ns);
	tr_json_double(j, "measuring_limit", h->measuring_limit);
	tr_json_double(j, "measuring_now", h->measuring_now);
	tr_json_double(j, "measuring_thread", h->measuring_thread);
	tr_json_end_object(j);
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
