/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/layout.h"
#include "read/view.h"
/*
 * Pending: entries that are in a track's log but not in its cells yet.
 */

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
