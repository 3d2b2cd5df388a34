/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: the live blocks, their sizes and the rows they count in.
 *
 * Open addressing in shards, 16 bytes a block, at most 5/8 full. Each region
 * of addresses (1 MiB) has a shard, so that threads with separate memory, as
 * allocators assign it, rarely share a shard. A shard's lock is held for a
 * look-up, and for the copy when it grows; no thread waits for the growth of
 * another shard.
 *
 * A signal handler never waits here, because its thread would be inside. Nor
 * does a forked child: everything is in memory that a fork wipes, so a child
 * starts empty.
 *
 * In a single-threaded program (libc knows) the lock is a plain store.
 */
#ifndef TR_RECORD_ALLOC_BLOCKS_H
#define TR_RECORD_ALLOC_BLOCKS_H

#include "ledger/write.h"

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 32)
#include <sys/single_threaded.h>
#define TR_HAS_SINGLE_THREADED 1
#endif
#endif

/* An entry of the table: one block. */
struct tr_block_entry {
	uint64_t key; /* address; 0: empty. An odd one is a tag's */
	uint64_t what; /* size << TR_BLOCK_SHIFT | row */
};

#define TR_BLOCK_SHIFT 24u
#define TR_BLOCK_ROW ((UINT64_C(1) << TR_BLOCK_SHIFT) - 1)
#define TR_BLOCK_MOST (UINT64_C(1) << (64 - TR_BLOCK_SHIFT))

#define TR_BLOCK_SHARDS 256u
#define TR_BLOCK_REGION 20u /* address bits within a region */

struct tr_block_shard {
	uint32_t lock;
	uint32_t n;
	uint64_t cap; /* a power of two, or 0 */
	struct tr_block_entry *at;
	uint64_t pad[5];
};

_Static_assert(sizeof(struct tr_block_shard) == TR_LINE, "one line");

struct tr_blocks {
	uint64_t bytes;
	uint64_t pad[7];
	struct tr_block_shard shard[TR_BLOCK_SHARDS];
};

extern struct tr_blocks *tr_blocks; /* in wiped memory */

bool tr_blocks_init(void);
/* In a child, where the kernel does not wipe it. */
void tr_blocks_wipe(void);
/* Waits until the lock is free, and takes it. */
void tr_blocks_wait(uint32_t *lock);
/* Makes room for one more entry; false: no memory. Locked. */
bool tr_blocks_grow(struct tr_block_shard *shard);
/* Closes the gap at a removed entry. Locked. */
void tr_blocks_close(struct tr_block_shard *shard, uint64_t hole);

TR_INLINE bool tr_is_alone(void)
{
#if defined(TR_HAS_SINGLE_THREADED)
	return __libc_single_threaded;
#else
	return false;
#endif
}

TR_INLINE void tr_block_lock(struct tr_block_shard *shard)
{
	if (tr_is_alone())
		TR_STORE(shard->lock, 1);
	else if (TR_UNLIKELY(__atomic_exchange_n(&shard->lock, 1,
						 __ATOMIC_ACQUIRE)))
		tr_blocks_wait(&shard->lock);
}

TR_INLINE void tr_block_unlock(struct tr_block_shard *shard)
{
	TR_PUBLISH(shard->lock, 0);
}

TR_INLINE struct tr_block_shard *tr_block_shard(uint64_t key)
{
	return &tr_blocks->shard[(key >> TR_BLOCK_REGION) *
				 UINT64_C(0x9E3779B97F4A7C15) >> 56];
}

TR_INLINE uint64_t tr_block_place(uint64_t key, uint64_t cap)
{
	return (key >> 3) * UINT64_C(0x9E3779B97F4A7C15) >> 20 & (cap - 1);
}

TR_INLINE bool tr_block_put_locked(struct tr_block_shard *shard,
				   const struct tr_block_entry *entry,
				   struct tr_block_entry *ret_old)
{
	struct tr_block_entry *at;
	uint64_t i;

	if (TR_UNLIKELY(shard->n * UINT64_C(8) >= shard->cap * 5) &&
	    !tr_blocks_grow(shard))
		return false;
	at = shard->at;
	i = tr_block_place(entry->key, shard->cap);
	while (TR_UNLIKELY(at[i].key != 0)) {
		if (TR_UNLIKELY(at[i].key == entry->key)) {
			*ret_old = at[i];
			at[i] = *entry;
			return true;
		}
		i = (i + 1) & (shard->cap - 1);
	}
	at[i] = *entry;
	shard->n++;
	return true;
}

/*
 * False: there is no memory. *ret_old: the previous entry with this key, whose
 * free was not reported; its key is 0 if there was none. Inside.
 */
TR_INLINE bool tr_blocks_put(const struct tr_block_entry *entry,
			     struct tr_block_entry *ret_old)
{
	struct tr_block_shard *shard = tr_block_shard(entry->key);
	bool done;

	ret_old->key = 0;
	tr_block_lock(shard);
	done = tr_block_put_locked(shard, entry, ret_old);
	tr_block_unlock(shard);
	return done;
}

TR_INLINE bool tr_block_take_locked(struct tr_block_shard *shard, uint64_t key,
				    struct tr_block_entry *ret_entry)
{
	uint64_t i, mask = shard->cap - 1;

	if (TR_UNLIKELY(!shard->n))
		return false;
	i = tr_block_place(key, shard->cap);
	while (TR_UNLIKELY(shard->at[i].key != key)) {
		if (!shard->at[i].key)
			return false;
		i = (i + 1) & mask;
	}
	*ret_entry = shard->at[i];
	shard->n--;
	shard->at[i].key = 0;
	if (TR_UNLIKELY(shard->at[(i + 1) & mask].key != 0))
		tr_blocks_close(shard, i);
	return true;
}

/* Removes the entry; false: there is none. Inside. */
TR_INLINE bool tr_blocks_take(uint64_t key, struct tr_block_entry *ret_entry)
{
	struct tr_block_shard *shard = tr_block_shard(key);
	bool done;

	tr_block_lock(shard);
	done = tr_block_take_locked(shard, key, ret_entry);
	tr_block_unlock(shard);
	return done;
}

#endif
