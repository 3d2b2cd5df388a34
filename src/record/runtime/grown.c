/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Grown: the place of a leak, for its warning, if allocations are tracked. The
 * process cannot resolve function names here: the place is a module and an
 * offset, which `tare alloc` turns into a file and a line.
 */
#include "record/runtime.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "record/alloc.h"
#include "record/stacks.h"

#define TR_GROWN_DEPTH 64

static const struct tr_module *module_row(uint32_t number)
{
	const struct tr_region *rows = &tr_ledger->region[TR_REGION_MODULES];

	if (!number || number > TR_LOAD(rows->used) / sizeof(struct tr_module))
		return NULL;
	return (const struct tr_module *)(const void *)(tr_ledger->base +
							rows->off) +
	       number - 1;
}

static const char *module_file(const struct tr_module *module)
{
	const char *path = tr_string_at(TR_LOAD(module->path));
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "prog+0x1234"; false: the stack has no frame of the program itself. */
static bool put_growth_place(uint32_t stack, char *text, size_t size)
{
	for (int i = 0; i < TR_GROWN_DEPTH && stack >= TR_STACK_FIRST; i++) {
		const struct tr_stack *node = tr_stack_at(stack);
		const struct tr_module *module =
			node ? module_row(TR_LOAD(node->module)) : NULL;

		if (!node)
			return false;
		if (module && !tr_module_allocates(module_file(module))) {
			(void)snprintf(text, size, "%.60s+0x%llx",
				       module_file(module),
				       (unsigned long long)
					       (TR_LOAD(node->address) - 1 -
						TR_LOAD(module->bias)));
			return true;
		}
		stack = TR_LOAD(node->parent);
	}
	return false;
}

bool tr_grown(char *text, size_t size)
{
	struct tr_alloc_growth growth;
	char place[96];

	if (!tr_alloc_is_on())
		return false;
	if (!text) {
		tr_alloc_mark();
		return true;
	}
	if (!tr_alloc_growth(&growth) ||
	    !put_growth_place(growth.stack, place, sizeof(place)))
		return false;
	(void)snprintf(text, size,
		       "; most at %s, %s bytes more; see 'tare alloc'", place,
		       tr_as_count(growth.bytes).text);
	return true;
}
