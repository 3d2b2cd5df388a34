/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The report's last lines: what measuring took, and what was lost.
 */
#include "render/report.h"

static void count_if(struct tr_report *r, const char *text, uint64_t n)
{
	char number[32];

	if (!n)
		return;
	(void)tr_count_text(number, sizeof(number), n);
	tr_buf_addf(r->buf, ", %s %s", number, text);
}

static void governed_text(struct tr_report *r, const tare_health *h)
{
	char limit[32], now[32];

	if (!h->governed_ever)
		return;
	(void)tr_fixed_text(limit, sizeof(limit), h->measuring_limit * 100, 1);
	(void)tr_fixed_text(now, sizeof(now), h->measuring_now * 100, 1);
	tr_buf_addf(r->buf, "\n           above %s %% series are measured in "
		    "part: %llu were, %llu are, and it takes %s %% now",
		    limit, (unsigned long long)h->governed_ever,
		    (unsigned long long)h->governed, now);
}

/* After ": " or ", ". */
static void cost_if(struct tr_report *r, const char *text, double ns,
		    const char **before)
{
	char duration[32];

	if (!(ns > 0))
		return;
	(void)tr_duration_text(duration, sizeof(duration), ns);
	tr_buf_addf(r->buf, "%s%s %s", *before, text, duration);
	*before = ", ";
}

/* A program without probes has no use for what a scope costs. */
static void costs_text(struct tr_report *r, const tare_health *h)
{
	const tare_run *run = tare_view_run(r->view);
	const char *before = ": ";
	char inside[32], outside[32];

	if (h->events || !(h->sampling_ns > 0)) {
		(void)tr_duration_text(inside, sizeof(inside), run->inside_ns);
		(void)tr_duration_text(outside, sizeof(outside),
				       run->outside_ns);
		tr_buf_addf(r->buf, "%sa scope costs %s inside + %s outside%s",
			    before, inside, outside,
			    r->options.raw ? " (not taken off)" :
					     " (taken off above)");
		before = ", ";
	} else {
		cost_if(r, "taking samples", h->sampling_ns, &before);
	}
	cost_if(r, "tare's own threads", h->monitor_ns, &before);
}

static void measuring_line(struct tr_report *r, const tare_health *h)
{
	const tare_run *run = tare_view_run(r->view);
	char a[32], b[32], c[32];

	(void)tr_duration_text(a, sizeof(a), h->measuring_ns);
	tr_buf_addf(r->buf, "measuring  %s", a);
	(void)tr_fixed_text(a, sizeof(a), h->measuring_share * 100, 1);
	tr_buf_addf(r->buf, " %5s %%", a);
	costs_text(r, h);
	governed_text(r, h);
	(void)tr_bytes_text(a, sizeof(a), (double)run->ledger_bytes);
	(void)tr_bytes_text(b, sizeof(b), (double)run->ledger_limit);
	(void)tr_duration_text(c, sizeof(c), run->resolution_ns);
	tr_buf_addf(r->buf,
		    "\n           %s of %s, clock %s with steps of %s\n", a, b,
		    run->clock, c);
}

static void memory_line(struct tr_report *r)
{
	const tare_run *run = tare_view_run(r->view);
	char start[32], end[32], peak[32];

	if (!run->rss_start || !run->rss_end || !run->rss_peak)
		return;
	(void)tr_bytes_text(start, sizeof(start), (double)run->rss_start);
	(void)tr_bytes_text(end, sizeof(end), (double)run->rss_end);
	(void)tr_bytes_text(peak, sizeof(peak), (double)run->rss_peak);
	tr_buf_addf(r->buf,
		    "memory     %s at the start, %s at the end, peak %s\n",
		    start, end, peak);
}

/*
 * The history has half of the ledger's limit at most. Where it ends before
 * that, the program started with a smaller max_history_size: a raised one has
 * eight times the place of the first.
 */
static void history_line(struct tr_report *r, const tare_health *h)
{
	uint64_t most = tare_view_run(r->view)->ledger_limit / 2;
	char room[32], limit[32];

	if (!h->history_room || !h->records_trimmed)
		return;
	(void)tr_count_text(room, sizeof(room), h->history_room);
	tr_buf_addf(r->buf,
		    "history    room for about %s operations, fewer than "
		    "max_history_size: ", room);
	if ((h->history_room + 8) * TR_RECORD_ABOUT < most) {
		tr_buf_adds(r->buf, "set it before the program starts\n");
		return;
	}
	(void)tr_bytes_text(limit, sizeof(limit), (double)most * 2);
	tr_buf_addf(r->buf, "ledger_limit is %s\n", limit);
}

void tr_report_health(struct tr_report *r)
{
	const tare_health *h = tare_view_health(r->view);
	char number[32];

	tr_buf_addc(r->buf, '\n');
	memory_line(r);
	measuring_line(r, h);
	(void)tr_count_text(number, sizeof(number), h->events);
	tr_buf_addf(r->buf, "events     %s", number);
	(void)tr_count_text(number, sizeof(number), h->lost);
	tr_buf_addf(r->buf, ", %s lost", number);
	count_if(r, "cleared", h->cleared);
	count_if(r, "names beyond max_sites", h->overflow_sites);
	count_if(r, "calls in the overflow series", h->overflow_calls);
	count_if(r, "paths beyond max_nodes", h->overflow_nodes);
	count_if(r, "scopes repaired", h->repairs);
	count_if(r, "ends without a scope", h->stray_ends);
	count_if(r, "clock steps", h->clock_steps);
	count_if(r, "times without a bucket", h->unbucketed);
	count_if(r, "updates completed after a kill", h->redone);
	count_if(r, "history records", h->records);
	count_if(r, "records trimmed", h->records_trimmed);
	count_if(r, "records lost", h->lost_records);
	count_if(r, "trace events", h->trace_events);
	count_if(r, "trace events dropped", h->trace_dropped);
	count_if(r, "places damaged", h->damaged);
	tr_buf_addc(r->buf, '\n');
	history_line(r, h);
}
