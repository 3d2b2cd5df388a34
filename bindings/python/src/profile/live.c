/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include <sys/mman.h>

#define FIRST_SLOTS 4096u
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

/* By a third: the table is 3/5 to 4/5 full. */
bool tr_live_grow(struct tr_live *live)
{
	struct tr_live old = *live;
	uint64_t n = old.n_slots ? old.n_slots + old.n_slots / 3 : FIRST_SLOTS;
	struct tr_block *slot;

	if (n > MOST_SLOTS)
		return false;
	slot = map_zeros(n * sizeof(*slot));
	if (!slot)
		return false;
	live->slot = slot;
	live->n_slots = n;
	live->limit = n / 5 * 4;
	for (uint64_t i = 0; i < old.n_slots; i++)
		if (old.slot[i].address)
			insert(live, old.slot[i]);
	if (old.slot)
		(void)munmap(old.slot, old.n_slots * sizeof(*old.slot));
	return true;
}

static uint64_t distance(const struct tr_live *live, uint64_t from, uint64_t to)
{
	return to >= from ? to - from : to + live->n_slots - from;
}

/* Entries behind the hole move into it, if a search from their home does. */
void tr_live_remove_at(struct tr_live *live, uint64_t hole)
{
	uint64_t i = hole;

	live->n_used--;
	for (;;) {
		uint64_t home;

		if (++i == live->n_slots)
			i = 0;
		if (!live->slot[i].address)
			break;
		home = tr_live_home(live, live->slot[i].address);
		if (distance(live, home, i) < distance(live, hole, i))
			continue;
		live->slot[hole] = live->slot[i];
		hole = i;
	}
	live->slot[hole].address = 0;
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
