/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settle: which modules cannot be unloaded, so that their tables may be read
 * directly: the program, and whatever it or one of these needs (DT_NEEDED).
 * The dynamic linker never unloads these. Plugins are not among them: their
 * data are copied by a call that can fail, at ten times the cost.
 */
#include "record/unwind/list.h"

#include <elf.h>
#include <string.h>

#define TR_NEEDED_MOST 1024u

/* Addresses there may or may not have been relocated. */
static uint64_t in_module(const struct tr_listed *listed, uint64_t address)
{
	return address < listed->module.bias ? address + listed->module.bias :
					       address;
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/*
 * The first module of that name: a later one of the same name may be unloaded.
 */
static void mark_needed(struct tr_list *list, const char *name)
{
	for (uint32_t i = 0; i < list->n; i++) {
		struct tr_listed *listed = &list->at[i];
		const char *path = listed->module.path;

		if (strcmp(strchr(name, '/') ? path : last_part(path), name))
			continue;
		listed->is_staying = true;
		return;
	}
}

/* For a module that stays: its dynamic section may be read. */
static void mark_all_needed(struct tr_list *list,
			    const struct tr_listed *listed)
{
	const ElfW(Dyn) *dynamic = (const void *)(uintptr_t)listed->dynamic;
	uint64_t n = listed->dynamic_bytes / sizeof(*dynamic);
	const char *texts = NULL;
	uint64_t bytes = 0;

	for (uint64_t i = 0; i < n && dynamic[i].d_tag != DT_NULL; i++) {
		uint64_t value = dynamic[i].d_un.d_val;

		if (dynamic[i].d_tag == DT_STRTAB)
			texts = (const void *)(uintptr_t)in_module(listed,
								   value);
		else if (dynamic[i].d_tag == DT_STRSZ)
			bytes = value;
	}
	for (uint64_t i = 0; texts && i < n && i < TR_NEEDED_MOST &&
			     dynamic[i].d_tag != DT_NULL; i++)
		if (dynamic[i].d_tag == DT_NEEDED &&
		    dynamic[i].d_un.d_val < bytes)
			mark_needed(list, texts + dynamic[i].d_un.d_val);
}

void tr_list_settle(struct tr_list *list)
{
	bool is_any = true;

	while (is_any) {
		is_any = false;
		for (uint32_t i = 0; i < list->n; i++) {
			struct tr_listed *listed = &list->at[i];

			if (!listed->is_staying || listed->is_settled)
				continue;
			listed->is_settled = is_any = true;
			if (listed->dynamic)
				mark_all_needed(list, listed);
		}
	}
}
