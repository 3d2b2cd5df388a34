/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Name cache: names of addresses that were looked up before, over all views.
 *
 * `tare top` opens a view for each update, and debug information is slow to
 * search: a lookup takes about 10 us, one in this table less than 0.1 us.
 */
#ifndef CLI_NAME_CACHE_H
#define CLI_NAME_CACHE_H

#include <tare/read/profile.h>

struct name_cache;
struct symbols;

/* Borrows the symbols, which must stay open. NULL: no memory. */
struct name_cache *name_cache_open(struct symbols *symbols);

/* As symbols_root(): addresses of one path below two roots differ. */
void name_cache_root(struct name_cache *cache, const char *root);

/* A tare_name_fn; `arg` is a struct name_cache. */
size_t name_cache_name(void *arg, const tare_module *module, uint64_t address,
		       tare_place *places, size_t most);

#endif
