/* SPDX-License-Identifier: Apache-2.0 */
#include "record/train/stopwatch.h"

#include <math.h>

#define BELIEVED_NS 20000000
/* A rate over less time has too large an error: 50 ns in that time. */
#define COMPARED_NS 2000000
/* Reading both took longer: it was interrupted, and they do not match. */
#define BETWEEN_NS 2000
/* Two rates differ by more: one of the clocks was set. */
#define RATE_CHANGE 1e-4

/* Compares the clocks from here on. */
static void start_anew(struct tr_stopwatch *watch, uint64_t ticks, int64_t ns)
{
	watch->first_ticks = ticks;
	watch->first_ns = ns;
	watch->ns_per_tick = 0;
}

TR_COLD int64_t tr_stopwatch_look(struct tr_stopwatch *watch)
{
	int64_t ns, before = tr_monotonic_ns();
	double rate, last = watch->ns_per_tick;
	uint64_t ticks;

	watch->duration = 0;
	if (!watch->is_trusted ||
	    (watch->first_ns && before - watch->first_ns < COMPARED_NS))
		return before;
	ticks = tr_counter();
	ns = tr_monotonic_ns();
	if (ns - before > BETWEEN_NS)
		return ns;
	rate = (double)(ns - watch->first_ns) /
	       (double)(ticks - watch->first_ticks);
	if (!watch->first_ns || !(rate > 0) ||
	    (last > 0 && fabs(rate - last) > RATE_CHANGE * last)) {
		start_anew(watch, ticks, ns);
		return ns;
	}
	watch->ticks = ticks;
	watch->ns = ns;
	watch->ns_per_tick = rate;
	watch->duration = (uint64_t)(BELIEVED_NS / rate);
	return ns;
}

void tr_stopwatch_init(struct tr_stopwatch *watch)
{
	*watch = (struct tr_stopwatch){ .is_trusted = TR_HAS_COUNTER &&
						      tr_counter_is_trusted() };
	(void)tr_stopwatch_look(watch);
}
