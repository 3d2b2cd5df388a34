/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of the call tree: scopes, and functions timed by hooks. */
#include "read/view.h"
#include "read/profile.h"

#include <stdlib.h>

/* The path from the outermost call to the current one, by depth. */
struct at_depth {
	uint32_t function, node;
};

struct calls {
	tare_view *view;
	const tare_node *at;
	size_t n;
};

static const struct tr_site *site_of(const struct calls *calls, size_t i)
{
	return tr_image_site(&calls->view->image, calls->at[i].site);
}

static uint32_t call_function(struct tr_frames *frames,
			      const struct calls *calls, size_t i)
{
	const struct tr_site *site = site_of(calls, i);
	tare_place place = { .function = calls->at[i].name, .file = "" };

	if (calls->at[i].is_function) {
		place.file = calls->at[i].file;
		place.first_line = calls->at[i].line;
	} else if (site) {
		place.file = tr_image_string(&calls->view->image, site->file);
		place.first_line = site->line;
	}
	return tr_frames_function(frames, &place, calls->at[i].source);
}

/* A step includes the time of the scopes in it, which are also in the tree. */
static bool is_counted_twice(const struct calls *calls, size_t i)
{
	const struct tr_site *site = site_of(calls, i);

	return calls->n > 1 && site && site->flags & TR_SITE_OVERLAP;
}

static uint32_t node_of(struct tr_frames *frames, const struct at_depth *path,
			uint32_t depth)
{
	uint32_t node = frames->top;

	if (!frames->is_reverse)
		return tr_frames_child(frames,
				       depth ? path[depth - 1].node : node,
				       path[depth].function);
	for (uint32_t d = depth + 1; d-- > 0;)
		node = tr_frames_child(frames, node, path[d].function);
	return node;
}

/* Callers come before their callees. */
static void add_calls(struct tr_frames *frames, const struct calls *calls,
		      unsigned slot, struct at_depth *path)
{
	for (size_t i = 0; i < calls->n; i++) {
		const tare_node *call = &calls->at[i];
		struct at_depth *at = &path[call->depth];

		if (is_counted_twice(calls, i))
			continue;
		at->function = call_function(frames, calls, i);
		at->node = node_of(frames, path, call->depth);
		tr_frames_weigh(frames, at->node, slot, call->calls,
				call->net_own_ns);
	}
}

int tr_frames_add_calls(struct tr_frames *frames, tare_view *view,
			unsigned slot)
{
	struct calls calls = { .view = view };
	struct at_depth *path;
	uint32_t deepest = 0;
	int err = tare_view_tree(view, &calls.at, &calls.n);

	if (err)
		return err;
	for (size_t i = 0; i < calls.n; i++)
		if (calls.at[i].depth > deepest)
			deepest = calls.at[i].depth;
	path = calloc(deepest + (size_t)1, sizeof(*path));
	if (!path)
		return TARE_ENOMEM;
	add_calls(frames, &calls, slot, path);
	free(path);
	return 0;
}
