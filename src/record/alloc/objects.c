/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects: what a Python interpreter allocates for objects, by Python line.
 *
 * Its allocator of objects takes large blocks from the kernel and cuts them
 * up, and passes large requests on to malloc. Ours stand before it: they track
 * each block, and while the real one works nothing else of the thread is
 * tracked, so that no byte counts twice.
 *
 * The interpreter calls its allocators of objects with its lock held, so the
 * thread's frames are complete, and no other thread shuts it down.
 */
#include "record/alloc/alloc.h"
#include "record/alloc.h"

#include <assert.h>

#define LEFT_OUT (INT64_MAX / 2) /* more bytes than can be allocated */

static struct tr_python_allocator real_memory, real_objects;
static uint32_t is_looked_for; /* in vain or not: no more */

/* `at`: who called the allocator, if the thread runs no Python. */
TR_INLINE void count_object(struct tr_alloc_thread *thread, void *block,
			    size_t n, const struct tr_unwind_at *at)
{
	uint32_t row;

	if (!thread->walk_cache ||
	    !tr_walk_python_row(thread->walk_cache, &row))
		row = tr_alloc_row_at(thread, at);
	tr_alloc_count(thread, block, n, row);
}

/* The real allocator begins, and ends, to work. */
TR_INLINE struct tr_alloc_thread *begin_nested(void)
{
	struct tr_alloc_thread *thread = tr_alloc_enter();

	if (thread)
		TR_STORE(thread->state, TR_ALLOC_THREAD_NESTED);
	TR_FENCE();
	return thread;
}

TR_INLINE void end_nested(struct tr_alloc_thread *thread)
{
	TR_FENCE();
	TR_STORE(thread->state, TR_ALLOC_THREAD_INSIDE);
	TR_FENCE();
}

TR_INLINE uint32_t mode_now(void)
{
	return TR_LOAD(tr_alloc_mode);
}

/* ---- sampled ----------------------------------------------------------- */

TR_INLINE bool is_in_sample(const void *block)
{
	return TR_LOAD(tr_alloc_filter[tr_alloc_filter_of(
		       (uintptr_t)block)]) != 0;
}

static TR_COLD void sample_object(void *block, size_t n,
				  const struct tr_unwind_at *at)
{
	struct tr_alloc_thread *thread = tr_alloc_sample_due(n);

	if (!thread)
		return;
	count_object(thread, block, n, at);
	tr_alloc_leave(thread);
}

/* Counts down the bytes of the block. `left`: before the real one worked. */
TR_INLINE void step_sampled(int64_t left, void *block, size_t n,
			    const struct tr_unwind_at *at)
{
	tr_alloc_left = left;
	if (!block)
		return;
	tr_alloc_left -= (int64_t)n;
	if (TR_UNLIKELY(tr_alloc_left < 0 || !n))
		sample_object(block, n, at);
}

/* ---- the allocators ---------------------------------------------------- */

/* One call of the real one, `call`, that makes a block of `n` bytes. */
#define TRACK_NEW(n, call) \
	struct tr_alloc_thread *thread; \
	struct tr_unwind_at at; \
	void *block; \
	\
	tr_unwind_here(&at); \
	if (mode_now() == TR_HEAP_SAMPLED) { \
		int64_t left = tr_alloc_left; \
	\
		tr_alloc_left = LEFT_OUT; \
		block = call; \
		step_sampled(left, block, n, &at); \
		return block; \
	} \
	thread = mode_now() ? begin_nested() : NULL; \
	block = call; \
	if (!thread) \
		return block; \
	end_nested(thread); \
	if (block) \
		count_object(thread, block, n, &at); \
	tr_alloc_leave(thread); \
	return block

static void *object_malloc(void *ctx, size_t n)
{
	const struct tr_python_allocator *real = ctx;

	TRACK_NEW(n, real->malloc(real->ctx, n));
}

static void *object_calloc(void *ctx, size_t n, size_t size)
{
	const struct tr_python_allocator *real = ctx;

	TRACK_NEW(n * size, real->calloc(real->ctx, n, size));
}

static void object_free(void *ctx, void *block)
{
	const struct tr_python_allocator *real = ctx;
	struct tr_alloc_thread *thread = NULL;

	if (block && mode_now() == TR_HEAP_EXACT)
		thread = tr_alloc_enter();
	else if (block && mode_now() && is_in_sample(block))
		tr_alloc_removed(block);
	if (thread) {
		(void)tr_alloc_uncount(thread, block);
		TR_STORE(thread->state, TR_ALLOC_THREAD_NESTED);
		TR_FENCE();
	}
	real->free(real->ctx, block);
	if (!thread)
		return;
	end_nested(thread);
	tr_alloc_leave(thread);
}

static void *resize_sampled(const struct tr_python_allocator *real,
			    void *block, size_t n,
			    const struct tr_unwind_at *at)
{
	int64_t left = tr_alloc_left;
	struct tr_alloc_taken taken;
	bool is_taken = block && is_in_sample(block);
	void *moved;

	if (is_taken)
		tr_alloc_take(block, &taken);
	tr_alloc_left = LEFT_OUT;
	moved = real->realloc(real->ctx, block, n);
	if (is_taken && !moved)
		tr_alloc_kept(&taken);
	else if (is_taken)
		tr_alloc_gone(&taken);
	step_sampled(left, moved, n, at);
	return moved;
}

/* A free and an allocation, if it succeeds; else the old block stays. */
static void *resize_exact(const struct tr_python_allocator *real, void *block,
			  size_t n, const struct tr_unwind_at *at)
{
	struct tr_alloc_taken taken;
	struct tr_alloc_thread *thread;
	void *moved;

	tr_alloc_take(block, &taken);
	thread = begin_nested();
	moved = real->realloc(real->ctx, block, n);
	if (!thread)
		return moved;
	end_nested(thread);
	tr_alloc_leave(thread);
	if (moved && taken.is_known)
		tr_alloc_gone(&taken);
	else if (!moved)
		tr_alloc_kept(&taken);
	thread = moved ? tr_alloc_enter() : NULL;
	if (!thread)
		return moved;
	count_object(thread, moved, n, at);
	tr_alloc_leave(thread);
	return moved;
}

static void *object_realloc(void *ctx, void *block, size_t n)
{
	const struct tr_python_allocator *real = ctx;
	struct tr_unwind_at at;

	if (!mode_now())
		return real->realloc(real->ctx, block, n);
	if (!block)
		return object_malloc(ctx, n);
	tr_unwind_here(&at);
	return mode_now() == TR_HEAP_SAMPLED ?
		       resize_sampled(real, block, n, &at) :
		       resize_exact(real, block, n, &at);
}

/* ---- in their place ---------------------------------------------------- */

static const struct tr_python_allocator *
put_before(enum tr_python_domain domain, const struct tr_python_allocator *real)
{
	static struct tr_python_allocator ours[2];
	struct tr_python_allocator *its = domain == TR_PYTHON_OBJECTS ?
						  &real_objects :
						  &real_memory;
	struct tr_python_allocator *our = &ours[domain == TR_PYTHON_OBJECTS];

	if (!real->malloc || !real->calloc || !real->realloc || !real->free)
		return NULL;
	*its = *real;
	*our = (struct tr_python_allocator){ its, object_malloc, object_calloc,
					     object_realloc, object_free };
	return our;
}

void tr_alloc_objects_look(void)
{
	if (TR_LIKELY(TR_LOAD(is_looked_for)))
		return;
	if (tr_python_wrap_objects(put_before))
		TR_STORE(is_looked_for, 1);
}
