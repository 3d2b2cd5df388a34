/* SPDX-License-Identifier: Apache-2.0 */
#include "record/alloc/alloc.h"
#include "record/stacks.h"

#include <assert.h>
#include <string.h>

#define FAR 65536u /* bytes: a larger frame has no hint to its trail */
#define PLAIN 32u  /* frames in signal handlers: their stack may be small */

uint32_t tr_walk_depth = PLAIN;

struct tr_walk_cache *tr_walk_cache_new(void)
{
	struct tr_walk_cache *cache = tr_memory_map(sizeof(*cache));

	if (cache)
		tr_memory_not_in_children(cache, sizeof(*cache));
	return cache;
}

void tr_walk_cache_clear(struct tr_walk_cache *cache)
{
	memset(cache->walk, 0, sizeof(cache->walk));
	memset(cache->place, 0, sizeof(cache->place));
	cache->used = 0;
}

static uint32_t row_of(const struct tr_unwind_frame *frames, uint32_t n,
		       bool is_whole)
{
	return n ?
	       tr_alloc_table_row(tr_stack_intern(frames, n, is_whole, false)) :
		   0;
}

uint32_t tr_walk_row_plain(const struct tr_unwind_at *at)
{
	struct tr_unwind_frame frames[PLAIN];
	bool is_whole = false;
	uint32_t n = tr_unwind(at, frames, PLAIN, &is_whole);

	return row_of(frames, n, is_whole);
}

static uint32_t set_of(const struct tr_walk_place *place,
		       const struct tr_unwind_at *at)
{
	uint64_t key = at->pc ^ at->sp << 17;
	uint64_t from = place->is_by_fp ? at->fp : at->sp;

	/* A frame pointer far from the stack pointer is not one. */
	if (place->pc == at->pc && from - at->sp < FAR && !(from & 7))
		key ^= tr_unwind_load(from + place->off) << 7;
	return (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 58);
}

static void keep_place(struct tr_walk_place *place,
		       const struct tr_unwind_at *at,
		       const struct tr_unwind_trail *trail)
{
	uint64_t from = trail->is_first_by_fp ? at->fp : at->sp;
	uint64_t off = trail->word[0].at - from;

	place->pc = 0;
	if (off >= FAR || off & 7)
		return;
	place->off = (uint32_t)off;
	place->is_by_fp = trail->is_first_by_fp;
	place->pc = at->pc;
}

static void keep_walk(struct tr_walk_cache *cache,
		      const struct tr_unwind_at *at,
		      const struct tr_unwind_trail *trail, uint32_t row)
{
	struct tr_walk_place *place = tr_walk_place(cache, at->pc);
	struct tr_walk *walk;
	uint32_t set, way;

	assert(trail->n);
	assert(cache->used + trail->n <= TR_WALK_WORDS);
	if (place->pc != at->pc)
		keep_place(place, at, trail);
	set = set_of(place, at);
	way = cache->next[set]++ % TR_WALK_WAYS;
	walk = &cache->walk[set][way];
	walk->pc = at->pc;
	walk->sp = at->sp;
	walk->fp = at->fp;
	walk->uses_fp = trail->uses_fp;
	walk->first = cache->used;
	walk->n = trail->n;
	walk->row = row;
	place->set = (uint8_t)set;
	place->way = (uint8_t)way;
	cache->used += trail->n;
}

static uint32_t walk_anew(struct tr_walk_cache *cache,
			  const struct tr_unwind_at *at)
{
	struct tr_unwind_trail trail = { .most = 2 * tr_walk_depth + 2 };
	bool is_whole = false;
	uint32_t n, row;

	if (cache->used + trail.most > TR_WALK_WORDS)
		tr_walk_cache_clear(cache);
	trail.word = &cache->word[cache->used];
	n = tr_unwind_with_trail(at, cache->frame, tr_walk_depth, &is_whole,
				 &trail);
	if (tr_unwind_wants_look() && tr_modules_look_here())
		n = tr_unwind_with_trail(at, cache->frame, tr_walk_depth,
					 &is_whole, &trail);
	row = row_of(cache->frame, n, is_whole);
	if (trail.n)
		keep_walk(cache, at, &trail, row);
	return row;
}

TR_NOINLINE uint32_t tr_walk_search(struct tr_walk_cache *cache,
				    const struct tr_unwind_at *at)
{
	struct tr_walk_place *place = tr_walk_place(cache, at->pc);
	uint32_t set;

	if (cache->generation != TR_ACQUIRE(tr_unwind_generation)) {
		cache->generation = TR_ACQUIRE(tr_unwind_generation);
		tr_walk_cache_clear(cache);
	}
	set = set_of(place, at);
	for (uint32_t i = 0; i < TR_WALK_WAYS; i++) {
		if (!tr_walk_is(cache, &cache->walk[set][i], at))
			continue;
		place->set = (uint8_t)set;
		place->way = (uint8_t)i;
		return cache->walk[set][i].row;
	}
	return walk_anew(cache, at);
}
