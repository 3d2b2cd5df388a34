/* SPDX-License-Identifier: Apache-2.0 */
#include "name_cache.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/symbols.h"

#define PLACES_MOST 64u	   /* as the reader asks for */
#define ROWS_MOST (1u << 20) /* then addresses are looked up each time */
#define ROWS_FIRST 4096u

/* An address of a module's file. Rows without a file are free. */
struct row {
	uint64_t file, at;
	tare_place *places;
	size_t n;
};

struct name_cache {
	struct symbols *symbols;
	struct row *rows;
	size_t n, cap; /* cap: a power of two */
	uint64_t root; /* of the process, as a hash */
};

static uint64_t add_text(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return (hash ^ 255) * UINT64_C(1099511628211);
}

struct name_cache *name_cache_open(struct symbols *symbols)
{
	struct name_cache *cache = calloc(1, sizeof(*cache));

	if (cache)
		cache->symbols = symbols;
	return cache;
}

void name_cache_root(struct name_cache *cache, const char *root)
{
	symbols_root(cache->symbols, root);
	cache->root = add_text(UINT64_C(14695981039346656037),
			       root ? root : "");
}

/* The row of a file and address, or the free one where it belongs. */
static struct row *find(struct row *rows, size_t cap, uint64_t file,
			uint64_t at)
{
	size_t i = (size_t)((file ^ at * UINT64_C(0x9e3779b97f4a7c15)) >> 20);

	for (;; i++) {
		struct row *row = &rows[i & (cap - 1)];

		if (!row->file || (row->file == file && row->at == at))
			return row;
	}
}

/* False: there is no room. */
static bool grow(struct name_cache *cache)
{
	size_t cap = cache->cap ? cache->cap * 2 : ROWS_FIRST;
	struct row *rows;

	if (cache->n * 2 < cache->cap)
		return true;
	if (cache->n >= ROWS_MOST)
		return false;
	rows = calloc(cap, sizeof(*rows));
	if (!rows)
		return false;
	for (size_t i = 0; i < cache->cap; i++)
		if (cache->rows[i].file)
			*find(rows, cap, cache->rows[i].file,
			      cache->rows[i].at) = cache->rows[i];
	free(cache->rows);
	cache->rows = rows;
	cache->cap = cap;
	return true;
}

static void store(struct name_cache *cache, struct row *row, uint64_t file,
		  uint64_t at, const tare_place *places, size_t n)
{
	tare_place *copy = malloc((n + 1) * sizeof(*copy));

	if (!copy)
		return;
	memcpy(copy, places, n * sizeof(*copy));
	*row = (struct row){ .file = file, .at = at, .places = copy, .n = n };
	cache->n++;
}

size_t name_cache_name(void *arg, const tare_module *module, uint64_t address,
		       tare_place *places, size_t most)
{
	struct name_cache *cache = arg;
	uint64_t file = add_text(add_text(cache->root, module->path),
				 module->build_id) | 1;
	uint64_t at = address - module->bias;
	struct row *row;
	size_t n;

	if (most < PLACES_MOST || !module->path[0] || !grow(cache))
		return symbols_name(cache->symbols, module, address, places,
				    most);
	row = find(cache->rows, cache->cap, file, at);
	if (row->file) {
		memcpy(places, row->places, row->n * sizeof(*places));
		return row->n;
	}
	n = symbols_name(cache->symbols, module, address, places, PLACES_MOST);
	store(cache, row, file, at, places, n);
	return n;
}
