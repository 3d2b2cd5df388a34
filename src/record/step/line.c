/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line about the last steps, for the program's own log:
 *
 *	step 1,200: 1.02 ms a step, p95 1.1 ms, 31,400 items/s, rss 81.2 MiB
 *	(+96 KiB), gpu 87 %, tare 0.02 %
 *
 * Unknown values are left out.
 */
#include "record/step/pace.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>

double (*tr_step_gpu_load)(void);

/* Of the previous line. Used with the lock only. */
static struct {
	uint64_t rss;
	uint64_t cost, events;
} before;

void tr_pace_line_reset(void)
{
	before.rss = UINT64_MAX;
	before.cost = before.events = 0;
}

/* ---- pieces ------------------------------------------------------------ */

struct text {
	char at[400];
	size_t len;
};

static TARE_PRINTF(2, 3) void put(struct text *t, const char *format, ...)
{
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(t->at + t->len, sizeof(t->at) - t->len, format, args);
	va_end(args);
	if (n > 0)
		t->len += (size_t)n;
	if (t->len >= sizeof(t->at))
		t->len = sizeof(t->at) - 1;
}

static void put_fixed(struct text *t, double value, int decimals)
{
	char number[48];

	(void)tr_fixed_text(number, sizeof(number), value, decimals);
	put(t, "%s", number);
}

/* ---- what it says ------------------------------------------------------ */

/* The 95 % quantile; with few steps, the slowest. */
static double slow_duration(const struct tr_pace *pace)
{
	float v[TR_DURATIONS];
	unsigned n = pace->n_durations < TR_DURATIONS ? pace->n_durations :
		     TR_DURATIONS;
	unsigned above = n / 20 + 1, top = 0;

	/* Sorts only the `above` largest: few of many. */
	for (unsigned i = 0; i < n; i++) {
		unsigned at = top < above ? top++ : above;

		for (; at > 0 && v[at - 1] < pace->duration[i]; at--)
			if (at < above)
				v[at] = v[at - 1];
		if (at < above)
			v[at] = pace->duration[i];
	}
	return (double)v[top - 1];
}

static void put_percent(struct text *t, const char *name, double percent,
			int decimals)
{
	if (percent < 0)
		return;
	put(t, ", %s ", name);
	put_fixed(t, percent, decimals);
	put(t, " %%");
}

static void put_rate(struct text *t, double rate)
{
	put(t, ", ");
	if (rate < 100)
		put_fixed(t, rate, 1);
	else
		put(t, "%s", tr_as_count((uint64_t)(rate + 0.5)).text);
	put(t, " items/s");
}

static void put_memory(struct text *t)
{
	uint64_t rss = tr_watch_rss();

	if (rss == UINT64_MAX)
		return;
	put(t, ", rss %s", tr_as_bytes((double)rss).text);
	if (before.rss != UINT64_MAX) {
		double change = (double)rss - (double)before.rss;

		put(t, " (%c%s)", change < 0 ? '-' : '+',
		    tr_as_bytes(change < 0 ? -change : change).text);
	}
	before.rss = rss;
}

/*
 * Entries of a thread's log so far. Laps before a trace are of the small log,
 * later ones of the trace's ring, minus what a full ring discards.
 */
static uint64_t events_of(const struct tr_track *track)
{
	uint64_t write = TR_LOAD(track->write), laps = write >> 32;
	uint64_t ring = TR_LOAD(track->trace.bytes) / sizeof(struct tr_entry);
	uint64_t lap = TR_LOAD(track->trace_lap), n;
	uint32_t log = TR_LOAD(track->log.off);

	if (!ring || laps < lap)
		n = laps * TR_RING_INLINE;
	else if (TR_LOAD(track->trace.off) == log)
		n = lap * TR_RING_INLINE + (laps - lap) * ring;
	else
		n = lap * TR_RING_INLINE + ring +
		    TR_LOAD(track->trace_discarded);
	if ((uint32_t)write > log)
		n += ((uint32_t)write - log) / sizeof(struct tr_entry);
	return n;
}

/* Sum over all threads: scopes, steps, items. */
static uint64_t count_events(void)
{
	const struct tr_track *track;
	uint64_t n = 0;

	for (uint64_t i = 0; (track = tr_track_at(i)); i++)
		n += events_of(track);
	return n;
}

/* Scopes at their calibrated cost, and readings at their measured time. */
static double own_share(double seconds)
{
	const struct tr_header *header = tr_ledger->header;
	uint64_t events = count_events(), cost = tr_watch_cost();
	double ticks;

	ticks = (double)(events > before.events ? events - before.events : 0) *
			(header->inside_ticks + header->outside_ticks) +
		(double)(cost - before.cost);
	before.events = events;
	before.cost = cost;
	return seconds > 0 ? ticks * tr_ledger->sec_per_tick / seconds : -1;
}

void tr_pace_line(const struct tr_pace *pace)
{
	double load = tr_step_gpu_load ? tr_step_gpu_load() : -1;
	double share = own_share(pace->seconds);
	struct text t = { .len = 0 };

	put(&t, "step %s", tr_as_count(pace->steps).text);
	if (pace->steps_since && pace->seconds > 0)
		put(&t, ": %s a step",
		    tr_as_duration(pace->seconds * 1e9 /
				   (double)pace->steps_since).text);
	if (pace->n_durations)
		put(&t, ", p95 %s",
		    tr_as_duration(slow_duration(pace) * 1e9).text);
	if (pace->items_since && pace->seconds > 0)
		put_rate(&t, (double)pace->items_since / pace->seconds);
	put_memory(&t);
	put_percent(&t, "gpu", load, 0);
	put_percent(&t, "tare", share * 100, 2);
	tr_step_message(TARE_LEVEL_PERFORMANCE, t.at);
}
