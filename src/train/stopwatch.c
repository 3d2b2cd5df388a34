/* SPDX-License-Identifier: Apache-2.0 */
#include "train/stopwatch.h"

#include <math.h>

#define BELIEVED_NS 20000000
/* A rate of so short a time is wrong by 50 ns in that. */
#define COMPARED_NS 2000000
/* Looks at both that took longer were interrupted. */
#define BETWEEN_NS 2000
/* Rates of two looks that differ by more: one of the clocks was set. */
#define RATE_CHANGE 1e-4

void tr_stopwatch_init(struct tr_stopwatch *watch)
{
	*watch = (struct tr_stopwatch){ .ticks = 0 };
	if (!TR_HAS_COUNTER || !tr_counter_is_trusted())
		return;
	watch->first_ns = tr_monotonic_ns();
	watch->first_ticks = tr_counter();
}

/* Compares from here on. */
static void start_anew(struct tr_stopwatch *watch, uint64_t ticks, int64_t ns)
{
	watch->first_ticks = ticks;
	watch->first_ns = ns;
	watch->ns_per_tick = 0;
	watch->span = 0;
}

TR_COLD int64_t tr_stopwatch_look(struct tr_stopwatch *watch)
{
	uint64_t ticks = tr_counter();
	int64_t ns = tr_monotonic_ns();
	double rate, before = watch->ns_per_tick;

	watch->span = 0;
	if (!watch->first_ticks || ns - watch->first_ns < COMPARED_NS)
		return ns;
	rate = (double)(ns - watch->first_ns) /
	       (double)(ticks - watch->first_ticks);
	if (!(rate > 0) || (before > 0 &&
			    fabs(rate - before) > RATE_CHANGE * before)) {
		start_anew(watch, ticks, ns);
		return ns;
	}
	if ((double)(tr_counter() - ticks) * rate > BETWEEN_NS)
		return ns;
	watch->ticks = ticks;
	watch->ns = ns;
	watch->ns_per_tick = rate;
	watch->span = (uint64_t)(BELIEVED_NS / rate);
	return ns;
}
