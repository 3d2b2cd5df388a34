/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Module table: all modules that were ever loaded, by number.
 *
 * A number is never given to another module. A module that is loaded again at
 * the same address gets its old number, so that a program that loads and
 * unloads a module repeatedly does not use up the numbers.
 *
 * One thread at a time: the one that looks for modules (module.c).
 */
#include "record/unwind/list.h"

#include <string.h>
#include <unistd.h>

#define TR_MODULE_TABLE_MAX 16384u
#define TR_PATH_MOST 4096u

struct module_entry {
	struct tr_unwind_module module;
	bool is_here, is_seen, is_staying;
};

static struct module_entry *entries;
static uint32_t n_entries;

bool tr_module_table_init(void)
{
	if (!entries)
		entries = tr_memory_map(TR_MODULE_TABLE_MAX * sizeof(*entries));
	return entries != NULL;
}

/* Paths are never freed: there are few modules. */
static const char *keep_path(const char *path)
{
	static char *chunk;
	static size_t left;
	size_t n = strlen(path) + 1;
	char *copy;

	if (n > TR_PATH_MOST)
		return "";
	if (n > left) {
		left = 8 * TR_PATH_MOST;
		chunk = tr_memory_map(left);
		if (!chunk)
			left = 0;
	}
	if (n > left)
		return "";
	copy = chunk;
	memcpy(copy, path, n);
	chunk += n;
	left -= n;
	return copy;
}

/*
 * The program has no name here, and a module that was loaded from "./x.so" has
 * one that is valid only in the folder of that time.
 */
static const char *full_path(const struct tr_listed *listed, char *path,
			     size_t size)
{
	const char *name = listed->module.path;
	ssize_t n;

	if (name[0] == '/' || name[0] == '[')
		return name;
	if (name[0])
		return tr_maps_path(listed->module.from, path, size) ? path :
								       name;
	n = readlink("/proc/self/exe", path, size - 1);
	if (n <= 0)
		return name;
	path[n] = '\0';
	tr_maps_cut_deleted(path);
	return path;
}

static bool is_same_module(const struct module_entry *one,
			   const struct tr_listed *two)
{
	const struct tr_unwind_module *a = &one->module, *b = &two->module;

	return a->from == b->from && a->to == b->to && a->bias == b->bias &&
	       a->id_bytes == b->id_bytes &&
	       memcmp(a->id, b->id, a->id_bytes) == 0 &&
	       (b->path[0] != '/' || a->id_bytes ||
		strcmp(a->path, b->path) == 0);
}

static uint32_t find_module(const struct tr_listed *listed)
{
	for (uint32_t i = n_entries; i-- > 0;)
		if (is_same_module(&entries[i], listed))
			return i;
	return UINT32_MAX;
}

static uint32_t add_module(const struct tr_listed *listed)
{
	static char path[TR_PATH_MOST]; /* stacks of handlers are small */
	struct module_entry *to;

	if (n_entries == TR_MODULE_TABLE_MAX)
		return TR_UNWIND_NO_MODULE;
	to = &entries[n_entries];
	memset(to, 0, sizeof(*to));
	to->module = listed->module;
	to->module.path = keep_path(full_path(listed, path, sizeof(path)));
	return n_entries++;
}

void tr_module_table_compare(struct tr_list *list,
			     const struct tr_unwind_watch *watch)
{
	for (uint32_t i = 0; i < list->n; i++) {
		struct tr_listed *listed = &list->at[i];
		struct module_entry *is;

		listed->number = TR_UNWIND_NO_MODULE;
		if (!listed->n_codes)
			continue;
		listed->number = find_module(listed);
		if (listed->number == UINT32_MAX)
			listed->number = add_module(listed);
		if (listed->number == TR_UNWIND_NO_MODULE)
			continue;
		is = &entries[listed->number];
		is->is_seen = true;
		is->is_staying |= listed->is_staying;
		listed->is_staying = is->is_staying;
		if (!is->is_here && watch->came)
			watch->came(listed->number, &is->module);
		is->is_here = true;
	}
}

void tr_module_table_gone(const struct tr_list *by,
			  const struct tr_unwind_watch *watch)
{
	for (uint32_t i = 0; i < n_entries; i++) {
		struct module_entry *is = &entries[i];
		bool is_new = is->is_seen;

		is->is_seen = false;
		if (is_new || !is->is_here ||
		    (by &&
		     !tr_list_has(by, is->module.from, is->module.to)))
			continue;
		is->is_here = false;
		if (watch->gone)
			watch->gone(i);
	}
}

bool tr_module_table_is_all(const struct tr_list *list)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < n_entries; i++)
		n += entries[i].is_here;
	for (uint32_t i = 0; i < list->n; i++) {
		uint32_t number;

		if (!list->at[i].n_codes)
			continue;
		number = find_module(&list->at[i]);
		if (number == UINT32_MAX || !entries[number].is_here || !n--)
			return false;
	}
	return !n;
}

void tr_module_table_report(const struct tr_unwind_watch *watch)
{
	for (uint32_t i = 0; i < n_entries; i++)
		if (entries[i].is_here && watch->came)
			watch->came(i, &entries[i].module);
}
