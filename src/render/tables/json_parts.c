/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run, a window, a series and the health of a run as JSON, for reports and
 * for exports alike. docs/formats/report.md lists the names.
 */
#include "render/tables.h"

#include <tare/read/view.h>

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
	tr_json_str(j, "state", tr_run_state_name(run->state));
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
