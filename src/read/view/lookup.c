/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lookup: elements of an array, found by a hash of their key.
 *
 * The hash is stored beside the index, so the table can grow without reading
 * the elements, and most mismatches are found by it.
 */
#include "read/view.h"

#include <stdlib.h>

#define FIRST_SLOTS 256u

static void place(const struct tr_lookup *lookup, struct tr_lookup_slot slot)
{
	uint32_t at = slot.hash & lookup->mask;

	while (lookup->slot[at].number)
		at = (at + 1) & lookup->mask;
	lookup->slot[at] = slot;
}

static bool grow(struct tr_lookup *lookup)
{
	uint32_t before = lookup->slot ? lookup->mask + 1 : 0;
	uint32_t size = before ? 2 * before : FIRST_SLOTS;
	struct tr_lookup grown = { calloc(size, sizeof(*grown.slot)), size - 1,
				  lookup->n };

	if (!grown.slot)
		return false;
	for (uint32_t i = 0; i < before; i++)
		if (lookup->slot[i].number)
			place(&grown, lookup->slot[i]);
	free(lookup->slot);
	*lookup = grown;
	return true;
}

uint32_t tr_lookup_next(const struct tr_lookup *lookup, uint32_t hash,
		       uint32_t *step)
{
	while (lookup->slot) {
		const struct tr_lookup_slot *slot =
			&lookup->slot[(hash + (*step)++) & lookup->mask];

		if (!slot->number)
			break;
		if (slot->hash == hash)
			return slot->number - 1;
	}
	return TR_LOOKUP_NONE;
}

bool tr_lookup_add(struct tr_lookup *lookup, uint32_t hash, uint32_t number)
{
	if (lookup->n >= lookup->mask / 2 && !grow(lookup))
		return false;
	place(lookup, (struct tr_lookup_slot){ hash, number + 1 });
	lookup->n++;
	return true;
}

uint32_t tr_hash_text(uint32_t hash, const char *text)
{
	do
		hash = (hash ^ (unsigned char)*text) * 16777619u;
	while (*text++);
	return hash;
}

uint32_t tr_hash_pair(uint64_t a, uint64_t b)
{
	return (uint32_t)((a << 32 ^ b) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

void tr_lookup_release(struct tr_lookup *lookup)
{
	free(lookup->slot);
	*lookup = (struct tr_lookup){ NULL, 0, 0 };
}
