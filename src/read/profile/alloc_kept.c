/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations that are live at the end of a program on purpose: pools and
 * buffers of libraries that exist once, and are never freed.
 *
 * A rule names the innermost function outside of allocators, or the module it
 * is in. So a leak of the program is never one of them, whatever it called.
 */
#include "read/profile.h"

#include <tare/read/alloc.h>

#include <string.h>

#include "base/text.h"

#define FRAMES_MOST 128u
#define INLINED_MOST 32u

static const struct {
	const char *what;
	const char *module;   /* globs; NULL: any */
	const char *function; /* of the innermost function, or inlined in it */
	const char *within;   /* of a module further out */
} kept[] = {
	/* The pool from which exceptions are thrown without memory: 71 KiB. */
	{ "libstdc++", "libstdc++.so*", NULL, "ld-*" },
	{ "libstdc++", NULL, "*__gnu_cxx*__freeres*", NULL },
	{ "libstdc++", NULL, "*::pool::pool*", NULL },
	{ "libstdc++", NULL, "_GLOBAL__sub_I_eh_alloc*", NULL },
	{ "stdio", NULL, "_IO_file_doallocate", NULL },
	{ "stdio", NULL, "__stdio_*", NULL },
	{ "locale", "libc.so*", "_nl_*", NULL },
	{ "locale", "libc.so*", "setlocale", NULL },
	{ "locale", "libstdc++.so*", "std::locale::*", NULL },
	{ "dynamic linker", "ld-*", NULL, NULL },
	{ "dynamic linker", "libc.so*", "_dl*", NULL },
};

struct stack {
	tare_view *view;
	tare_alloc_frame frame[FRAMES_MOST];
	size_t n, first; /* the first outside of tare and of allocators */
};

static bool is_allocator(tare_view *view, const tare_alloc_frame *frame)
{
	static const char *const names[] = { "malloc", "calloc", "realloc",
					     "operator new*" };
	tare_place place;

	if (tr_module_name_is_own(tr_module_name(view, frame->module)))
		return true;
	if (!tare_view_places(view, frame->module, frame->address, &place, 1))
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (tr_glob_match(names[i], place.function))
			return true;
	return false;
}

static void read_stack(struct stack *stack, tare_view *view,
		       const tare_alloc *alloc)
{
	stack->view = view;
	stack->n = tare_view_alloc_frames(view, alloc, stack->frame,
					  FRAMES_MOST, NULL);
	if (stack->n > FRAMES_MOST)
		stack->n = FRAMES_MOST;
	stack->first = 0;
	while (stack->first < stack->n &&
	       is_allocator(view, &stack->frame[stack->first]))
		stack->first++;
}

static bool has_module(const struct stack *stack, size_t i, const char *glob)
{
	return !glob || tr_glob_match(glob,
				      tr_module_name(stack->view,
						     stack->frame[i].module));
}

static bool has_function(const struct stack *stack, size_t i, const char *glob)
{
	tare_place place[INLINED_MOST];
	size_t n;

	if (!glob)
		return true;
	n = tare_view_places(stack->view, stack->frame[i].module,
			     stack->frame[i].address, place, INLINED_MOST);
	for (size_t k = 0; k < n && k < INLINED_MOST; k++)
		if (tr_glob_match(glob, place[k].function))
			return true;
	return false;
}

static bool is_within(const struct stack *stack, const char *module)
{
	for (size_t i = stack->first + 1; module && i < stack->n; i++)
		if (has_module(stack, i, module))
			return true;
	return !module;
}

const char *tr_alloc_kept_by(tare_view *view, const tare_alloc *alloc)
{
	struct stack stack;

	read_stack(&stack, view, alloc);
	if (stack.first == stack.n)
		return NULL;
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (has_module(&stack, stack.first, kept[i].module) &&
		    has_function(&stack, stack.first, kept[i].function) &&
		    is_within(&stack, kept[i].within))
			return kept[i].what;
	return NULL;
}

bool tr_alloc_matches(tare_view *view, const tare_alloc *alloc,
		      const char *glob)
{
	struct stack stack;

	if (alloc->tag[0])
		return tr_glob_match(glob, alloc->tag);
	read_stack(&stack, view, alloc);
	for (size_t i = stack.first; i < stack.n; i++)
		if (has_function(&stack, i, glob) ||
		    has_module(&stack, i, glob))
			return true;
	return false;
}
