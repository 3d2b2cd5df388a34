/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bars: what a timeline draws, from any source: scopes of the trace rings,
 * operations of the records, stacks of samples.
 *
 * Bars of a thread are nested or disjoint. Bars that really overlap (scopes of
 * fibers) are marked, and drawn in rows of their own.
 */
#ifndef TR_RENDER_TIMELINE_BARS_H
#define TR_RENDER_TIMELINE_BARS_H

#include <tare/read/export.h>
#include <tare/read/profile.h>

#include "read/view.h"

#define TR_NO_RECORD UINT32_MAX

/* Times of a damaged ledger are limited to this, so differences fit. */
#define TR_BAR_LATEST (INT64_MAX / 2)
TR_INLINE int64_t tr_bar_time(int64_t ns)
{
	if (ns > TR_BAR_LATEST)
		return TR_BAR_LATEST;
	return ns < -TR_BAR_LATEST ? -TR_BAR_LATEST : ns;
}

enum tr_bar_flags {
	TR_BAR_FAILED = 1 << 0,
	TR_BAR_APART = 1 << 1,	/* overlaps other bars of its thread */
	TR_BAR_STEP = 1 << 2,	/* in the row of the steps */
	TR_BAR_FRAME = 1 << 3,	/* a function in a sample */
	TR_BAR_OPEN = 1 << 4,	/* had not ended */
	TR_BAR_CUT = 1 << 5,	/* reaches beyond the window */
	TR_BAR_MOMENT = 1 << 6	/* no duration: memory, a GPU, the governor */
};

struct tr_bar {
	int64_t from, to;  /* ns since 1970 */
	int64_t thread;
	const char *name;
	const char *source;
	uint32_t record;   /* index, or TR_NO_RECORD */
	uint32_t flags;	   /* enum tr_bar_flags */
	uint32_t depth;	   /* of two equal bars: the smaller is outer */
};

struct tr_bars {
	tare_view *view;
	const tare_filter *filter; /* NULL: all */
	int64_t from, to;	   /* the window */
	bool with_logs;		   /* see tr_events_read() */
	struct tr_bar *bar;
	size_t n, most;
	const tare_record *records;
	size_t n_records;
	uint64_t left_out;	   /* samples that were too many */
	bool failed;		   /* out of memory */
};

/* Window and view must be set. Sorted by begin; outer bars first. */
int tr_bars_take(struct tr_bars *bars);
void tr_bars_release(struct tr_bars *bars);
/* Clips a bar to the window and adds it, unless it is outside. */
void tr_bars_add(struct tr_bars *bars, struct tr_bar bar);
/* ---- bars_nest.c ------------------------------------------------------- */

/* The most that two clocks may differ by. */
#define TR_BAR_JITTER_NS 2000
/* Scopes nest already; operations without a scope may not. */
int tr_bars_nest(struct tr_bars *bars);

/* ---- bars_samples.c ---------------------------------------------------- */
int tr_bars_add_samples(struct tr_bars *bars);

#endif
