/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A scope's end is read before the end of the scope around it. But the two may
 * be read on different processors, and ticks are converted to ns by different
 * anchors. So an inner scope may seem to end after its outer one, and viewers
 * then draw it wrongly or refuse the file.
 *
 * The order in a log is reliable: a scope comes after all scopes inside it. So
 * the events are visited from the last to the first. The stack has the scopes
 * around or after the current one, outer ones first.
 */
#include "read/timeline/nest.h"

#define TR_JITTER_S 2e-6 /* counters of two processors differ by less */
#define TR_NEST_MOST 2048u

struct nest {
	tare_event *event;
	const struct tr_ticks *ticks;
	uint64_t jitter;
	uint32_t n;
	size_t stack[TR_NEST_MOST];
};

static int64_t end_of(const tare_event *event)
{
	return (int64_t)((uint64_t)event->start_ns + event->duration_ns);
}

static bool is_inside(const struct nest *nest, size_t i, size_t around)
{
	return nest->event[i].depth > nest->event[around].depth &&
	       nest->ticks[i].end > nest->ticks[around].start;
}

/* Number of stack entries around event i; the rest come after it. */
static uint32_t around(const struct nest *nest, size_t i)
{
	uint32_t n = nest->n;

	while (n && !is_inside(nest, i, nest->stack[n - 1]))
		n--;
	return n;
}

static bool overlaps(const struct nest *nest, size_t i, uint32_t n)
{
	const struct tr_ticks *t = &nest->ticks[i];

	if (n == TR_NEST_MOST)
		return true;
	if (n < nest->n &&
	    t->end > nest->ticks[nest->stack[n]].start + nest->jitter)
		return true;
	return n && t->start + nest->jitter <
			    nest->ticks[nest->stack[n - 1]].start;
}

static void set_times(tare_event *event, int64_t from, int64_t to)
{
	event->start_ns = from;
	event->duration_ns = to > from ? (uint64_t)to - (uint64_t)from : 0;
}

/* Clips event i to the scope around it and to the start of the next one. */
static void clip(const struct nest *nest, size_t i, uint32_t n)
{
	tare_event *event = &nest->event[i];
	int64_t from = event->start_ns, to = end_of(event);

	if (n) {
		const tare_event *outer = &nest->event[nest->stack[n - 1]];

		if (to > end_of(outer))
			to = end_of(outer);
		if (from < outer->start_ns)
			from = outer->start_ns;
	}
	if (n < nest->n && to > nest->event[nest->stack[n]].start_ns)
		to = nest->event[nest->stack[n]].start_ns;
	set_times(event, from < to ? from : to, to);
}

void tr_events_nest(const tare_view *view, tare_event *events,
		    const struct tr_ticks *ticks, size_t n)
{
	const struct tr_header *header = tr_view_header(view);
	double jitter = TR_JITTER_S / header->sec_per_tick;
	struct nest nest = { .event = events, .ticks = ticks };

	nest.jitter = jitter > 1 && jitter < 1e9 ? (uint64_t)jitter : 1;
	for (size_t i = n; i-- > 0;) {
		uint32_t above = around(&nest, i);

		if (events[i].overlaps)
			continue;
		if (overlaps(&nest, i, above)) {
			events[i].overlaps = true;
			continue;
		}
		clip(&nest, i, above);
		nest.stack[above] = i;
		nest.n = above + 1;
	}
}
