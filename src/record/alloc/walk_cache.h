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
#include "record/python.h"
#include "record/unwind.h"

#define TR_WALK_SETS 64u
#define TR_WALK_WAYS 4u
#define TR_WALK_PLACES 64u
#define TR_WALK_WORDS 8192u /* 128 KiB: all trails together */
#define TR_WALK_DEPTH 1024u /* frames at most */

struct tr_walk {
	uint64_t pc, sp, fp; /* fp: only if it is used */
	uint32_t first, n;   /* words */
	uint32_t row;
	bool uses_fp;
	/* Of Python, from where the words end; n is 0 if there are none. */
	uint32_t python_generation;
	struct tr_python_trail python;
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
	struct tr_python_walks *python; /* NULL: none yet */
	struct tr_unwind_frame frame[2 * TR_WALK_DEPTH]; /* native, Python */
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

bool tr_walk_is_in_python(const struct tr_walk *walk);

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
	return TR_LIKELY(!walk->python.n) || tr_walk_is_in_python(walk);
}

TR_INLINE struct tr_walk_place *tr_walk_place(struct tr_walk_cache *cache,
					      uint64_t pc)
{
	return &cache->place[pc * UINT64_C(0x9E3779B97F4A7C15) >> 58];
}

/* ---- walk_python.c ----------------------------------------------------- */

#define TR_PYTHON_SETS 512u
#define TR_PYTHON_WAYS 4u
#define TR_PYTHON_STEPS 32768u /* 768 KiB: all trails together */

/* A stack of Python functions, with no native frames below them. */
struct tr_python_kept {
	struct tr_python_top top;
	struct tr_python_trail trail; /* n is 0: free */
	uint32_t generation, row;
};

/* Only the pages that are used are real. */
struct tr_python_walks {
	uint32_t used;
	uint8_t next[TR_PYTHON_SETS];
	struct tr_python_kept kept[TR_PYTHON_SETS][TR_PYTHON_WAYS];
	struct tr_python_step step[TR_PYTHON_STEPS];
};

void tr_python_walks_clear(struct tr_python_walks *walks);
/*
 * Places for the steps of a walk that is made next; false: no memory. What is
 * used of them is added to walks->used. May empty the cache.
 */
bool tr_python_walks_room(struct tr_walk_cache *cache,
			  struct tr_python_trail *ret_trail);
/*
 * Row of the Python functions that the thread is in; it holds the lock of the
 * interpreter. False: it is in none. Inside.
 */
bool tr_walk_python_row(struct tr_walk_cache *cache, uint32_t *ret_row);
/* Row of these frames, found or made. */
uint32_t tr_walk_row_of(const struct tr_unwind_frame *frames, uint32_t n,
			bool is_whole);

/* ---- inline ------------------------------------------------------------ */

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
