/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stack of an allocation, and the place in the program that allocated.
 *
 * operator new, strdup or std::vector allocate for their callers and are of no
 * interest. So frames in such libraries are skipped, and so are functions that
 * were inlined from the C++ library, and those of Rust's standard library.
 */
#include "read/profile/allocs.h"
#include "read/profile.h"

#include <string.h>

#define DEPTH_MOST 4096u  /* more is damage; stack_depth is at most 1024 */
#define INLINED_MOST 32u
#define FRAMES_MOST 256u

/* Functions to skip in any module. */
static const char *const wrappers[] = {
	"operator new", "operator delete", "std::", "__gnu_cxx::",
	"malloc", "calloc", "realloc", "xmalloc", "xcalloc", "xrealloc",
	"xstrdup", "xstrndup", "g_malloc", "g_realloc", "g_strdup", NULL
};

/*
 * Names of template functions begin with the return type: "char*& std::vector<
 * char*, ...>::emplace_back<char*>(char*&&)".
 */
static const char *without_return_type(const char *name)
{
	const char *from = name;
	int inside = 0;

	for (const char *at = name; *at && (inside || *at != '('); at++) {
		if (strncmp(at, "operator", 8) == 0)
			break;
		inside += (*at == '<') - (*at == '>');
		if (*at == ' ' && !inside)
			from = at + 1;
	}
	return from;
}

static bool begins_with_any(const char *text, const char *const *beginnings)
{
	for (; *beginnings; beginnings++)
		if (strncmp(text, *beginnings, strlen(*beginnings)) == 0)
			return true;
	return false;
}

TARE_API size_t tare_view_alloc_frames(tare_view *view,
				       const tare_alloc *alloc,
				       tare_alloc_frame *frames, size_t most,
				       bool *ret_whole)
{
	const struct tr_stack *row;
	uint64_t rows;
	uint32_t number;
	size_t n = 0;

	if (!view || !alloc || (most && !frames))
		return 0;
	row = tr_image_rows(&view->image, TR_REGION_STACKS, sizeof(*row),
			    &rows, NULL);
	number = alloc->stack;
	while (number >= TR_STACK_FIRST && number < rows && n < DEPTH_MOST &&
	       row[number].flags & TR_STACK_READY) {
		bool is_exact = row[number].flags &
				(TR_STACK_EXACT | TR_STACK_PYTHON);

		if (n < most) {
			frames[n].module = tr_stack_module(view, &row[number]);
			frames[n].address = row[number].address -
					    (!is_exact && row[number].address);
		}
		n++;
		/* A caller is stored before its callee: no cycle. */
		if (row[number].parent >= number)
			break;
		number = row[number].parent;
	}
	if (ret_whole)
		*ret_whole = number == TR_STACK_WHOLE;
	return n;
}

/* The innermost function of the program in this frame, if there is one. */
static bool find_place(tare_view *view, const tare_alloc_frame *frame,
		       tare_place *ret_place)
{
	tare_place places[INLINED_MOST];
	size_t n = tare_view_places(view, frame->module, frame->address,
				    places, INLINED_MOST);

	for (size_t i = 0; i < n && i < INLINED_MOST; i++)
		if (!tr_place_is_rust(&places[i]) &&
		    !begins_with_any(without_return_type(places[i].function),
				     wrappers)) {
			*ret_place = places[i];
			return true;
		}
	return false;
}

/*
 * The innermost Python function, if there is one: it asked for what the
 * interpreter and libraries in C allocated.
 */
static bool find_python(tare_view *view, const tare_alloc_frame *frames,
			size_t n, tare_place *ret_place)
{
	if (!tr_python_is_sampled(view))
		return false;
	for (size_t i = 0; i < n; i++)
		if (frames[i].module == view->profile.python_module)
			return tare_view_places(view, frames[i].module,
						frames[i].address, ret_place,
						1) > 0;
	return false;
}

static void place_of_tag(const tare_alloc *alloc, tare_place *ret_place)
{
	*ret_place = (tare_place){
		.function = alloc->tag[0] ? alloc->tag : "(stack lost)",
		.file = "",
	};
}

TARE_API void tare_view_alloc_place(tare_view *view, const tare_alloc *alloc,
				    tare_place *ret_place,
				    uint32_t *ret_module)
{
	tare_alloc_frame frames[FRAMES_MOST];
	size_t n = tare_view_alloc_frames(view, alloc, frames, FRAMES_MOST,
					  NULL);
	uint32_t module = TARE_NO_MODULE;

	if (!view || !alloc || !ret_place)
		return;
	place_of_tag(alloc, ret_place);
	n = n < FRAMES_MOST ? n : FRAMES_MOST;
	module = tr_python_is_sampled(view) ? view->profile.python_module :
					      TARE_NO_MODULE;
	if (find_python(view, frames, n, ret_place))
		goto found;
	for (size_t i = 0; i < n; i++) {
		module = frames[i].module;
		if (!tr_module_allocates(tr_module_name(view, module)) &&
		    find_place(view, &frames[i], ret_place))
			goto found;
	}
	module = TARE_NO_MODULE;
	/* None is the program's: take the innermost that is not tare. */
	for (size_t i = 0; i < n; i++) {
		module = frames[i].module;
		if (tr_module_name_is_own(tr_module_name(view, module)))
			continue;
		(void)tare_view_places(view, module, frames[i].address,
				       ret_place, 1);
		break;
	}
found:
	if (ret_module)
		*ret_module = module;
}
