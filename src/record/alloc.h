/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/alloc/: how much each stack allocated, and how much is live.
 *
 * Comes in: allocated and freed blocks, from preload and from a program's own
 * allocators. Goes out: rows of the ledger's table of allocations. Called by:
 * preload, record/runtime, and programs.
 */
#ifndef TR_RECORD_ALLOC_H
#define TR_RECORD_ALLOC_H

#include "ledger/write.h"

/* ---- alloc.c ----------------------------------------------------------- */

/*
 * Tracks allocations, if the options ask for it. Called at the start and in a
 * child, after tr_stacks_init(). False: tracking is off.
 */
bool tr_alloc_start(const struct tr_config *config);
/*
 * From now on the first allocation starts the tracking. `open` opens the
 * ledger if none is open, and is signal-safe. Also in a forked child.
 */
void tr_alloc_prepare(const struct tr_config *config, bool (*open)(void));
/* Stops all tracking. */
void tr_alloc_halt(void);
bool tr_alloc_is_on(void);
/* enum tr_heap_mode; 0: allocations are not tracked. Stays in a child. */
extern uint32_t tr_alloc_mode;

/*
 * Records an allocated block, which has an even address. An allocator calls
 * this last and returns its result, the block: the stack then starts at the
 * allocator's caller, without the allocator itself. Any thread, signal-safe.
 */
void *tr_alloc_added(void *block, size_t size);
/* The same if only the caller's address is known. */
void tr_alloc_added_at(const void *block, size_t size, uint64_t pc);
/* Removes a block. Call before the free: the address may be reused at once. */
void tr_alloc_removed(const void *block);

/* Called at each counted allocation, with its bytes; NULL: no call. */
extern void (*tr_alloc_seen)(uint64_t bytes);

/* Removal in two parts, for realloc: take, then gone or kept. */
struct tr_alloc_taken {
	uint64_t key, what;
	bool is_known, is_deferred;
};
void tr_alloc_take(const void *block, struct tr_alloc_taken *ret_taken);
void tr_alloc_gone(const struct tr_alloc_taken *taken);
void tr_alloc_kept(const struct tr_alloc_taken *taken);

/*
 * Sampled mode: subtract the size from tr_alloc_left; below 0, and for a block
 * without bytes, call tr_alloc_sampled(). Remove a block only if its place in
 * the filter is not 0.
 */
#define TR_ALLOC_FILTER 65536u
extern __thread int64_t tr_alloc_left
#if !defined(TARE_TLS_DYNAMIC)
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
#else
	__attribute__((visibility("hidden")));
#endif
extern uint8_t tr_alloc_filter[TR_ALLOC_FILTER];

/* Blocks without bytes count as 1: else none of them would be sampled. */
TR_INLINE int64_t tr_alloc_step(uint64_t size)
{
	return (int64_t)(size + !size);
}
void *tr_alloc_sampled(void *block, size_t size);

TR_INLINE uint32_t tr_alloc_filter_of(uint64_t key)
{
	return (uint32_t)((key >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 48);
}
/* ---- alloc_map.c ------------------------------------------------------- */

/* Track memory that the program maps itself. */
extern bool tr_alloc_maps;
/* The program has mapped memory; records the caller's caller. */
void tr_alloc_map(const void *at, size_t n);
/*
 * The program unmaps, or has unmapped, all or part of a mapping. True: the
 * mapping was tracked.
 */
bool tr_alloc_unmap(const void *at, size_t n);

/* ---- snapshot.c -------------------------------------------------------- */

/*
 * The stack whose live bytes grew most since the last tr_alloc_mark(). False:
 * none grew, or tracking is off. One thread at a time.
 */
struct tr_alloc_growth {
	uint32_t stack;
	uint64_t bytes;
};
void tr_alloc_mark(void);
bool tr_alloc_growth(struct tr_alloc_growth *ret_growth);

#endif
