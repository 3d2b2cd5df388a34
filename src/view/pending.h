/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TR_VIEW_PENDING_H
#define TR_VIEW_PENDING_H

#include "view/view.h"

/*
 * The next entry that is in the log but not in its cells yet. *position is
 * 0 before the first. False at the end.
 */
bool tr_pending(const struct tr_image *image, const struct tr_track *track,
		uint64_t *position, const struct tr_entry **ret_entry);

#endif
