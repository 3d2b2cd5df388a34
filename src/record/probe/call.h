/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the files of the hooks: calls.c, call_times.c, call_gone.c.
 */
#ifndef TR_RECORD_PROBE_CALL_H
#define TR_RECORD_PROBE_CALL_H

#include "record/probe/calls.h"

/* A call, or the end of one, as the hook tells it. */
struct tr_call {
	uint64_t address, stack;
	uint64_t here; /* bytes from the address to where the hook was called */
	uint32_t site;
	bool is_after; /* that is behind it */
};

/* ---- calls.c ----------------------------------------------------------- */

/* Is it off from outside? Asked by each thread once in a while. */
void tr_calls_look(struct tr_thread *thread);

/* ---- call_times.c ------------------------------------------------------ */

/* The time of a function that ends. Busy. */
void tr_call_finish(struct tr_thread *thread, uint32_t off,
		    const struct tr_frame *frame);

/* ---- call_gone.c ------------------------------------------------------- */

/* Was it called from there, as far as that is known? */
bool tr_call_is_from(const struct tr_node *node, const struct tr_frame *frame,
		     uint32_t site);
/* Is the innermost function gone, now that there is this call? */
bool tr_calls_are_gone(const struct tr_thread *thread,
		       const struct tr_call *call);
/* Ends those that are. Busy. */
void tr_calls_drop_gone(struct tr_thread *thread, const struct tr_call *call);
/* Is it the end of a function in a scope that has ended before? Busy. */
bool tr_call_is_orphan(struct tr_thread *thread, const struct tr_call *call);
/* A call for which there is no place. Busy. */
void tr_calls_enter_deep(struct tr_thread *thread, const struct tr_call *call);
/* False: what was too deep is gone, and this is the end of another. Busy. */
bool tr_calls_exit_deep(struct tr_thread *thread, const struct tr_call *call);

#endif
