/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/timeline/: when something happened: single events, scopes that
 * are still open, points of gauges.
 *
 * Comes in: logs and slices of a view's image. Goes out: events and points in
 * order of time. Called by: read/readings, read/jobs, render/timeline.
 */
#ifndef TR_READ_TIMELINE_H
#define TR_READ_TIMELINE_H

#include "read/view.h"

/* ---- events.c ---------------------------------------------------------- */

/* Name and kind of what a node is; false: nothing to show. */
bool tr_event_name(tare_view *view, const struct tr_node *node,
		   tare_event *event);

/* ---- events.c ---------------------------------------------------------- */

/*
 * Reads them, before anybody asked. `with_logs`: also those that a thread has
 * in its small log, where tracing began while the program ran.
 */
int tr_events_read(tare_view *view, bool with_logs);

/* ---- unfinished.c ------------------------------------------------------ */

/* Scopes that are open, with the time they have run. Gives (free). */
int tr_view_unfinished(tare_view *view, tare_event **ret_events,
		       size_t *ret_n);

/* ---- timeline.c -------------------------------------------------------- */

/* A value of a site: a single one, or the mean of a time slice. */
struct tr_point {
	int64_t at_ns; /* ns since 1970; of a slice, its beginning */
	uint32_t site;
	double value;
};

/*
 * All that the ledger still has apart, in order of time, of gauges; `to_now`:
 * and each one's value now, at the view's end. Gives (free).
 */
int tr_view_points(tare_view *view, bool to_now,
		   struct tr_point **ret_points, size_t *ret_n);

#endif
