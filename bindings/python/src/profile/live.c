/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include <sys/mman.h>

#define FIRST_SLOTS 16384u
#define SMALL_SLOTS 65536u /* 1 MiB: may be rather empty */
#define MOST_SLOTS (UINT64_C(1) << 31)
#define FIRST_BIG 256u

static void *map_zeros(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static void insert(struct tr_live *live, struct tr_block block)
{
	uint64_t i = tr_live_home(live, block.address);

	while (live->slot[i].address)
		if (++i == live->n_slots)
			i = 0;
	live->slot[i] = block;
}

/*
 * Small ones to the double, others by a quarter; or to the same size if many
 * slots are only marks. At most 5/8 of the slots are in use: fuller tables
 * search longer.
 */
bool tr_live_grow(struct tr_live *live)
{
	struct tr_live old = *live;
	uint64_t n = old.n_slots ? old.n_slots : FIRST_SLOTS;
	struct tr_block *slot;

	if (old.n_used >= old.limit / 5 * 4)
		n += old.n_slots < SMALL_SLOTS ? n : n / 4;
	if (n > MOST_SLOTS)
		return false;
	slot = map_zeros(n * sizeof(*slot));
	if (!slot)
		return false;
	live->slot = slot;
	live->n_slots = n;
	live->limit = n / 8 * 5;
	live->n_filled = live->n_used;
	for (uint64_t i = 0; i < old.n_slots; i++)
		if (old.slot[i].address > TR_GONE)
			insert(live, old.slot[i]);
	if (old.slot)
		(void)munmap(old.slot, old.n_slots * sizeof(*old.slot));
	return true;
}

/* The last of a row of slots in use: marks before it are free, too. */
void tr_live_remove_last(struct tr_live *live, uint64_t i)
{
	while (live->slot[i].address == TR_GONE) {
		live->slot[i].address = 0;
		live->n_filled--;
		i = i ? i - 1 : live->n_slots - 1;
	}
}

static bool grow_big(struct tr_live *live)
{
	size_t n = live->n_big_slots ? live->n_big_slots * 2 : FIRST_BIG;
	struct tr_big_block *big = map_zeros(n * sizeof(*big));

	if (!big)
		return false;
	for (size_t i = 0; i < live->n_big; i++)
		big[i] = live->big[i];
	if (live->big)
		(void)munmap(live->big, live->n_big_slots * sizeof(*big));
	live->big = big;
	live->n_big_slots = n;
	return true;
}

bool tr_live_add_big(struct tr_live *live, uintptr_t address, size_t size)
{
	if (live->n_big == live->n_big_slots && !grow_big(live))
		return false;
	live->big[live->n_big++] = (struct tr_big_block){ address, size };
	return true;
}

size_t tr_live_size(const struct tr_live *live, const struct tr_block *block)
{
	if (block->size != TR_BIG)
		return block->size;
	for (size_t i = 0; i < live->n_big; i++)
		if (live->big[i].address == block->address)
			return live->big[i].size;
	return TR_BIG;
}

size_t tr_live_take_big(struct tr_live *live, uintptr_t address)
{
	for (size_t i = 0; i < live->n_big; i++) {
		size_t size = live->big[i].size;

		if (live->big[i].address != address)
			continue;
		live->big[i] = live->big[--live->n_big];
		return size;
	}
	return TR_BIG;
}

void tr_live_release(struct tr_live *live)
{
	if (live->slot)
		(void)munmap(live->slot, live->n_slots * sizeof(*live->slot));
	if (live->big)
		(void)munmap(live->big, live->n_big_slots * sizeof(*live->big));
	*live = (struct tr_live){ 0 };
}
