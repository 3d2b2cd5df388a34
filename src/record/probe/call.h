/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the function hooks: calls.c, call_times.c,
 * call_gone.c.
 */
#ifndef TR_RECORD_PROBE_CALL_H
#define TR_RECORD_PROBE_CALL_H

#include "record/probe/calls.h"

/* A call, or the end of one, as reported by the hook. */
struct tr_call {
	uint64_t address, stack;
	uint64_t here; /* bytes from the address to the hook's call site */
	uint32_t site;
	bool is_after; /* the call site is behind the address */
};

/* ---- calls.c ----------------------------------------------------------- */

/* Is it switched off from outside? Each thread checks at times. */
void tr_calls_look(struct tr_thread *thread);

/* ---- call_times.c ------------------------------------------------------ */

/* Stores the time of a function that ends. Busy. */
void tr_call_finish(struct tr_thread *thread, uint32_t off,
		    const struct tr_frame *frame);

/* ---- call_gone.c ------------------------------------------------------- */

/* Was the function called from `site`, as far as that is known? */
bool tr_call_is_from(const struct tr_node *node, const struct tr_frame *frame,
		     uint32_t site);
/* Has the innermost function ended unseen, as this call shows? */
bool tr_calls_are_gone(const struct tr_thread *thread,
		       const struct tr_call *call);
/* Ends the functions that are gone. Busy. */
void tr_calls_drop_gone(struct tr_thread *thread, const struct tr_call *call);
/* Is this the end of a function whose scope has already ended? Busy. */
bool tr_call_is_orphan(struct tr_thread *thread, const struct tr_call *call);
/* Counts a call for which there is no place. Busy. */
void tr_calls_enter_deep(struct tr_thread *thread, const struct tr_call *call);
/* False: no deep call is open, and this ends another function. Busy. */
bool tr_calls_exit_deep(struct tr_thread *thread, const struct tr_call *call);

#endif
