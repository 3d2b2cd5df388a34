/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The place of a stack in the program's own code: Python's functions before
 * native ones, and what is installed with packages only if there is nothing
 * else.
 */
#include "read/gpu/parts.h"

#include <stdio.h>
#include <string.h>

#include <tare/read/alloc.h>

#include "base/text.h"
#include "read/profile.h"

#define DEPTH_MOST 512u

static bool is_installed(const char *file)
{
	static const char *const parts[] = { "/site-packages/",
					     "/dist-packages/",
					     "/lib/python3", "<frozen" };

	for (unsigned i = 0; i < TR_N_OF(parts); i++)
		if (strstr(file, parts[i]))
			return true;
	return false;
}

/* Libraries between a program and its GPU, and those of the runtime. */
static bool is_plumbing(const char *module)
{
	static const char *const beginnings[] = {
		"libtare", "libcuda", "libcupti", "libtorch", "libc10",
		"libcublas", "libcudnn", "libpython",
	};

	if (tr_is_runtime_module(module))
		return true;
	for (unsigned i = 0; i < TR_N_OF(beginnings); i++)
		if (strncmp(module, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static void write_place(char *text, size_t size, const tare_place *place)
{
	const char *slash = strrchr(place->file, '/');

	if (place->file[0] && place->line)
		(void)snprintf(text, size, "%s:%u (%s)",
			       slash ? slash + 1 : place->file, place->line,
			       place->function);
	else
		(void)snprintf(text, size, "%s", place->function);
}

static void note_torch(struct tr_gpu_where *where, const char *file)
{
	where->is_loading |= strstr(file, "torch/utils/data/") != NULL;
	where->is_optimizing |= strstr(file, "torch/optim/") != NULL;
}

static void read_stack(struct tr_gpu *gpu, tare_view *view,
		       struct tr_gpu_where *where)
{
	tare_alloc_frame frame[DEPTH_MOST];
	tare_alloc of = { .stack = where->stack };
	char text[300] = "", other[300] = "";
	size_t n;
	const char *copy;

	n = tare_view_alloc_frames(view, &of, frame, DEPTH_MOST, NULL);
	for (size_t i = 0; i < n && i < DEPTH_MOST; i++) {
		const char *module = tr_module_name(view, frame[i].module);
		bool is_python = strcmp(module, TR_PYTHON_MODULE) == 0;
		tare_place place;

		if (!is_python && (is_plumbing(module) || other[0] || text[0]))
			continue;
		if (!tare_view_places(view, frame[i].module, frame[i].address,
				      &place, 1))
			continue;
		if (is_python)
			note_torch(where, place.file);
		if (is_python && !is_installed(place.file) && !text[0])
			write_place(text, sizeof(text), &place);
		else if (!other[0] && !text[0])
			write_place(other, sizeof(other), &place);
	}
	copy = tr_pool_text(&gpu->texts, text[0] ? text : other);
	where->place = copy ? copy : "";
}

const struct tr_gpu_where *tr_gpu_where(struct tr_gpu *gpu, tare_view *view,
					uint32_t stack)
{
	static const struct tr_gpu_where none = { .place = "" };
	uint32_t hash = tr_hash_pair(stack, 1), step = 0, number;
	struct tr_gpu_where *where;

	while ((number = tr_lookup_next(&gpu->by_stack, hash, &step)) !=
	       TR_LOOKUP_NONE)
		if (gpu->where[number].stack == stack)
			return &gpu->where[number];
	if (!stack ||
	    !TR_ARRAY_ROOM(gpu->where, gpu->n_where, gpu->cap_where) ||
	    !tr_lookup_add(&gpu->by_stack, hash, (uint32_t)gpu->n_where))
		return &none;
	where = &gpu->where[gpu->n_where++];
	*where = (struct tr_gpu_where){ .stack = stack };
	read_stack(gpu, view, where);
	return where;
}
