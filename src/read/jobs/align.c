/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Align: converts the times of a rank to rank 0's clock. All wall times of a
 * view come from the anchors in its copy of the header, so these are changed.
 */
#include "read/view.h"

#include <tare/read/communication.h>

/* Times in a ledger may have any value: avoid overflow. */
static int64_t moved(int64_t time_ns, int64_t ns)
{
	return (int64_t)((uint64_t)time_ns - (uint64_t)ns);
}

static void move_anchor(struct tr_anchor *anchor, int64_t ns)
{
	if (anchor->ticks)
		anchor->real_ns = moved(anchor->real_ns, ns);
}

static void move_image(const struct tr_image *image, int64_t ns)
{
	struct tr_header *header = (struct tr_header *)(uintptr_t)image->base;

	if (!header)
		return;
	move_anchor(&header->start, ns);
	move_anchor(&header->end, ns);
	for (uint32_t i = 0; i < TR_ANCHORS; i++)
		move_anchor(&header->anchor[i], ns);
}

TARE_API int tare_view_align(tare_view *view)
{
	tare_communication comm;
	int64_t ns;
	int err;

	if (!view)
		return TARE_EINVAL;
	err = tare_view_communication(view, &comm);
	if (err || view->is_aligned)
		return err == TARE_ENOENT ? 0 : err;
	view->is_aligned = true;
	ns = (int64_t)(comm.offset_s * 1e9);
	move_image(&view->image, ns);
	if (view->has_baseline)
		move_image(&view->baseline, ns);
	view->run.start_ns = moved(view->run.start_ns, ns);
	view->run.end_ns = moved(view->run.end_ns, ns);
	if (view->cleared_ns)
		view->cleared_ns = moved(view->cleared_ns, ns);
	view->run.cleared_ns = view->cleared_ns;
	return 0;
}
