/* SPDX-License-Identifier: Apache-2.0 */
#include "alloc_groups.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tare/error.h>

#include "render/output.h"
#include "server/hash.h"

#define PATH_MOST 4096u /* bytes of a call path */
#define NAME_MOST 64u	/* bytes; longer names are shortened */
#define FRAMES_MOST 128u
#define PLACES_MOST 16u

enum alloc_by alloc_by(const char *text)
{
	if (text && strcmp(text, "path") == 0)
		return ALLOC_BY_PATH;
	if (text && strcmp(text, "module") == 0)
		return ALLOC_BY_MODULE;
	return ALLOC_BY_PLACE;
}

/* ---- names ------------------------------------------------------------- */

/* "function (file.c:12)"; long names without their arguments */
static size_t put_place(char *text, size_t size, const tare_place *place)
{
	const char *file = strrchr(place->file, '/');
	const char *name = place->function;
	char brief[TR_BRIEF_BYTES];
	int n;

	if (strlen(name) > NAME_MOST)
		name = tr_name_brief(name, brief);
	file = file ? file + 1 : place->file;
	if (!file[0])
		n = snprintf(text, size, "%s", name);
	else
		n = snprintf(text, size, "%s (%s:%u)", name, file,
			     place->line);
	if (n < 0)
		return 0;
	return (size_t)n < size ? (size_t)n : size - 1;
}

static void name_place(tare_view *view, const tare_alloc *row, char *text)
{
	tare_place place;

	tare_view_alloc_place(view, row, &place, NULL);
	(void)put_place(text, PATH_MOST, &place);
}

static void name_module(tare_view *view, const tare_alloc *row, char *text)
{
	const tare_module *modules;
	tare_place place;
	uint32_t module;
	size_t n;

	tare_view_alloc_place(view, row, &place, &module);
	if (row->tag[0])
		(void)snprintf(text, PATH_MOST, "%s", row->tag);
	else if (tare_view_modules(view, &modules, &n) || module >= n)
		(void)snprintf(text, PATH_MOST, "(no module)");
	else
		(void)snprintf(text, PATH_MOST, "%s", modules[module].name);
}

/* tare's own frames are in all paths: "libtare.so.0", "libtare-alloc.so". */
static bool is_ours(tare_view *view, uint32_t module)
{
	const tare_module *modules;
	size_t n;

	return !tare_view_modules(view, &modules, &n) && module < n &&
	       (strncmp(modules[module].name, "libtare.", 8) == 0 ||
		strncmp(modules[module].name, "libtare-", 8) == 0);
}

/* The allocating function first, then its callers. */
static void name_path(tare_view *view, const tare_alloc *row, char *text)
{
	tare_alloc_frame frames[FRAMES_MOST];
	tare_place places[PLACES_MOST];
	size_t n = tare_view_alloc_frames(view, row, frames, FRAMES_MOST, NULL);
	size_t used = 0;

	if (!n) {
		name_place(view, row, text);
		return;
	}
	text[0] = '\0';
	for (size_t i = 0; i < n && i < FRAMES_MOST; i++) {
		size_t inlined;

		if (is_ours(view, frames[i].module))
			continue;
		inlined = tare_view_places(view, frames[i].module,
					   frames[i].address, places,
					   PLACES_MOST);
		for (size_t k = 0; k < inlined && k < PLACES_MOST; k++) {
			if (used && used + 5 < PATH_MOST) {
				memcpy(text + used, " < ", 4);
				used += 3;
			}
			used += put_place(text + used, PATH_MOST - used,
					  &places[k]);
		}
	}
}

/* ---- groups ------------------------------------------------------------ */

static bool make_room(struct alloc_groups *g)
{
	size_t cap = g->cap ? g->cap * 2 : 64;
	struct alloc_group *at;
	size_t *hash;

	if (g->n < g->cap)
		return true;
	at = realloc(g->at, cap * sizeof(*at));
	if (!at)
		return false;
	g->at = at;
	hash = calloc(cap * 2, sizeof(*hash));
	if (!hash)
		return false;
	free(g->hash);
	g->hash = hash;
	g->mask = cap * 2 - 1;
	g->cap = cap;
	for (size_t i = 0; i < g->n; i++) {
		size_t k = hash_text(HASH_BEGIN, at[i].name) & g->mask;

		while (hash[k])
			k = (k + 1) & g->mask;
		hash[k] = i + 1;
	}
	return true;
}

static struct alloc_group *group_of(struct alloc_groups *g, const char *name)
{
	struct alloc_group *group;
	size_t k;

	if (!make_room(g))
		return NULL;
	k = hash_text(HASH_BEGIN, name) & g->mask;
	for (; g->hash[k]; k = (k + 1) & g->mask)
		if (strcmp(g->at[g->hash[k] - 1].name, name) == 0)
			return &g->at[g->hash[k] - 1];
	group = &g->at[g->n];
	*group = (struct alloc_group){ .name = strdup(name) };
	if (!group->name)
		return NULL;
	g->hash[k] = ++g->n;
	return group;
}

static void add_sums(tare_alloc *to, const tare_alloc *from)
{
	to->allocs += from->allocs;
	to->bytes += from->bytes;
	to->frees += from->frees;
	to->freed_bytes += from->freed_bytes;
	to->live += from->live;
	to->live_bytes += from->live_bytes;
	to->temporary += from->temporary;
	to->peak_allocs += from->peak_allocs;
	to->peak_bytes += from->peak_bytes;
}

int alloc_groups_add(struct alloc_groups *groups, tare_view *view,
		     const tare_alloc *rows, size_t n, bool is_before)
{
	char name[PATH_MOST];

	for (size_t i = 0; i < n; i++) {
		struct alloc_group *group;

		if (groups->by == ALLOC_BY_PATH)
			name_path(view, &rows[i], name);
		else if (groups->by == ALLOC_BY_MODULE)
			name_module(view, &rows[i], name);
		else
			name_place(view, &rows[i], name);
		group = group_of(groups, name);
		if (!group)
			return TARE_ENOMEM;
		add_sums(is_before ? &group->before : &group->now, &rows[i]);
	}
	return 0;
}

/* ---- order ------------------------------------------------------------- */

#define ORDER(order, field) \
	static int order(const void *a, const void *b) \
	{ \
		const struct alloc_group *x = a, *y = b; \
\
		if (x->now.field != y->now.field) \
			return x->now.field > y->now.field ? -1 : 1; \
		if (x->now.bytes != y->now.bytes) \
			return x->now.bytes > y->now.bytes ? -1 : 1; \
		return strcmp(x->name, y->name); \
	}

ORDER(by_live, live_bytes)
ORDER(by_bytes, bytes)
ORDER(by_count, allocs)
ORDER(by_peak, peak_bytes)
ORDER(by_temporary, temporary)

void alloc_groups_sort(struct alloc_groups *groups, const char *key)
{
	int (*order)(const void *, const void *) =
		strcmp(key, "bytes") == 0     ? by_bytes :
		strcmp(key, "count") == 0     ? by_count :
		strcmp(key, "peak") == 0      ? by_peak :
		strcmp(key, "temporary") == 0 ? by_temporary :
						by_live;

	if (groups->n)
		qsort(groups->at, groups->n, sizeof(*groups->at), order);
}

static void keep(struct alloc_groups *groups,
		 bool (*is_kept)(const struct alloc_group *group))
{
	size_t n = 0;

	for (size_t i = 0; i < groups->n; i++) {
		if (is_kept(&groups->at[i]))
			groups->at[n++] = groups->at[i];
		else
			free(groups->at[i].name);
	}
	groups->n = n;
}

static bool is_live(const struct alloc_group *group)
{
	return group->now.live || group->now.live_bytes;
}

void alloc_groups_keep_live(struct alloc_groups *groups)
{
	keep(groups, is_live);
}

static bool is_changed(const struct alloc_group *group)
{
	return group->now.allocs != group->before.allocs ||
	       group->now.live != group->before.live ||
	       group->now.live_bytes != group->before.live_bytes ||
	       group->now.bytes != group->before.bytes;
}

static uint64_t change_of(const struct alloc_group *group)
{
	uint64_t now = group->now.live_bytes, then = group->before.live_bytes;

	return now > then ? now - then : then - now;
}

static int by_change(const void *a, const void *b)
{
	const struct alloc_group *x = a, *y = b;

	if (change_of(x) != change_of(y))
		return change_of(x) > change_of(y) ? -1 : 1;
	return by_bytes(a, b);
}

void alloc_groups_keep_changed(struct alloc_groups *groups)
{
	keep(groups, is_changed);
	if (groups->n)
		qsort(groups->at, groups->n, sizeof(*groups->at), by_change);
}

void alloc_groups_release(struct alloc_groups *groups)
{
	for (size_t i = 0; i < groups->n; i++)
		free(groups->at[i].name);
	free(groups->at);
	free(groups->hash);
	*groups = (struct alloc_groups){ .by = groups->by };
}
