/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A training makes the same calls at each step. A thread keeps the trails of
 * its walks (see record/alloc/walk_cache.h): where each return address was
 * read, and each of Python's frames. If all of them are unchanged, another
 * walk finds the same stack: some hundred loads instead of a walk through
 * libraries that have no frame pointers.
 *
 * The cache of a thread is a mapping, taken at its first call and given to
 * another thread when it ends.
 */
#include "record/kernels/trail.h"

#include <pthread.h>
#include <string.h>

#include "base/platform.h"
#include "ledger/write.h"
#include "record/python.h"
#include "record/stacks.h"
#include "record/unwind.h"

#define SETS 64u
#define WAYS 4u
#define WORDS 96u  /* of a native trail */
#define STEPS 64u  /* of a Python trail */
#define DEPTH 256u /* frames of each kind */

struct trail {
	uint64_t pc, sp, fp;
	uint32_t stack, n;
	uint32_t modules, python_generation;
	uint32_t ledger;
	bool uses_fp;
	struct tr_python_trail python;
	struct tr_unwind_word word[WORDS];
	struct tr_python_step step[STEPS];
};

struct cache {
	uint8_t next[SETS];
	bool is_inside; /* a walk was interrupted by a handler's call */
	struct trail trail[SETS][WAYS];
	struct tr_unwind_frame frame[2 * DEPTH];
	struct tr_unwind_word word[WORDS];
	struct tr_python_step step[STEPS];
};

static uint32_t depth = DEPTH;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

void tr_kernels_depth(uint32_t most)
{
	depth = most < DEPTH ? most : DEPTH;
}

static void end_thread(void *cache)
{
	tr_memory_unmap(cache, sizeof(struct cache));
}

static void make_key(void)
{
	has_key = pthread_key_create(&key, end_thread) == 0;
}

static struct cache *cache_of_thread(void)
{
	struct cache *cache;

	(void)pthread_once(&once, make_key);
	cache = has_key ? pthread_getspecific(key) : NULL;
	if (cache || !has_key)
		return cache;
	cache = tr_memory_map(sizeof(*cache));
	if (cache && pthread_setspecific(key, cache)) {
		tr_memory_unmap(cache, sizeof(*cache));
		return NULL;
	}
	return cache;
}

static bool is_python_there(const struct trail *trail,
			    const struct tr_python_top *top, bool has_python)
{
	if (!trail->python.n)
		return !has_python;
	return has_python &&
	       trail->python_generation == TR_ACQUIRE(tr_python_generation) &&
	       tr_python_is_there(&trail->python, top);
}

/* In the order of the walk: no word is read that it would not read. */
static bool is_there(const struct trail *trail, const struct tr_unwind_at *at)
{
	if (trail->pc != at->pc || trail->sp != at->sp ||
	    (trail->uses_fp && trail->fp != at->fp) ||
	    trail->modules != TR_ACQUIRE(tr_unwind_generation) ||
	    trail->ledger != TR_LOAD(tr_ledger->replaced) + 1)
		return false;
	for (uint32_t i = 0; i < trail->n; i++)
		if (tr_unwind_load(trail->word[i].at) != trail->word[i].value)
			return false;
	return true;
}

static uint32_t set_of(const struct tr_unwind_at *at,
		       const struct tr_python_top *top)
{
	uint64_t hash = at->pc ^ at->sp << 17 ^ top->frame << 5 ^
			top->instr << 29;

	return (uint32_t)(hash * UINT64_C(0x9E3779B97F4A7C15) >> 58) %
	       SETS;
}

struct walk {
	struct tr_unwind_trail native;
	struct tr_python_trail python;
	uint32_t modules, python_generation;
	uint32_t stack;
	bool can_keep;
};

static void walk_anew(struct cache *cache, const struct tr_unwind_at *at,
		      bool has_python, struct walk *walk)
{
	struct tr_python_walk python = { .n = 0 };
	bool is_whole = false;
	uint32_t n;

	walk->python.step = cache->step;
	walk->python.most = STEPS;
	walk->python_generation = TR_ACQUIRE(tr_python_generation);
	if (has_python)
		tr_python_walk_with_trail(cache->frame + depth, depth, &python,
					  &walk->python);
	walk->native.word = cache->word;
	walk->native.most = WORDS;
	walk->native.until = python.n ? python.loop_at : UINT64_MAX;
	walk->modules = TR_ACQUIRE(tr_unwind_generation);
	n = tr_unwind_with_trail(at, cache->frame, depth, &is_whole,
				 &walk->native);
	if (tr_unwind_wants_look() && tr_modules_look_here()) {
		walk->modules = TR_ACQUIRE(tr_unwind_generation);
		n = tr_unwind_with_trail(at, cache->frame, depth, &is_whole,
					 &walk->native);
	}
	if (python.n) {
		is_whole = python.is_whole && python.n <= depth - n;
		if (python.n > depth - n)
			python.n = depth - n;
		memmove(cache->frame + n, cache->frame + depth,
			python.n * sizeof(cache->frame[0]));
		n += python.n;
	}
	walk->stack = n ? tr_stack_intern(cache->frame, n, is_whole, false) :
			  0;
	walk->can_keep = walk->native.n && walk->native.n <= WORDS &&
			 (!python.n || (walk->python.n &&
					walk->python.n <= STEPS));
}

static void keep(struct cache *cache, uint32_t set,
		 const struct tr_unwind_at *at, const struct walk *walk)
{
	struct trail *trail =
		&cache->trail[set][cache->next[set]++ % WAYS];

	*trail = (struct trail){
		.pc = at->pc,
		.sp = at->sp,
		.fp = at->fp,
		.stack = walk->stack,
		.n = walk->native.n,
		.modules = walk->modules,
		.python_generation = walk->python_generation,
		.ledger = TR_LOAD(tr_ledger->replaced) + 1,
		.uses_fp = walk->native.uses_fp,
		.python = walk->python,
	};
	memcpy(trail->word, cache->word,
	       trail->n * sizeof(trail->word[0]));
	memcpy(trail->step, cache->step,
	       trail->python.n * sizeof(trail->step[0]));
	trail->python.step = trail->step;
}

static uint32_t find_stack(struct cache *cache, const struct tr_unwind_at *at)
{
	struct tr_python_top top = { 0, 0 };
	bool has_python = tr_python_is_known() && tr_python_find_top(&top);
	struct walk walk = { .stack = 0 };
	uint32_t set = set_of(at, &top);

	for (uint32_t i = 0; i < WAYS; i++) {
		struct trail *trail = &cache->trail[set][i];

		if (trail->pc && is_there(trail, at) &&
		    is_python_there(trail, &top, has_python))
			return trail->stack;
	}
	walk_anew(cache, at, has_python, &walk);
	if (walk.can_keep)
		keep(cache, set, at, &walk);
	return walk.stack;
}

TR_NOINLINE uint32_t tr_kernels_stack(void)
{
	struct cache *cache = cache_of_thread();
	struct tr_unwind_at at;
	uint32_t stack = 0;

	tr_unwind_here(&at);
	if (!cache || cache->is_inside || !tr_ledger_is_open())
		return 0;
	cache->is_inside = true;
	if (!tr_python_is_known()) {
		stack = find_stack(cache, &at);
	} else if (tr_python_enter()) {
		stack = find_stack(cache, &at);
		tr_python_leave();
	}
	cache->is_inside = false;
	return stack;
}
