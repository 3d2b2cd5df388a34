/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Malloc: shared by the files of the interposer.
 *
 * Libtare-alloc.so is loaded before libc: a program's calls of the malloc
 * family come here, are passed on to the real functions (libc, jemalloc,
 * tcmalloc), and are reported to record/alloc.
 */
#ifndef PRELOAD_MALLOC_OWN_H
#define PRELOAD_MALLOC_OWN_H

#include "preload.h"
#include "record/alloc.h"

#pragma GCC visibility push(hidden)

/* ---- malloc_real.c ----------------------------------------------------- */

struct malloc_real {
	void *(*malloc)(size_t n);
	void *(*calloc)(size_t n, size_t size);
	void *(*realloc)(void *block, size_t n);
	void (*free)(void *block);
	int (*posix_memalign)(void **ret_block, size_t alignment, size_t n);
	void *(*aligned_alloc)(size_t alignment, size_t n);
	void *(*memalign)(size_t alignment, size_t n);
	void *(*valloc)(size_t n);
	void *(*pvalloc)(size_t n);
};

extern struct malloc_real malloc_real;
extern uint32_t malloc_is_found; /* the real functions are found */
/*
 * Finds the real functions. False while that is in progress: use
 * malloc_boot().
 */
bool malloc_find(void);

TR_INLINE bool malloc_is_ready(void)
{
	return TR_LIKELY(TR_ACQUIRE(malloc_is_found)) || malloc_find();
}

/*
 * Memory for callers before the real malloc is found: the dynamic linker
 * allocates while it looks for it. Never freed.
 */
void *malloc_boot(size_t n, size_t alignment);
#define MALLOC_BOOT_BYTES 65536u
extern char malloc_boot_memory[MALLOC_BOOT_BYTES];
size_t malloc_boot_size(const void *block);

TR_INLINE bool malloc_is_boot(const void *block)
{
	return (uintptr_t)block - (uintptr_t)malloc_boot_memory <
	       MALLOC_BOOT_BYTES;
}

/* Is the address in the module of the real malloc, and that is not libc? */
bool malloc_is_own(const void *address);

/* ---- malloc.c ---------------------------------------------------------- */

/* Handles events before tracking starts; starts it when possible. */
void *malloc_early(void *block, size_t n);
void malloc_early_free(const void *block);
extern uint32_t malloc_is_started; /* tracking is on, or stays off */

/*
 * Records a block: for a tail call of our functions, so that their caller is
 * recorded. Returns the block.
 */
TR_INLINE void *malloc_note(void *block, size_t n)
{
	uint32_t mode = TR_LOAD(tr_alloc_mode);

	if (TR_UNLIKELY(!block))
		return block;
	if (TR_LIKELY(mode == TR_HEAP_EXACT))
		return tr_alloc_added(block, n);
	if (TR_LIKELY(mode == TR_HEAP_SAMPLED)) {
		tr_alloc_left -= (int64_t)n;
		if (TR_LIKELY(tr_alloc_left >= 0) && TR_LIKELY(n))
			return block;
		return tr_alloc_sampled(block, n);
	}
	if (TR_LIKELY(TR_LOAD(malloc_is_started)))
		return block;
	return malloc_early(block, n);
}

/* Call before the block is freed. */
TR_INLINE void malloc_note_free(void *block)
{
	uint32_t mode = TR_LOAD(tr_alloc_mode);
	uint64_t key = (uint64_t)(uintptr_t)block;

	if (TR_LIKELY(mode == TR_HEAP_EXACT))
		tr_alloc_removed(block);
	else if (TR_LIKELY(mode == TR_HEAP_SAMPLED)) {
		if (TR_UNLIKELY(TR_LOAD(tr_alloc_filter[
				tr_alloc_filter_of(key)])))
			tr_alloc_removed(block);
	} else if (TR_UNLIKELY(!TR_LOAD(malloc_is_started))) {
		malloc_early_free(block);
	}
}

#pragma GCC visibility pop

#endif
