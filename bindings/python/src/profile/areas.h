/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Areas: where small blocks come from, address -> site and size.
 *
 * An area is a MiB of addresses. It has a cell of 8 bytes for each 16 bytes of
 * addresses: a block is found without a search, blocks beside each other share
 * cache lines, and a free writes one word. Cells are pages of the kernel, which
 * come with their use: half of what the interpreter has for small objects.
 *
 * Areas are found by a hash table that small programs use one line of.
 */
#ifndef TR_PY_AREAS_H
#define TR_PY_AREAS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TR_AREA_BITS 20u
#define TR_CELL_BITS 4u /* blocks are aligned to 16 bytes */
#define TR_AREA_CELLS (1u << (TR_AREA_BITS - TR_CELL_BITS))
#define TR_SMALL_BYTES 512u /* what the interpreter calls small */

/* A cell: size << 32 | site << 1 | 1, or 0: no block. */
typedef uint64_t tr_cell;

struct tr_area {
	uint64_t number; /* address >> TR_AREA_BITS; 0: free */
	tr_cell *cell;
};

struct tr_areas {
	struct tr_area *slot; /* hash table, a power of 2 */
	uint64_t n_slots, n_used;
};

/* A cell of a new area. NULL: no memory. */
tr_cell *tr_areas_make(struct tr_areas *areas, uintptr_t address);
void tr_areas_release(struct tr_areas *areas);

static inline tr_cell tr_cell_of(uint32_t site, size_t size)
{
	return (uint64_t)size << 32 | (uint64_t)site << 1 | 1;
}

static inline uint32_t tr_cell_site(tr_cell cell)
{
	return (uint32_t)cell >> 1;
}

static inline size_t tr_cell_size(tr_cell cell)
{
	return (size_t)(cell >> 32);
}

/* Whether a block of this size belongs into a cell. */
static inline bool tr_areas_fit(uintptr_t address, size_t size)
{
	return size <= TR_SMALL_BYTES &&
	       !(address & ((1u << TR_CELL_BITS) - 1));
}

/* NULL: there is none for this address. */
static inline tr_cell *tr_areas_find(const struct tr_areas *areas,
				     uintptr_t address)
{
	uint64_t number = address >> TR_AREA_BITS, mask = areas->n_slots - 1;
	const struct tr_area *area;

	if (__builtin_expect(!areas->slot ||
			     address & ((1u << TR_CELL_BITS) - 1), 0))
		return NULL;
	for (uint64_t i = number & mask;; i = (i + 1) & mask) {
		area = &areas->slot[i];
		if (__builtin_expect(area->number == number, 1))
			return &area->cell[address >> TR_CELL_BITS &
					   (TR_AREA_CELLS - 1)];
		if (!area->number)
			return NULL;
	}
}

#endif
