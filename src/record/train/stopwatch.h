/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopwatch: CLOCK_MONOTONIC, read at every phase.
 *
 * Code and data of the system's clock are out of the cache after some work;
 * the processor's counter needs neither. The counter is used for 20 ms after a
 * reading of the clock, and only if the kernel trusts it: its error is never
 * more than a part of that time.
 *
 * One thread at a time.
 */
#ifndef TR_RECORD_TRAIN_STOPWATCH_H
#define TR_RECORD_TRAIN_STOPWATCH_H

#include "base/platform.h"

struct tr_stopwatch {
	uint64_t ticks; /* at the last reading of the clock */
	int64_t ns;	/* and its value */
	/* ticks for which the counter is used; 0: none */
	uint64_t duration;
	double ns_per_tick;
	bool is_trusted; /* the counter */
	uint64_t first_ticks; /* since when the two are compared */
	int64_t first_ns;     /* 0: not yet */
};

/* A zero-filled watch always reads the clock. */
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
