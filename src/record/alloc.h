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
 * Tracks allocations, if the options ask for it. At the start and in a child;
 * after tr_stacks_init(). False: it is off.
 */
bool tr_alloc_start(const struct tr_config *config);
/*
 * From now on the first event starts the tracking. `open` opens the ledger, if
 * there is none yet, and is signal-safe. Also in a forked child.
 */
void tr_alloc_prepare(const struct tr_config *config, bool (*open)(void));
/* Nothing is noted any more. */
void tr_alloc_halt(void);
bool tr_alloc_is_on(void);
/* enum tr_heap_mode; 0: allocations are not tracked. Stays in a child. */
extern uint32_t tr_alloc_mode;

/*
 * A block came, of an even address. For the last call of an allocator, which
 * returns what it gives back, the block: the stack is that of its caller, and
 * the allocator itself is not on it. Any thread, signal-safe.
 */
void *tr_alloc_added(void *block, size_t size);
/* The same with nothing known but the caller. */
void tr_alloc_added_at(const void *block, size_t size, uint64_t pc);
/* It goes. Before it does: its address may come again at once. */
void tr_alloc_removed(const void *block);

/* Called at each counted allocation, with its bytes; NULL: no call. */
extern void (*tr_alloc_seen)(uint64_t bytes);

/* The same in steps, for realloc: taken out, and then gone or kept. */
struct tr_alloc_taken {
	uint64_t key, what;
	bool is_known, is_deferred;
};
void tr_alloc_take(const void *block, struct tr_alloc_taken *ret_taken);
void tr_alloc_gone(const struct tr_alloc_taken *taken);
void tr_alloc_kept(const struct tr_alloc_taken *taken);

/*
 * Sampled: take the size off tr_alloc_left; below 0, tr_alloc_sampled(). A
 * block is to be removed only if its place in the filter is not 0.
 */
#define TR_ALLOC_FILTER 65536u
extern __thread int64_t tr_alloc_left
#if !defined(TARE_TLS_DYNAMIC)
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
#else
	__attribute__((visibility("hidden")));
#endif
extern uint8_t tr_alloc_filter[TR_ALLOC_FILTER];
void *tr_alloc_sampled(void *block, size_t size);

TR_INLINE uint32_t tr_alloc_filter_of(uint64_t key)
{
	return (uint32_t)((key >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 48);
}
/* ---- alloc_map.c ------------------------------------------------------- */

/* The program maps memory itself, and that is to be noted. */
extern bool tr_alloc_maps;
/* It did; the caller's caller is noted. */
void tr_alloc_map(const void *at, size_t n);
/* It will unmap all or a part of what it mapped, or did. True: was noted. */
bool tr_alloc_unmap(const void *at, size_t n);

/* ---- snapshot.c -------------------------------------------------------- */

/*
 * Which stack has more live bytes than at the last tr_alloc_mark(), and most
 * so? False: none, or tracking is off. One thread at a time.
 */
struct tr_alloc_growth {
	uint32_t stack;
	uint64_t bytes;
};
void tr_alloc_mark(void);
bool tr_alloc_growth(struct tr_alloc_growth *ret_growth);

#endif
