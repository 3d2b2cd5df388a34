/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of record/step: the state of the steps, and the watch on
 * memory.
 */
#ifndef TR_RECORD_STEP_PACE_H
#define TR_RECORD_STEP_PACE_H

#include "record/step/leak.h"
#include "record/step.h"

#define TR_DURATIONS 1024u /* durations kept for a line */

/* The steps since the last line. */
struct tr_pace {
	uint64_t steps, items; /* so far; items of timed steps */
	uint64_t ticks;	       /* now */
	/* seconds, the last n, unordered */
	const float *duration;
	unsigned n_durations;
	double seconds;	       /* since the previous line */
	uint64_t steps_since, items_since;
};

/* Logs `text`, if there is a log. With the lock only. */
void tr_step_message(enum tare_level level, const char *text);

/* ---- line.c ------------------------------------------------------------ */

void tr_pace_line(const struct tr_pace *pace);
void tr_pace_line_reset(void);

/* ---- components.c: by the holder of the lock alone --------------------- */

/* Each component's part of the steps since the last line, if requested. */
void tr_components_line(const struct tr_pace *pace, bool is_told);
void tr_components_reset(void);

/* ---- watch.c: by the holder of the lock alone -------------------------- */

void tr_watch_reset(void);
/* Reads memory into the series at this step, and checks for leaks if due. */
void tr_watch_step(uint64_t step);
bool tr_watch_is_due(uint64_t step, uint64_t now);
/* When the next reading is due: at a step, or by the ledger's clock. */
void tr_watch_due(uint64_t *ret_step, uint64_t *ret_ticks);
/* Checks all kinds of memory; returns their number. */
size_t tr_watch_look(tare_leak *ret_leaks, size_t size, uint64_t step,
		     bool is_last);
/* Resident memory at the last reading; UINT64_MAX: not known. */
uint64_t tr_watch_rss(void);
/* Ticks that readings and checks took so far. */
uint64_t tr_watch_cost(void);

#endif
