/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopwatch: CLOCK_MONOTONIC, read at every phase.
 *
 * The code and the data of the system's clock are out of the cache after
 * some work; the processor's counter needs neither. The counter is believed
 * for 20 ms after a look at the clock, and only if the kernel trusts it: what
 * it does wrong is never more than a part of that.
 *
 * One thread at a time.
 */
#ifndef TR_RECORD_TRAIN_STOPWATCH_H
#define TR_RECORD_TRAIN_STOPWATCH_H

#include "base/platform.h"

struct tr_stopwatch {
	uint64_t ticks; /* of the last look at the clock */
	int64_t ns;	/* and what it said */
	/* ticks that the counter is believed; 0: none */
	uint64_t duration;
	double ns_per_tick;
	bool is_trusted; /* the counter */
	uint64_t first_ticks; /* since when the two are compared */
	int64_t first_ns;     /* 0: not yet */
};

/* Zero-filled, it is a watch that asks the clock. */
void tr_stopwatch_init(struct tr_stopwatch *watch);
int64_t tr_stopwatch_look(struct tr_stopwatch *watch);

TR_INLINE int64_t tr_stopwatch_ns(struct tr_stopwatch *watch)
{
	uint64_t ticks = tr_counter() - watch->ticks;

	if (TR_LIKELY(ticks < watch->duration))
		return watch->ns + (int64_t)((double)ticks *
					     watch->ns_per_tick);
	return tr_stopwatch_look(watch);
}

#endif
