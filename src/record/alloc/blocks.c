/* SPDX-License-Identifier: Apache-2.0 */
#include "record/alloc/blocks.h"

#include <assert.h>
#include <sched.h>
#include <string.h>

#define LEAST_CAP 256u /* a page */
#define SPINS 64

struct tr_blocks *tr_blocks;

bool tr_blocks_init(void)
{
	bool wiped;

	if (!tr_blocks)
		tr_blocks = tr_memory_map_wiped(sizeof(*tr_blocks), &wiped);
	return tr_blocks != NULL;
}

void tr_blocks_wipe(void)
{
	for (uint32_t i = 0; i < TR_BLOCK_SHARDS; i++) {
		struct tr_block_shard *shard = &tr_blocks->shard[i];

		if (shard->cap)
			tr_memory_unmap(shard->at,
					shard->cap * sizeof(*shard->at));
	}
	memset(tr_blocks, 0, sizeof(*tr_blocks));
}

void tr_blocks_wait(uint32_t *lock)
{
	for (int i = 1; __atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE); i++)
		if (i % SPINS == 0)
			(void)sched_yield();
}

static void move_blocks(const struct tr_block_shard *shard,
			struct tr_block_entry *to, uint64_t cap)
{
	for (uint64_t i = 0; i < shard->cap; i++) {
		uint64_t at;

		if (!shard->at[i].key)
			continue;
		at = tr_block_place(shard->at[i].key, cap);
		while (to[at].key)
			at = (at + 1) & (cap - 1);
		to[at] = shard->at[i];
	}
}

TR_COLD bool tr_blocks_grow(struct tr_block_shard *shard)
{
	uint64_t cap = shard->cap ? shard->cap * 2 : LEAST_CAP;
	struct tr_block_entry *to;
	bool wiped;

	assert(TR_LOAD(shard->lock));
	to = tr_memory_map_wiped(cap * sizeof(*to), &wiped);
	if (!to) /* crowded, but one place stays free: searches end there */
		return shard->n + 1 < shard->cap;
	move_blocks(shard, to, cap);
	tr_memory_unmap(shard->at, shard->cap * sizeof(*to));
	TR_STORE(tr_ledger->header->heap.table_bytes,
		 __atomic_add_fetch(&tr_blocks->bytes,
				    (cap - shard->cap) * sizeof(*to),
				    __ATOMIC_RELAXED));
	shard->at = to;
	shard->cap = cap;
	return true;
}

/* Entries after the hole move up, unless they are at their hash place. */
TR_COLD void tr_blocks_close(struct tr_block_shard *shard, uint64_t hole)
{
	struct tr_block_entry *at = shard->at;
	uint64_t mask = shard->cap - 1, i = hole;

	assert(TR_LOAD(shard->lock));
	assert(hole < shard->cap);
	for (;;) {
		uint64_t home;

		i = (i + 1) & mask;
		if (!at[i].key)
			break;
		home = tr_block_place(at[i].key, shard->cap);
		if (((i - home) & mask) < ((i - hole) & mask))
			continue;
		at[hole] = at[i];
		hole = i;
	}
	at[hole].key = 0;
}
