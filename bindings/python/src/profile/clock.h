/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks: the time stamp counter where the processor says that its rate is
 * constant, else nanoseconds of the monotonic clock. A tick counter costs
 * half of a call to the clock, and a profiled call reads it twice.
 */
#ifndef TR_PY_CLOCK_H
#define TR_PY_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

extern bool tr_clock_is_tsc; /* written once, by tr_clock_init() */

uint64_t tr_clock_ns(void);
/* Nanoseconds at the kernel's last timer tick: a third of a tick counter's
 * cost where the processor is virtual. */
uint64_t tr_clock_coarse_ns(void);

static inline uint64_t tr_ticks(void)
{
#if defined(__x86_64__)
	if (__builtin_expect(tr_clock_is_tsc, 1))
		return __rdtsc();
#endif
	return tr_clock_ns();
}

/* Notes where both clocks stand; called when the module is loaded. */
void tr_clock_init(void);

/*
 * Seconds of a tick, from the time since tr_clock_init(). Waits until that is
 * 2 ms ago, so that the error of the rate is below 0.01 %.
 */
double tr_clock_tick_s(void);

#endif
