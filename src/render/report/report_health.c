/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report's last lines: the cost of measuring, and losses.
 */
#include "render/report.h"

#include <math.h>
#include <string.h>

static void governed_text(struct tr_report *r, const tare_health *h)
{
	if (!h->governed_ever)
		return;
	tr_buf_addf(r->buf, "\n           above %s %% series are measured in "
		    "part: %llu were, %llu are, and it takes %s %% now",
		    tr_as_fixed(h->measuring_limit * 100, 1).text,
		    (unsigned long long)h->governed_ever,
		    (unsigned long long)h->governed,
		    tr_as_fixed(h->measuring_now * 100, 1).text);
}

/* Prefixed with ": " or ", ". */
static void cost_if(struct tr_report *r, const char *text, double ns,
		    const char **before)
{
	if (!(ns > 0))
		return;
	tr_buf_addf(r->buf, "%s%s %s", *before, text, tr_as_duration(ns).text);
	*before = ", ";
}

/* The cost of a scope is omitted for a program without probes. */
static void costs_text(struct tr_report *r, const tare_health *h)
{
	const tare_run *run = tare_view_run(r->view);
	const char *before = ": ";

	if (h->events || !(h->sampling_ns > 0)) {
		tr_buf_addf(r->buf, "%sa scope costs %s inside + %s outside%s",
			    before, tr_as_duration(run->inside_ns).text,
			    tr_as_duration(run->outside_ns).text,
			    r->options.raw ? " (not taken off)" :
					     " (taken off above)");
		before = ", ";
	} else {
		cost_if(r, "taking samples", h->sampling_ns, &before);
	}
	cost_if(r, "tare's own threads", h->monitor_ns, &before);
}

/* What the figure is known by, and what the other estimate is. */
static void estimates_text(struct tr_report *r, const tare_health *h)
{
	bool by_samples = strcmp(h->measuring_by, "samples") == 0;

	if (!by_samples && !h->tried)
		return;
	tr_buf_addf(r->buf, " (%s to %s; ",
		    tr_as_duration(h->measuring_low_ns).text,
		    tr_as_duration(h->measuring_high_ns).text);
	if (by_samples)
		tr_buf_addf(r->buf, "by samples in tare's code; calls x their "
			    "cost: %s)",
			    tr_as_duration(h->measuring_calls_ns).text);
	else
		tr_buf_addf(r->buf, "measured by not timing %s calls",
			    tr_as_count(h->tried).text);
	if (!by_samples && isfinite(h->measuring_samples_ns))
		tr_buf_addf(r->buf, "; samples in tare's code: %s",
			    tr_as_duration(h->measuring_samples_ns).text);
	if (!by_samples)
		tr_buf_addc(r->buf, ')');
}

static void measuring_line(struct tr_report *r, const tare_health *h)
{
	const tare_run *run = tare_view_run(r->view);

	tr_buf_addf(r->buf, "measuring  %s %5s %%",
		    tr_as_duration(h->measuring_ns).text,
		    tr_as_fixed(h->measuring_share * 100, 1).text);
	estimates_text(r, h);
	costs_text(r, h);
	governed_text(r, h);
	tr_buf_addf(r->buf,
		    "\n           %s of %s, clock %s with steps of %s\n",
		    tr_as_bytes((double)run->ledger_bytes).text,
		    tr_as_bytes((double)run->ledger_limit).text, run->clock,
		    tr_as_duration(run->resolution_ns).text);
}

static void memory_line(struct tr_report *r)
{
	const tare_run *run = tare_view_run(r->view);

	if (run->rss_start && run->rss_end && run->rss_peak)
		tr_buf_addf(r->buf, "memory     %s at the start, %s at the end"
			    ", peak %s\n",
			    tr_as_bytes((double)run->rss_start).text,
			    tr_as_bytes((double)run->rss_end).text,
			    tr_as_bytes((double)run->rss_peak).text);
}

/*
 * Records use at most half of the ledger's limit. If there is less room than
 * that, the program started with a smaller max_history_size: raised later, it
 * gets at most eight times the initial room.
 */
void tr_report_history(struct tr_report *r)
{
	const tare_health *h = tare_view_health(r->view);
	uint64_t most = tare_view_run(r->view)->ledger_limit / 2;

	if (!h->history_room || !h->records_trimmed)
		return;
	tr_buf_addf(r->buf,
		    "history    room for about %s operations, fewer than "
		    "max_history_size:\n           ",
		    tr_as_count(h->history_room).text);
	if ((h->history_room + 8) * TR_RECORD_ABOUT < most)
		tr_buf_adds(r->buf, "set it before the program starts\n");
	else
		tr_buf_addf(r->buf, "ledger_limit is %s\n",
			    tr_as_bytes((double)most * 2).text);
}

#define COUNT(text, field) TR_FIELD(tare_health, text, field)

/* Shown if not 0. */
static const struct tr_field counts[] = {
	COUNT("cleared", cleared),
	COUNT("names beyond max_sites", overflow_sites),
	COUNT("calls in the overflow series", overflow_calls),
	COUNT("calls beyond max_depth or max_nodes", overflow_nodes),
	COUNT("scopes repaired", repairs),
	COUNT("ends without a scope", stray_ends),
	COUNT("clock steps", clock_steps),
	COUNT("times without a bucket", unbucketed),
	COUNT("updates completed after a kill", redone),
	COUNT("history records", records),
	COUNT("records trimmed", records_trimmed),
	COUNT("records lost", lost_records),
	COUNT("trace events", trace_events),
	COUNT("trace events dropped", trace_dropped),
	COUNT("places damaged", damaged),
};

int tr_report_health(struct tr_report *r)
{
	const tare_health *h = tare_view_health(r->view);

	tr_buf_addc(r->buf, '\n');
	memory_line(r);
	measuring_line(r, h);
	tr_buf_addf(r->buf, "events     %s, %s lost",
		    tr_as_count(h->events).text, tr_as_count(h->lost).text);
	for (size_t i = 0; i < TR_N_OF(counts); i++) {
		uint64_t n = tr_field_whole(&counts[i], h);

		if (n)
			tr_buf_addf(r->buf, ", %s %s", tr_as_count(n).text,
				    counts[i].key);
	}
	tr_buf_addc(r->buf, '\n');
	tr_report_history(r);
	return 0;
}
