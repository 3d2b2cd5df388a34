/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reach: which part of a stack may be read.
 *
 * A thread's own stack is mapped from the present position up to its
 * beginning, as long as the thread lives. So this range is determined once, by
 * asking the kernel about each page of it, and kept. Other stacks (of
 * coroutines, of signal handlers) may be unmapped between two walks: their
 * pages are checked in each walk.
 */
#ifndef TR_RECORD_UNWIND_REACH_H
#define TR_RECORD_UNWIND_REACH_H

#include "base/platform.h"

struct tr_reach {
	uint64_t lo, hi; /* hi == 0: nothing is known */
};

extern __thread struct tr_reach tr_reach_own
#if !defined(TARE_TLS_DYNAMIC)
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
#else
	__attribute__((visibility("hidden")));
#endif

void tr_reach_init(void);
/* Is this page mapped? Signal-safe. */
bool tr_reach_probe(uint64_t at);
/* Copies all n bytes, or returns false. Signal-safe. */
bool tr_reach_copy(uint64_t at, void *to, uint32_t n);

/* The range around `sp`, if `sp` is not in the thread's known range. */
struct tr_reach tr_reach_find(uint64_t sp);
/* May the word at `at`, outside the range, be read? Extends the range. */
bool tr_reach_more(struct tr_reach *reach, uint64_t at);

TR_INLINE struct tr_reach tr_reach_of(uint64_t sp)
{
	struct tr_reach own = tr_reach_own;

	if (TR_LIKELY(sp >= own.lo && sp < own.hi))
		return own;
	return tr_reach_find(sp);
}

#endif
