/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walk python: the Python functions that allocate, most often seen before.
 *
 * Kept by the innermost frame and its instruction: an object is allocated for
 * one instruction of a line. A walk that matches says which row it is in three
 * loads for each frame. What comes between the interpreter's loop and its
 * allocator is left out: it is the same for all objects of one kind.
 *
 * What is kept holds until a code object in it is freed, since its address may
 * become another's. This is not known of each: so all are out of date when any
 * code object is freed that has been seen here (`generation`).
 */
#include "record/alloc/alloc.h"

#include <assert.h>
#include <string.h>

void tr_python_walks_clear(struct tr_python_walks *walks)
{
	memset(walks->kept, 0, sizeof(walks->kept));
	walks->used = 0;
}

static bool make_walks(struct tr_walk_cache *cache)
{
	struct tr_python_walks *walks = tr_memory_map(sizeof(*walks));

	if (!walks)
		return false;
	tr_memory_not_in_children(walks, sizeof(*walks));
	cache->python = walks;
	return true;
}

bool tr_python_walks_room(struct tr_walk_cache *cache,
			  struct tr_python_trail *ret_trail)
{
	/* Frames without a function are in a trail, too. */
	uint32_t most = 2 * tr_walk_depth;

	*ret_trail = (struct tr_python_trail){ .n = 0 };
	if (!cache->python && !make_walks(cache))
		return false;
	if (cache->python->used + most > TR_PYTHON_STEPS)
		tr_walk_cache_clear(cache);
	ret_trail->most = most;
	ret_trail->step = &cache->python->step[cache->python->used];
	return true;
}

bool tr_walk_is_in_python(const struct tr_walk *walk)
{
	struct tr_python_top top;
	bool is_same;

	if (walk->python_generation != TR_ACQUIRE(tr_python_generation) ||
	    !tr_python_enter())
		return false;
	is_same = tr_python_find_top(&top) &&
		  tr_python_is_there(&walk->python, &top);
	tr_python_leave();
	return is_same;
}

/* ---- without native frames --------------------------------------------- */

static struct tr_python_kept *set_of(struct tr_python_walks *walks,
				     const struct tr_python_top *top,
				     uint32_t *ret_set)
{
	uint64_t key = top->frame ^ top->instr * UINT64_C(0xC2B2AE3D27D4EB4F);

	*ret_set = (uint32_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> 55);
	return walks->kept[*ret_set];
}

_Static_assert(TR_PYTHON_SETS == 1u << (64 - 55), "bits of a set");

static uint32_t walk_anew(struct tr_walk_cache *cache,
			  const struct tr_python_top *top)
{
	struct tr_python_trail trail;
	struct tr_python_walk walk;
	struct tr_python_kept *kept;
	bool has_room = tr_python_walks_room(cache, &trail);
	uint32_t set, row, generation = TR_ACQUIRE(tr_python_generation);

	tr_python_walk_with_trail(cache->frame, tr_walk_depth, &walk, &trail);
	row = tr_walk_row_of(cache->frame, walk.n, walk.is_whole);
	if (!has_room || !trail.n || trail.n > trail.most)
		return row;
	kept = set_of(cache->python, top, &set);
	kept += cache->python->next[set]++ % TR_PYTHON_WAYS;
	*kept = (struct tr_python_kept){ *top, trail, generation, row };
	cache->python->used += trail.n;
	return row;
}

bool tr_walk_python_row(struct tr_walk_cache *cache, uint32_t *ret_row)
{
	struct tr_python_top top;
	struct tr_python_kept *kept;
	uint32_t set, generation = TR_ACQUIRE(tr_python_generation);

	assert(cache);
	if (!tr_python_find_top(&top))
		return false;
	if (TR_UNLIKELY(!cache->python)) {
		*ret_row = walk_anew(cache, &top);
		return true;
	}
	kept = set_of(cache->python, &top, &set);
	for (uint32_t i = 0; i < TR_PYTHON_WAYS; i++, kept++) {
		if (kept->top.frame != top.frame ||
		    kept->top.instr != top.instr || !kept->trail.n ||
		    kept->generation != generation ||
		    !tr_python_is_there(&kept->trail, &top))
			continue;
		*ret_row = kept->row;
		return true;
	}
	*ret_row = walk_anew(cache, &top);
	return true;
}
