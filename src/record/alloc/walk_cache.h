/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walk cache: the stack of an allocation, most often one seen before.
 *
 * A thread keeps the trails of its walks: where on the stack each return
 * address was read, and its value. A later allocation from the same place with
 * the same stack pointer reads these words again, innermost first. If all are
 * unchanged, an unwinder would take the same way, so it is the same stack:
 * some ten loads instead of a walk and a table look-up. The words are read in
 * the order of a walk, and no word is read that a walk would not read.
 *
 * A trail is found by its start and by its first return address: the start
 * alone is the same for all allocations of a program that allocates through
 * one function, such as operator new.
 */
#ifndef TR_RECORD_ALLOC_WALK_CACHE_H
#define TR_RECORD_ALLOC_WALK_CACHE_H

#include "ledger/layout.h"
#include "record/unwind.h"


#define TR_WALK_SETS 64u
#define TR_WALK_WAYS 4u
#define TR_WALK_PLACES 64u
#define TR_WALK_WORDS 8192u /* 128 KiB: all trails together */

struct tr_walk {
	uint64_t pc, sp, fp; /* fp: only if it is used */
	uint32_t first, n;   /* words */
	uint32_t row;
	bool uses_fp;
};

/* A program counter that calls the allocator. */
struct tr_walk_place {
	uint64_t pc;
	uint32_t off; /* of its return address */
	bool is_by_fp;
	uint8_t set, way; /* of its last walk: a guess */
};

struct tr_walk_cache {
	uint32_t used;
	uint32_t generation; /* of the modules */
	uint8_t next[TR_WALK_SETS];
	struct tr_walk_place place[TR_WALK_PLACES];
	struct tr_walk walk[TR_WALK_SETS][TR_WALK_WAYS];
	struct tr_unwind_frame frame[1024];
	struct tr_unwind_word word[TR_WALK_WORDS];
};

struct tr_walk_cache *tr_walk_cache_new(void);
/* Empties the cache: the numbers of rows have changed. */
void tr_walk_cache_clear(struct tr_walk_cache *cache);
/* Row of a stack that differs from the last one of its place. Inside. */
uint32_t tr_walk_search(struct tr_walk_cache *cache,
			const struct tr_unwind_at *at);
/* The same without a cache; also in signal handlers. */
uint32_t tr_walk_row_plain(const struct tr_unwind_at *at);
/* Maximum number of frames of a stack. */
extern uint32_t tr_walk_depth;

TR_INLINE bool tr_walk_is(const struct tr_walk_cache *cache,
			  const struct tr_walk *walk,
			  const struct tr_unwind_at *at)
{
	const struct tr_unwind_word *word = &cache->word[walk->first];
	const struct tr_unwind_word *end = word + walk->n;

	if (walk->pc != at->pc || walk->sp != at->sp ||
	    (walk->uses_fp && walk->fp != at->fp))
		return false;
	for (; word < end; word++)
		if (tr_unwind_load(word->at) != word->value)
			return false;
	return true;
}

TR_INLINE struct tr_walk_place *tr_walk_place(struct tr_walk_cache *cache,
					      uint64_t pc)
{
	return &cache->place[pc * UINT64_C(0x9E3779B97F4A7C15) >> 58];
}

/* Row of the stack that begins at `at`. Inside. */
TR_INLINE uint32_t tr_walk_cache_row(struct tr_walk_cache *cache,
				     const struct tr_unwind_at *at)
{
	const struct tr_walk_place *place = tr_walk_place(cache, at->pc);
	const struct tr_walk *guess = &cache->walk[place->set][place->way];

	if (TR_LIKELY(cache->generation == TR_ACQUIRE(tr_unwind_generation) &&
		      tr_walk_is(cache, guess, at)))
		return guess->row;
	return tr_walk_search(cache, at);
}

#endif
