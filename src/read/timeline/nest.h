/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Nest: events of a thread that lie inside each other or apart.
 */
#ifndef TR_READ_TIMELINE_NEST_H
#define TR_READ_TIMELINE_NEST_H

#include "read/view.h"

/* Of an event, as its thread wrote them. */
struct tr_ticks {
	uint64_t start, end;
};

/*
 * Events of one thread in the order of their ends. Times in ns are moved by
 * what clocks differ, and no further: what really overlaps is marked so.
 */
void tr_events_nest(const tare_view *view, tare_event *events,
		    const struct tr_ticks *ticks, size_t n);

#endif
