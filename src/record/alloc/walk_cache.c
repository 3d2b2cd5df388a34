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
	if (cache->python)
		tr_python_walks_clear(cache->python);
}

uint32_t tr_walk_row_of(const struct tr_unwind_frame *frames, uint32_t n,
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

	return tr_walk_row_of(frames, n, is_whole);
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

static struct tr_walk *keep_walk(struct tr_walk_cache *cache,
				 const struct tr_unwind_at *at,
				 const struct tr_unwind_trail *trail,
				 uint32_t row)
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
	walk->python.n = 0;
	cache->used += trail->n;
	return walk;
}

/* Frames of Python, behind the place for all native ones. */
struct python_part {
	uint32_t generation;
	bool has_trail;
	struct tr_python_walk walk;
	struct tr_python_trail trail;
};

static void walk_python(struct tr_walk_cache *cache, struct python_part *part)
{
	part->has_trail = tr_python_walks_room(cache, &part->trail);
	part->generation = TR_ACQUIRE(tr_python_generation);
	tr_python_walk_with_trail(cache->frame + tr_walk_depth, tr_walk_depth,
				  &part->walk, &part->trail);
	part->has_trail &= part->trail.n > 0 &&
			   part->trail.n <= part->trail.most;
}

/* Moves Python's frames behind the `n` native ones; the number of both. */
static uint32_t join_python(struct tr_walk_cache *cache,
			    const struct python_part *part, uint32_t n,
			    bool *is_whole)
{
	uint32_t more = part->walk.n;

	*is_whole = part->walk.is_whole && more <= tr_walk_depth - n;
	if (more > tr_walk_depth - n)
		more = tr_walk_depth - n;
	memmove(cache->frame + n, cache->frame + tr_walk_depth,
		more * sizeof(cache->frame[0]));
	return n + more;
}

static void keep_python(struct tr_walk_cache *cache,
			const struct python_part *part, struct tr_walk *walk)
{
	walk->python = part->trail;
	walk->python_generation = part->generation;
	cache->python->used += part->trail.n;
}

static uint32_t walk_native(struct tr_walk_cache *cache,
			    const struct tr_unwind_at *at, bool *is_whole,
			    struct tr_unwind_trail *trail)
{
	uint32_t n = tr_unwind_with_trail(at, cache->frame, tr_walk_depth,
					  is_whole, trail);

	if (tr_unwind_wants_look() && tr_modules_look_here())
		n = tr_unwind_with_trail(at, cache->frame, tr_walk_depth,
					 is_whole, trail);
	return n;
}

static uint32_t walk_anew(struct tr_walk_cache *cache,
			  const struct tr_unwind_at *at)
{
	struct tr_unwind_trail trail = { .most = 2 * tr_walk_depth + 2,
					 .until = UINT64_MAX };
	struct python_part python = { .walk.n = 0 };
	struct tr_walk *walk;
	bool is_whole = false;
	uint32_t n, row;

	if (tr_python_is_known()) {
		tr_alloc_objects_look();
		walk_python(cache, &python);
	}
	if (cache->used + trail.most > TR_WALK_WORDS)
		tr_walk_cache_clear(cache);
	trail.word = &cache->word[cache->used];
	if (python.walk.n)
		trail.until = python.walk.loop_at;
	n = walk_native(cache, at, &is_whole, &trail);
	if (python.walk.n)
		n = join_python(cache, &python, n, &is_whole);
	row = tr_walk_row_of(cache->frame, n, is_whole);
	if (!trail.n || (python.walk.n && !python.has_trail))
		return row;
	walk = keep_walk(cache, at, &trail, row);
	if (python.walk.n)
		keep_python(cache, &python, walk);
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
