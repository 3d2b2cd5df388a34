/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unfinished: scopes that were open when the view was taken. No ring has
 * them: an entry is written at a scope's end.
 */
#include "read/view.h"
#include "ledger/layout.h"
#include "read/timeline.h"

#include <stdlib.h>

struct opened {
	tare_view *view;
	const struct tr_track *track;
	tare_event *event;
	size_t n, most;
};

static bool add_event(struct opened *opened)
{
	if (opened->n == opened->most) {
		size_t most = opened->most ? 2 * opened->most : 64;
		tare_event *event = realloc(opened->event,
					    most * sizeof(*event));

		if (!event)
			return false;
		opened->event = event;
		opened->most = most;
	}
	opened->n++;
	return true;
}

static const struct tr_node *open_node(const struct opened *opened,
				       uint32_t off)
{
	return tr_image_at(&opened->view->image, (uint64_t)off + TR_NODE_BIAS,
			   sizeof(struct tr_node), TR_LINE);
}

/* Ticks at which what a node stands for was begun; 0: not known. */
static uint64_t begun(const struct opened *opened, const struct tr_node *node)
{
	uint32_t depth = node->depth;
	uint64_t at = (uint64_t)((const char *)opened->track -
				 opened->view->image.base) +
		      TR_FRAMES_AT + depth * sizeof(struct tr_frame);
	const struct tr_frame *frame =
		depth < TR_MAX_FRAMES ? tr_image_at(&opened->view->image, at,
						    sizeof(*frame), 8) :
					NULL;

	if (!frame)
		return 0;
	if (tr_node_is_function(node))
		return frame->aside & TR_CALL_TIMED ? frame->start : 0;
	return frame->start == TR_FRAME_ASIDE ?
		       frame->aside & ~TR_FRAME_FAILED :
		       frame->start;
}

static bool add_node(struct opened *opened, const struct tr_node *node)
{
	tare_view *view = opened->view;
	const struct tr_image *image = &view->image;
	uint64_t start = begun(opened, node);
	tare_event event = { .name = "" };

	if (!start || start & TR_FRAME_UNTIMED || start >= view->now_ticks ||
	    !tr_event_name(view, node, &event))
		return true;
	if (!add_event(opened))
		return false;
	event.depth = node->depth ? node->depth - 1 : 0;
	event.thread = opened->track->owner;
	event.start_ns = tr_time_real(image, start);
	event.duration_ns = tr_view_duration_ns(view, view->now_ticks - start);
	event.ok = true;
	event.overlaps = false;
	opened->event[opened->n - 1] = event;
	return true;
}

static bool add_track(struct opened *opened)
{
	uint32_t off = opened->track->current;

	for (uint32_t n = 0; off != opened->track->root && n < TR_MAX_FRAMES;
	     n++) {
		const struct tr_node *node = open_node(opened, off);

		if (!node)
			return true;
		if (!add_node(opened, node))
			return false;
		/* Functions without a place: go on with those before them. */
		off = tr_node_is_function(node) && !node->items ?
			      node->back :
			      node->parent;
	}
	return true;
}

int tr_view_unfinished(tare_view *view, tare_event **ret_events,
		       size_t *ret_n)
{
	struct opened opened = { .view = view };

	for (uint32_t i = 0; i < tr_image_tracks(&view->image); i++) {
		opened.track = tr_image_track(&view->image, i);
		if (opened.track && !add_track(&opened)) {
			free(opened.event);
			return TARE_ENOMEM;
		}
	}
	*ret_events = opened.event;
	*ret_n = opened.n;
	return 0;
}
