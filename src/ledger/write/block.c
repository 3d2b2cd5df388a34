/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks: a bounded ring of records of operations.
 *
 * One ring of 1 KiB blocks per process. A track fills a block of its own. When
 * it is full, the track takes the next one by a ticket, and overwrites the
 * oldest that no thread is filling. So writers never share a block, the ring
 * has a fixed size for any number of threads, and every record is stored,
 * trimmed or counted as lost.
 *
 * The ring may grow while the program runs: the next tickets then lead beyond
 * its old end, as if it had just wrapped around.
 */
#include "ledger/write.h"

#include <assert.h>

#define TR_BLOCK_TRIES 8

static struct tr_block *block_at(uint32_t number)
{
	struct tr_region *blocks = &tr_ledger->region[TR_REGION_BLOCKS];

	return (void *)(tr_ledger->base + blocks->off +
			(uint64_t)number * TR_BLOCK_BYTES);
}

/* Blocks are allocated in order, in the first round. */
static bool make_real(uint32_t number)
{
	struct tr_region *blocks = &tr_ledger->region[TR_REGION_BLOCKS];
	uint64_t end = ((uint64_t)number + 1) * TR_BLOCK_BYTES;

	while (TR_LOAD(blocks->used) < end)
		if (!tr_region_take(TR_REGION_BLOCKS, TR_BLOCK_BYTES))
			return TR_LOAD(blocks->used) >= end;
	return true;
}

static bool claim(struct tr_block *block, uint32_t owner)
{
	uint32_t no_owner = 0;

	return TR_SWAP(block->owner, &no_owner, owner);
}

/*
 * The block of a ticket; UINT32_MAX: none. Without space for more blocks it is
 * one of those that exist.
 */
static uint32_t number_of(uint64_t ticket)
{
	uint64_t count = TR_LOAD(tr_ledger->block_count), real;
	uint32_t number = (uint32_t)((ticket -
				      TR_LOAD(tr_ledger->block_base)) % count);

	if (make_real(number))
		return number;
	real = TR_LOAD(tr_ledger->region[TR_REGION_BLOCKS].used) /
	       TR_BLOCK_BYTES;
	return real ? (uint32_t)(ticket % real) : UINT32_MAX;
}

static TR_NOINLINE struct tr_block *take_block(struct tr_thread *thread)
{
	struct tr_header *header = tr_ledger->header;

	assert(tr_thread_is_busy(thread));
	for (int i = 0; i < TR_BLOCK_TRIES; i++) {
		uint64_t ticket = TR_ADD(header->records_taken, 1);
		uint32_t number = number_of(ticket);
		struct tr_block *block;

		if (number == UINT32_MAX)
			return NULL;
		block = block_at(number);
		if (!claim(block, thread->index + 1))
			continue; /* still being filled by another track */
		(void)TR_ADD(header->records_trimmed,
			     TR_LOAD(block->records));
		TR_PUBLISH(block->used, 0);
		TR_STORE(block->records, 0);
		TR_PUBLISH(block->ticket, ticket + 1);
		thread->own_track->block = number + 1;
		return block;
	}
	return NULL;
}

void tr_blocks_resize(uint64_t records)
{
	struct tr_header *header = tr_ledger->header;
	uint64_t most = tr_ledger->region[TR_REGION_BLOCKS].cap /
			TR_BLOCK_BYTES;
	uint64_t wanted = tr_blocks_for(records);
	uint32_t count = TR_LOAD(tr_ledger->block_count);
	uint64_t taken = TR_LOAD(header->records_taken);

	if (wanted > most)
		wanted = most;
	if (wanted <= count)
		return;
	/*
	 * A thread that sees only one of the two changes takes a block that is
	 * not the oldest, and nothing worse.
	 */
	if (taken - TR_LOAD(tr_ledger->block_base) > count)
		TR_STORE(tr_ledger->block_base, taken - count);
	TR_STORE(tr_ledger->block_count, (uint32_t)wanted);
	TR_STORE(header->block_count, (uint32_t)wanted);
}

/* Blocks are aligned to their size. */
TR_INLINE struct tr_block *block_of(const uint64_t *place)
{
	return (struct tr_block *)((uintptr_t)place &
				   ~(uintptr_t)(TR_BLOCK_BYTES - 1));
}

TR_INLINE uint64_t *place_in(struct tr_block *block, uint32_t used)
{
	return (uint64_t *)(void *)((char *)(block + 1) + used);
}

static uint64_t *place_for(struct tr_thread *thread, uint32_t bytes)
{
	assert(bytes % 8 == 0);
	/* Each is read once: it becomes 0 when the file is truncated. */
	uint32_t number = TR_LOAD(thread->own_track->block), used;
	struct tr_block *block;

	if (number) {
		block = block_at(number - 1);
		used = TR_LOAD(block->used);
		if (sizeof(*block) + used + bytes <= TR_BLOCK_BYTES)
			return place_in(block, used);
		thread->own_track->block = 0;
		TR_PUBLISH(block->owner, 0);
	}
	block = take_block(thread);
	return block ? place_in(block, 0) : NULL;
}

uint64_t *tr_block_reserve(struct tr_thread *thread, uint32_t bytes)
{
	uint64_t *place;

	assert(tr_thread_is_busy(thread));
	assert(bytes && bytes % 8 == 0);
	if (TR_LOAD(tr_ledger->header->max_history) == 0)
		return NULL;
	place = place_for(thread, bytes);
	if (!place)
		TR_STORE(thread->own_track->lost.records,
			 thread->own_track->lost.records + 1);
	return place;
}

void tr_block_commit(uint64_t *place, uint32_t bytes)
{
	struct tr_block *block = block_of(place);
	uint32_t used = (uint32_t)((char *)place - (char *)(block + 1));

	assert(place);
	assert(bytes && bytes % 8 == 0);
	TR_STORE(block->records, block->records + 1);
	TR_PUBLISH(block->used, used + bytes);
}
