/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Schedule: at which steps events are recorded, for each kind of step.
 *
 *	|-- wait --|-- warm up --|-- record --| file |-- wait --| ...
 *
 * Steps with the same name are one kind. No thread waits for another: each
 * step has a number, and the step whose number is due does the work.
 */
#ifndef TR_RECORD_STEP_SCHEDULE_H
#define TR_RECORD_STEP_SCHEDULE_H

#include "record/step.h"

#define TR_STEP_NAMES 16u
#define TR_STEP_NAME_BYTES 64u

enum tr_phase { TR_PHASE_NONE, TR_PHASE_WAIT, TR_PHASE_WARM, TR_PHASE_RECORD };

/* A plan in use; `record` 0: none. */
struct tr_trace_turns {
	uint64_t skip;	 /* steps before the first turn */
	uint64_t wait, warm, record;
	uint64_t repeat; /* turns; 0: without end */
	uint64_t keep;	 /* files; UINT64_MAX: the option's value */
	char folder[TR_CONFIG_STRING]; /* "": the option's value */
};

/* A kind of step. */
struct tr_kind {
	char name[TR_STEP_NAME_BYTES]; /* "": unnamed steps */
	tare_site *site;	/* its times; NULL: not made yet */
	uint64_t count;		/* steps so far */
	uint64_t due;		/* step of the next turn; UINT64_MAX: none */
	uint32_t generation;	/* of the plans, at the last check */
	uint32_t busy;		/* a thread is in it */
	/* Used by that thread only. */
	uint32_t phase;		/* enum tr_phase */
	bool has_window;	/* tr_step_window() was called */
	uint64_t base;		/* steps before this turn */
	uint64_t turns;		/* turns done */
	uint64_t from;		/* ticks at which recording began */
	struct tr_trace_turns plan;
};

/* The kind with this name; the unnamed one if there are too many. */
struct tr_kind *tr_kind_of(const char *name);
void tr_schedule_reset(void);
/* Step n of a kind has ended. */
void tr_schedule_step(struct tr_kind *kind, uint64_t n, uint64_t now);

#endif
