/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The line about the last steps, for the program's own log:
 *
 *	step 1,200: 1.02 ms a step, p95 1.1 ms, 31,400 items/s, rss 81.2 MiB
 *	(+96 KiB), gpu 87 %, tare 0.02 %
 *
 * What is not known is left out.
 */
#include "record/step/pace.h"

#include "base/text.h"

#include <stdio.h>

double (*tr_step_gpu_load)(void);
double (*tr_step_share)(void);

/* Of the line before. Holder of the lock only. */
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

static void put(struct text *t, const char *piece)
{
	int n = snprintf(t->at + t->len, sizeof(t->at) - t->len, "%s", piece);

	if (n > 0)
		t->len += (size_t)n;
	if (t->len >= sizeof(t->at))
		t->len = sizeof(t->at) - 1;
}

static void put_fixed(struct text *t, double value, int decimals)
{
	char number[48];

	(void)tr_fixed_text(number, sizeof(number), value, decimals);
	put(t, number);
}

static void put_duration(struct text *t, double seconds)
{
	char text[32];

	(void)tr_duration_text(text, sizeof(text), seconds * 1e9);
	put(t, text);
}

static void put_count(struct text *t, uint64_t n)
{
	char text[32];

	(void)tr_count_text(text, sizeof(text), n);
	put(t, text);
}

static void put_rate(struct text *t, double rate)
{
	if (rate < 100)
		put_fixed(t, rate, 1);
	else
		put_count(t, (uint64_t)(rate + 0.5));
	put(t, " items/s");
}

/* ---- what it says ------------------------------------------------------ */

/* The 95 % quantile: of few steps the slowest. */
static double slow_duration(const struct tr_pace *pace)
{
	float v[TR_DURATIONS];
	unsigned n = pace->n_durations < TR_DURATIONS ? pace->n_durations :
		     TR_DURATIONS;
	unsigned above = n / 20 + 1, top = 0;

	/* The `above` largest, in order: few of many. */
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

static void put_memory(struct text *t)
{
	uint64_t rss = tr_watch_rss();
	char size[32];
	double change;

	if (rss == UINT64_MAX)
		return;
	(void)tr_bytes_text(size, sizeof(size), (double)rss);
	put(t, ", rss ");
	put(t, size);
	if (before.rss != UINT64_MAX) {
		change = (double)rss - (double)before.rss;
		(void)tr_bytes_text(size, sizeof(size),
				    change < 0 ? -change : change);
		put(t, change < 0 ? " (-" : " (+");
		put(t, size);
		put(t, ")");
	}
	before.rss = rss;
}

/*
 * Entries of a thread's log so far. Laps before a trace are of the small log,
 * those since then of the trace's ring, but for what a full one discards.
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

/* Of all threads: scopes, steps, items. */
static uint64_t count_events(void)
{
	const struct tr_region *tracks = &tr_ledger->region[TR_REGION_TRACKS];
	const uint32_t *dir = (const void *)(tr_ledger->base + tracks->off);
	uint64_t n = 0;

	for (uint64_t i = 0; i < tracks->cap / sizeof(*dir); i++) {
		uint32_t off = TR_ACQUIRE(dir[i]);

		if (!off)
			break;
		n += events_of((const void *)(tr_ledger->base + off));
	}
	return n;
}

/* Scopes at their calibrated cost, and the readings as they were timed. */
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
	double own = own_share(pace->seconds);
	double share = tr_step_share ? tr_step_share() : own;
	struct text t = { .len = 0 };

	put(&t, "step ");
	put_count(&t, pace->steps);
	if (pace->steps_since && pace->seconds > 0) {
		put(&t, ": ");
		put_duration(&t, pace->seconds / (double)pace->steps_since);
		put(&t, " a step");
	}
	if (pace->n_durations) {
		put(&t, ", p95 ");
		put_duration(&t, slow_duration(pace));
	}
	if (pace->items_since && pace->seconds > 0) {
		put(&t, ", ");
		put_rate(&t, (double)pace->items_since / pace->seconds);
	}
	put_memory(&t);
	if (load >= 0) {
		put(&t, ", gpu ");
		put_fixed(&t, load, 0);
		put(&t, " %");
	}
	if (share >= 0) {
		put(&t, ", tare ");
		put_fixed(&t, share * 100, 2);
		put(&t, " %");
	}
	tr_step_message(TARE_LEVEL_PERFORMANCE, t.at);
}
