/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live blocks that are in no area: address -> site and size. 16 bytes an
 * entry, in pages of its own, at most 5/8 full: about 28 bytes a block.
 *
 * Open addressing over any number of slots. A removed entry leaves a mark if
 * the slot behind it is in use; a new entry takes the first mark or free slot
 * that it finds. Moving later entries back instead costs twice as much.
 */
#ifndef TR_PY_LIVE_H
#define TR_PY_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tr_block {
	uintptr_t address; /* 0: free slot; TR_GONE: was in use */
	uint32_t site;
	uint32_t size; /* TR_BIG: in the list of big blocks */
};

#define TR_BIG UINT32_MAX
#define TR_GONE 1u /* no block is there */

struct tr_big_block {
	uintptr_t address;
	size_t size;
};

struct tr_live {
	struct tr_block *slot;
	uint64_t n_slots, n_used;
	uint64_t n_filled, limit; /* slots that are not free */
	struct tr_big_block *big; /* of 4 GiB and more: few */
	size_t n_big, n_big_slots;
};

static inline uint64_t tr_live_home(const struct tr_live *live,
				    uintptr_t address)
{
	uint64_t mixed = (uint64_t)address * 0x9E3779B97F4A7C15u;

	return (mixed >> 32) * live->n_slots >> 32;
}

/* False: no memory. The address must not be in the table. */
bool tr_live_grow(struct tr_live *live);
bool tr_live_add_big(struct tr_live *live, uintptr_t address, size_t size);
size_t tr_live_take_big(struct tr_live *live, uintptr_t address);
/* Of a block that tr_live_find() or a walk over the slots gave. */
size_t tr_live_size(const struct tr_live *live, const struct tr_block *block);
void tr_live_remove_last(struct tr_live *live, uint64_t i);
void tr_live_release(struct tr_live *live);

static inline bool tr_live_put(struct tr_live *live, uintptr_t address,
			       uint32_t site, size_t size)
{
	uint64_t i;

	if (__builtin_expect(live->n_filled >= live->limit, 0) &&
	    !tr_live_grow(live))
		return false;
	if (__builtin_expect(size >= TR_BIG, 0)) {
		if (!tr_live_add_big(live, address, size))
			return false;
		size = TR_BIG;
	}
	i = tr_live_home(live, address);
	while (live->slot[i].address > TR_GONE)
		if (++i == live->n_slots)
			i = 0;
	live->n_filled += live->slot[i].address == 0;
	live->slot[i] = (struct tr_block){ address, site, (uint32_t)size };
	live->n_used++;
	return true;
}

/* NULL: not in the table. */
static inline struct tr_block *tr_live_find(struct tr_live *live,
					    uintptr_t address)
{
	uint64_t i;

	if (!live->n_used)
		return NULL;
	i = tr_live_home(live, address);
	while (live->slot[i].address != address) {
		if (!live->slot[i].address)
			return NULL;
		if (++i == live->n_slots)
			i = 0;
	}
	return &live->slot[i];
}

/* Removes a block. False: not in the table. */
static inline bool tr_live_take(struct tr_live *live, uintptr_t address,
				uint32_t *ret_site, size_t *ret_size)
{
	struct tr_block *block = tr_live_find(live, address);
	uint64_t i;

	if (!block)
		return false;
	i = (uint64_t)(block - live->slot);
	*ret_site = live->slot[i].site;
	*ret_size = live->slot[i].size;
	if (__builtin_expect(live->slot[i].size == TR_BIG, 0))
		*ret_size = tr_live_take_big(live, address);
	live->n_used--;
	live->slot[i].address = TR_GONE;
	if (!live->slot[i + 1 == live->n_slots ? 0 : i + 1].address)
		tr_live_remove_last(live, i);
	return true;
}

#endif
