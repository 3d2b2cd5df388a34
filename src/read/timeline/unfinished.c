/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unfinished: scopes that were open when the view was taken. They are in no
 * ring, because an entry is written at the end of a scope.
 */
#include "read/view.h"
#include "ledger/layout.h"
#include "read/timeline.h"

#include <stdlib.h>

#include "base/text.h"

struct opened {
	tare_view *view;
	const struct tr_track *track;
	tare_event *event;
	size_t n, most;
};

static bool add_node(struct opened *opened, const struct tr_node *node)
{
	tare_view *view = opened->view;
	const struct tr_image *image = &view->image;
	bool is_open;
	uint64_t start = tr_open_since(image, opened->track, node, &is_open);
	tare_event event = { .name = "" };

	if (!start || start & TR_FRAME_UNTIMED || start >= view->now_ticks ||
	    !tr_event_name(view, node, &event))
		return true;
	if (!TR_ARRAY_ROOM(opened->event, opened->n, opened->most))
		return false;
	event.depth = node->depth ? node->depth - 1 : 0;
	event.thread = opened->track->owner;
	event.start_ns = tr_time_real(image, start);
	event.duration_ns = tr_view_duration_ns(view, view->now_ticks - start);
	event.ok = true;
	event.overlaps = false;
	opened->event[opened->n++] = event;
	return true;
}

static bool add_track(struct opened *opened)
{
	uint32_t off = opened->track->current, n = 0;
	const struct tr_node *node;

	for (; (node = tr_open_node(&opened->view->image, opened->track, off,
				    &n)) != NULL;
	     off = tr_open_outer(node))
		if (!add_node(opened, node))
			return false;
	return true;
}

int tr_view_unfinished(tare_view *view, tare_event **ret_events,
		       size_t *ret_n)
{
	struct opened opened = { .view = view };

	for (uint32_t i = 0;
	     (opened.track = tr_image_next_track(&view->image, &i)) != NULL;)
		if (!add_track(&opened)) {
			free(opened.event);
			return TARE_ENOMEM;
		}
	*ret_events = opened.event;
	*ret_n = opened.n;
	return 0;
}
