/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of the GPU: the stack of the call that started it, and below it the
 * kernel or the copy, with the GPU's time. The recorder's own frames and those
 * of the driver, which are between the two, are left out.
 */
#include <tare/read/alloc.h>

#include "base/text.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 1024u
#define NAME_ROOM 65536u

struct gpu_path {
	tare_stack step[DEPTH_MOST + 1]; /* innermost first */
	tare_alloc_frame frame[DEPTH_MOST];
	char room[NAME_ROOM];
};

static bool is_between(tare_view *view, uint32_t module)
{
	static const char *const beginnings[] = { "libtare", "libcupti",
						  "libcuda.so" };
	const char *name = tr_module_name(view, module);

	for (unsigned i = 0; i < TR_N_OF(beginnings); i++)
		if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static size_t read_path(struct gpu_path *path, tare_view *view, uint32_t stack)
{
	tare_alloc of = { .stack = stack };
	bool is_whole = false;
	size_t n = tare_view_alloc_frames(view, &of, path->frame, DEPTH_MOST,
					  &is_whole), first = 0, k = 0;

	if (n > DEPTH_MOST)
		n = DEPTH_MOST;
	while (first < n && is_between(view, path->frame[first].module))
		first++;
	for (size_t i = first; i < n; i++)
		path->step[k++] = (tare_stack){
			.module = path->frame[i].module,
			.address = path->frame[i].address,
		};
	path->step[k++] = (tare_stack){
		.kind = !n ? TARE_STACK_LOST :
			is_whole ? TARE_STACK_WHOLE :
				   TARE_STACK_CUT,
		.module = TARE_NO_MODULE,
	};
	return k;
}

/* The kernel is below its stack; reversed, its stack is below the kernel. */
static void add_gpu(struct tr_frames *frames, tare_view *view,
		    struct gpu_path *room, const struct tr_gpu_path *path,
		    unsigned slot)
{
	size_t n = read_path(room, view, path->stack);
	uint32_t node = frames->top, work = UINT32_MAX;
	tare_place place = { .file = "" };

	place.function = tr_views_text(
		view,
		tr_gpu_work_name(&view->image, path->kind, path->detail,
				 path->name, room->room, NAME_ROOM));
	if (place.function)
		work = tr_frames_function(frames, &place, "GPU");
	if (work == UINT32_MAX) {
		frames->failed = true;
		return;
	}
	if (frames->is_reverse)
		node = tr_frames_child(frames, node, work);
	for (size_t i = 0; i < n; i++)
		node = tr_frames_step(
			frames, view,
			&room->step[frames->is_reverse ? i : n - 1 - i], node);
	if (!frames->is_reverse)
		node = tr_frames_child(frames, node, work);
	tr_frames_weigh(frames, node, slot, path->count,
			(double)path->total_ns);
}

int tr_frames_add_gpu(struct tr_frames *frames, tare_view *view, unsigned slot)
{
	struct gpu_path *room = malloc(sizeof(*room));
	const struct tr_gpu_row *row;
	struct tr_gpu_path path;
	uint64_t at = 0;
	int err = room ? tr_profile_modules(view) : TARE_ENOMEM;

	while (!err && (row = tr_gpu_next_row(&view->image, &at))) {
		if (row->kind != TR_GPU_ROW_PATH || row->bytes < sizeof(path))
			continue;
		path = tr_gpu_path_of(&view->image, row);
		if (path.count)
			add_gpu(frames, view, room, &path, slot);
	}
	free(room);
	return err;
}
