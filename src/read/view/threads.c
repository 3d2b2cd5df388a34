/* SPDX-License-Identifier: Apache-2.0 */
/* Threads: the threads that have a track, with their names in the kernel. */
#include "read/view.h"

#include <stdlib.h>
#include <string.h>

static void add_thread(tare_view *view, const struct tr_track *track)
{
	tare_thread *thread = &view->threads[view->n_threads++];

	thread->id = track->owner;
	memcpy(thread->name, track->name, sizeof(thread->name));
	thread->name[sizeof(thread->name) - 1] = '\0';
}

static int read_threads(tare_view *view)
{
	uint32_t n = tr_image_tracks(&view->image);
	const struct tr_track *track;

	if (view->threads)
		return 0;
	view->threads = calloc(n + 1u, sizeof(*view->threads));
	if (!view->threads)
		return TARE_ENOMEM;
	for (uint32_t i = 0;
	     (track = tr_image_next_track(&view->image, &i)) != NULL;)
		if (track->owner)
			add_thread(view, track);
	return 0;
}

TARE_API int tare_view_threads(tare_view *view,
			       const tare_thread **ret_threads, size_t *ret_n)
{
	int err = view && ret_threads && ret_n ? read_threads(view) :
						 TARE_EINVAL;

	if (err)
		return err;
	*ret_threads = view->threads;
	*ret_n = view->n_threads;
	return 0;
}
