/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pending: entries that are in a track's log but not yet in its cells, and open
 * scopes and functions.
 */
#include "ledger/layout.h"
#include "read/view.h"

bool tr_pending(const struct tr_image *image, const struct tr_track *track,
		uint64_t *position, const struct tr_entry **ret_entry)
{
	uint64_t at_ = *position, write = track->write;
	uint32_t end = track->log.off + track->log.bytes;

	if (!at_) {
		at_ = track->intent.stage;
		if (at_ & 1)
			at_ += sizeof(struct tr_entry) - 1;
	}
	if (at_ >= write || at_ >> 32 != write >> 32 || (uint32_t)at_ >= end ||
	    write - at_ > TR_RING_INLINE * sizeof(struct tr_entry))
		return false;
	*ret_entry = tr_image_at(image, (uint32_t)at_,
				 sizeof(struct tr_entry), 8);
	*position = at_ + sizeof(struct tr_entry);
	return *ret_entry != NULL;
}

const struct tr_node *tr_open_node(const struct tr_image *image,
				   const struct tr_track *track, uint32_t off,
				   uint32_t *n)
{
	return off != track->root && (*n)++ < TR_MAX_FRAMES ?
		       tr_image_node(image, off) :
		       NULL;
}

/* Functions beyond the limit: go on with the open ones before them. */
uint32_t tr_open_outer(const struct tr_node *node)
{
	return tr_node_is_function(node) && !node->items ? node->back :
							   node->parent;
}

uint64_t tr_open_since(const struct tr_image *image,
		       const struct tr_track *track,
		       const struct tr_node *node, bool *ret_open)
{
	uint64_t at = (uint64_t)((const char *)track - image->base) +
		      TR_FRAMES_AT + node->depth * sizeof(struct tr_frame);
	const struct tr_frame *frame =
		node->depth < TR_MAX_FRAMES ?
			tr_image_at(image, at, sizeof(*frame), 8) :
			NULL;

	*ret_open = frame != NULL;
	if (!frame)
		return 0;
	if (tr_node_is_function(node)) {
		*ret_open = frame->aside != TR_CALL_LEFT;
		return frame->aside & TR_CALL_TIMED ? frame->start : 0;
	}
	return frame->start == TR_FRAME_ASIDE ?
		       frame->aside & ~TR_FRAME_FAILED :
		       frame->start;
}
