/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run, a window, a series and the health of a run as JSON, for reports and
 * exports. docs/formats/report.md lists the names.
 */
#include "render/tables.h"

#include <tare/read/view.h>

const char *tr_kind_name(enum tare_kind kind)
{
	static const char *const name[] = { "",	     "scope", "counter",
					    "gauge", "value", "ratio" };

	return kind <= TARE_KIND_RATIO ? name[kind] : "";
}

#define RUN(field) TR_FIELD(tare_run, #field, field)

static const struct tr_field run_fields[] = {
	RUN(id), RUN(path), RUN(program), RUN(command),
	TR_FIELD_NAMED(tare_run, "state", state, tr_run_state_name),
	RUN(pid), RUN(host), RUN(cpu), RUN(git), RUN(folder), RUN(group),
	RUN(config), RUN(version), RUN(start_ns), RUN(end_ns), RUN(cleared_ns),
	TR_FIELD(tare_run, "tracks", n_tracks),
	TR_FIELD(tare_run, "sites", n_sites),
	RUN(clock), RUN(resolution_ns), RUN(inside_ns), RUN(outside_ns),
	RUN(ledger_bytes), RUN(ledger_limit), RUN(rss_start), RUN(rss_end),
	RUN(rss_peak), RUN(damage), RUN(parent),
};

void tr_json_run(struct tr_json *j, const tare_run *run)
{
	tr_json_struct(j, "run", TR_ALL(run_fields), run);
}

#define SERIES(field) TR_FIELD(tare_stats, #field, field)

const struct tr_field tr_series_fields[] = {
	SERIES(name), SERIES(source), SERIES(labels), SERIES(unit),
	TR_FIELD_NAMED(tare_stats, "kind", kind, tr_kind_name),
	TR_FIELD_NAMED(tare_stats, "type", type, tare_type_name),
	SERIES(file), SERIES(line), SERIES(count), SERIES(timed),
	SERIES(failures), SERIES(success_rate), SERIES(items),
	SERIES(items_per_s), SERIES(total), SERIES(own), SERIES(mean),
	SERIES(min), SERIES(max), SERIES(p50), SERIES(p90), SERIES(p95),
	SERIES(p99), SERIES(p999), SERIES(net_total), SERIES(net_own),
	SERIES(net_mean), SERIES(last), SERIES(below_resolution),
	TR_FIELD(tare_stats, "estimate", is_estimate), SERIES(missed),
	SERIES(count_low), SERIES(count_high),
};

void tr_json_series(struct tr_json *j, const tare_stats *s)
{
	tr_json_struct(j, NULL, TR_ALL(tr_series_fields), s);
}

#define WINDOW(field) TR_FIELD(tare_window, #field, field)

void tr_json_window(struct tr_json *j, const tare_window *w)
{
	static const struct tr_field fields[] = {
		WINDOW(from_ns), WINDOW(to_ns), WINDOW(horizon_ns),
		WINDOW(skew),
	};

	tr_json_struct(j, "window", TR_ALL(fields), w);
}

#define HEALTH(field) TR_FIELD(tare_health, #field, field)

static const struct tr_field health_fields[] = {
	HEALTH(events), HEALTH(lost), HEALTH(lost_no_track),
	HEALTH(lost_no_space), HEALTH(lost_busy), HEALTH(lost_damage),
	HEALTH(lost_records), HEALTH(cleared), HEALTH(overflow_sites),
	HEALTH(overflow_calls), HEALTH(overflow_nodes), HEALTH(repairs),
	HEALTH(stray_ends), HEALTH(clock_steps), HEALTH(unbucketed),
	HEALTH(redone), HEALTH(records), HEALTH(records_trimmed),
	HEALTH(history_room), HEALTH(trace_events), HEALTH(trace_dropped),
	HEALTH(threads), HEALTH(damaged), HEALTH(governed),
	HEALTH(governed_ever), HEALTH(governor_actions), HEALTH(missed),
	HEALTH(measuring_ns), HEALTH(measuring_share), HEALTH(monitor_ns),
	HEALTH(measuring_limit), HEALTH(measuring_now),
	HEALTH(measuring_thread), HEALTH(measuring_low_ns),
	HEALTH(measuring_high_ns), HEALTH(tried), HEALTH(measuring_by),
	HEALTH(measuring_calls_ns), HEALTH(measuring_samples_ns),
};

void tr_json_health(struct tr_json *j, const tare_health *h)
{
	tr_json_struct(j, "health", TR_ALL(health_fields), h);
}
