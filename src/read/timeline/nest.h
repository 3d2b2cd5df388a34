/* SPDX-License-Identifier: Apache-2.0 */
/* Nest: makes the events of a thread nested or disjoint. */
#ifndef TR_READ_TIMELINE_NEST_H
#define TR_READ_TIMELINE_NEST_H

#include "read/view.h"

/* Ticks of an event, as its thread wrote them. */
struct tr_ticks {
	uint64_t start, end;
};

/*
 * Events of one thread, in the order of their ends. Times in ns are corrected
 * by at most the difference of clocks; events that really overlap are marked.
 */
void tr_events_nest(const tare_view *view, tare_event *events,
		    const struct tr_ticks *ticks, size_t n);

#endif
