/* SPDX-License-Identifier: Apache-2.0 */
#include "areas.h"

#include <sys/mman.h>

#define FIRST_SLOTS 64u
#define AREA_BYTES (TR_AREA_CELLS * sizeof(tr_cell))

static void *map_zeros(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

static struct tr_area *free_slot(const struct tr_areas *areas, uint64_t number)
{
	uint64_t i = number & (areas->n_slots - 1);

	while (areas->slot[i].number)
		i = (i + 1) & (areas->n_slots - 1);
	return &areas->slot[i];
}

/* Keeps three quarters of the slots free. */
static bool grow(struct tr_areas *areas)
{
	struct tr_areas old = *areas;
	uint64_t n = old.n_slots ? old.n_slots * 2 : FIRST_SLOTS;
	struct tr_area *slot;

	if (old.n_used * 4 < old.n_slots)
		return true;
	slot = map_zeros(n * sizeof(*slot));
	if (!slot)
		return false;
	areas->slot = slot;
	areas->n_slots = n;
	for (uint64_t i = 0; i < old.n_slots; i++)
		if (old.slot[i].number)
			*free_slot(areas, old.slot[i].number) = old.slot[i];
	if (old.slot)
		(void)munmap(old.slot, old.n_slots * sizeof(*old.slot));
	return true;
}

tr_cell *tr_areas_make(struct tr_areas *areas, uintptr_t address)
{
	uint64_t number = address >> TR_AREA_BITS;
	struct tr_area *area;
	tr_cell *cell;

	if (!number || !grow(areas))
		return NULL;
	cell = map_zeros(AREA_BYTES);
	if (!cell)
		return NULL;
	area = free_slot(areas, number);
	area->number = number;
	area->cell = cell;
	areas->n_used++;
	return &cell[address >> TR_CELL_BITS & (TR_AREA_CELLS - 1)];
}

void tr_areas_release(struct tr_areas *areas)
{
	for (uint64_t i = 0; i < areas->n_slots; i++)
		if (areas->slot[i].number)
			(void)munmap(areas->slot[i].cell, AREA_BYTES);
	if (areas->slot)
		(void)munmap(areas->slot,
			     areas->n_slots * sizeof(*areas->slot));
	*areas = (struct tr_areas){ 0 };
}
