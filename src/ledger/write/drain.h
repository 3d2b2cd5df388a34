/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by drain.c (the fast path) and drain_slow.c (everything else). */
#ifndef TR_LEDGER_WRITE_DRAIN_H
#define TR_LEDGER_WRITE_DRAIN_H

#include "ledger/write.h"

/* A variable shift costs three operations on x86-64: constant there. */
#if defined(__x86_64__)
#define TR_SLICE_OF(thread, ticks) ((uint32_t)((ticks) >> TR_SLICE_SHIFT))
#else
#define TR_SLICE_OF(thread, ticks) ((uint32_t)((ticks) >> (thread)->shift))
#endif

/* Drains any entry, and creates what it needs. */
void tr_drain_slow(struct tr_thread *thread, struct tr_track *track,
		   uint64_t position);
/* Stores the entries that signal handlers parked. */
void tr_drain_deferred(struct tr_thread *thread);

#endif
