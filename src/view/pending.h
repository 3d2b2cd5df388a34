/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TR_VIEW_SETTLE_H
#define TR_VIEW_SETTLE_H

#include "view/view.h"

/* Completes an update under way in the copy; true if there was one. */
bool tr_settle(const struct tr_image *image, const struct tr_track *track);

/*
 * The next entry that is in the log but not in its cells yet. *position is
 * 0 before the first. False at the end.
 */
bool tr_pending(const struct tr_image *image, const struct tr_track *track,
		uint64_t *position, const struct tr_entry **ret_entry);

#endif
