/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of allocations: bytes allocated over the whole run. Tags are left out,
 * because their blocks lie in memory that stacks have allocated.
 */
#include <tare/read/alloc.h>

#include "read/view.h"
#include "read/profile.h"

#include <stdlib.h>

#define DEPTH_MOST 1024u /* as stack_depth */

struct alloc_path {
	tare_stack step[DEPTH_MOST + 1]; /* innermost first */
	tare_alloc_frame frame[DEPTH_MOST];
};

static size_t read_path(struct alloc_path *path, tare_view *view,
			const tare_alloc *alloc)
{
	bool is_whole = false;
	size_t n = tare_view_alloc_frames(view, alloc, path->frame, DEPTH_MOST,
					  &is_whole);

	if (n > DEPTH_MOST)
		n = DEPTH_MOST;
	for (size_t i = 0; i < n; i++)
		path->step[i] = (tare_stack){
			.module = path->frame[i].module,
			.address = path->frame[i].address,
		};
	path->step[n] = (tare_stack){
		.kind = !n ? TARE_STACK_LOST :
			is_whole ? TARE_STACK_WHOLE :
				   TARE_STACK_CUT,
		.module = TARE_NO_MODULE,
	};
	return n + 1;
}

static void add_alloc(struct tr_frames *frames, tare_view *view,
		      struct alloc_path *path, const tare_alloc *alloc,
		      unsigned slot)
{
	size_t n = read_path(path, view, alloc);
	uint32_t node = frames->top;

	for (size_t i = 0; i < n; i++)
		node = tr_frames_step(
			frames, view,
			&path->step[frames->is_reverse ? i : n - 1 - i], node);
	tr_frames_weigh(frames, node, slot, alloc->allocs,
			(double)alloc->bytes);
}

int tr_frames_add_allocs(struct tr_frames *frames, tare_view *view,
			 unsigned slot)
{
	const tare_alloc *allocs;
	struct alloc_path *path;
	size_t n;
	int err = tare_view_allocs(view, &allocs, &n);

	if (err)
		return err;
	path = malloc(sizeof(*path));
	if (!path)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (!allocs[i].tag[0] && allocs[i].bytes)
			add_alloc(frames, view, path, &allocs[i], slot);
	free(path);
	return 0;
}
