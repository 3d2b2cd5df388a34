/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the parts of step/: the state of the steps, and the watch on
 * memory.
 */
#ifndef TR_RECORD_STEP_PACE_H
#define TR_RECORD_STEP_PACE_H

#include "record/step/leak.h"
#include "record/step.h"

#define TR_DURATIONS 1024u /* durations kept for a line */

/* Of the steps since the last line. */
struct tr_pace {
	uint64_t steps, items; /* so far; of steps that have a time */
	uint64_t ticks;	       /* now */
	/* seconds, the last n of them, in no order */
	const float *duration;
	unsigned n_durations;
	double seconds;	       /* since the line before */
	uint64_t steps_since, items_since;
};

/* Says `format` to the log, if there is one. Holder of the lock only. */
void tr_step_message(enum tare_level level, const char *text);

/* ---- line.c ------------------------------------------------------------ */

void tr_pace_line(const struct tr_pace *pace);
void tr_pace_line_reset(void);

/* ---- components.c: by the holder of the lock alone --------------------- */

/* What each component took of the steps since the last line, if wanted. */
void tr_components_line(const struct tr_pace *pace, bool is_told);
void tr_components_reset(void);

/* ---- watch.c: by the holder of the lock alone -------------------------- */

void tr_watch_reset(void);
/* Reads memory into the series of this step, and looks if it is time to. */
void tr_watch_step(uint64_t step);
bool tr_watch_is_due(uint64_t step, uint64_t now);
/* When the next reading is due: at a step, or by the ledger's clock. */
void tr_watch_due(uint64_t *ret_step, uint64_t *ret_ticks);
/* A look at all kinds; how many there are. */
size_t tr_watch_look(tare_leak *ret_leaks, size_t size, uint64_t step,
		     bool is_last);
/* Resident memory at the last reading; UINT64_MAX: not known. */
uint64_t tr_watch_rss(void);
/* Ticks that readings and looks took so far. */
uint64_t tr_watch_cost(void);

#endif
