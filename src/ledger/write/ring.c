/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ring: the last values of a cell, with their times.
 *
 * A ring is small at first and grows eightfold each time it is full, up to the
 * requested size, because most series of a program have few values. Sizes are
 * powers of two, so that no index needs a division. Growing is a copy: a ring
 * is full for the first time when its newest value is in its last place, so
 * every value keeps its place. The old rings are a seventh of the larger one,
 * and are not used again, because a reader may still read them.
 *
 * All rings together have a part of the ledger. When that is used up, a ring
 * stays as it is, and a new cell has none.
 */
#include "ledger/write/place.h"

#include <assert.h>

#define RING_FIRST 16u
#define RING_STEP 8u

static uint32_t power_from(uint32_t n)
{
	uint32_t power = 1;

	while (power < n)
		power *= 2;
	return power;
}

static uint32_t bytes_of(uint32_t size)
{
	return (uint32_t)sizeof(struct tr_values) + size * 16;
}

/* Allocates a ring from the rings' part of the ledger; 0 if there is none. */
static uint32_t take_ring(struct tr_thread *thread, uint32_t size,
			  uint32_t keep)
{
	uint64_t bytes = bytes_of(size);
	struct tr_values *values;
	uint32_t off;

	assert(size && !(size & (size - 1)));
	assert(keep);
	if (TR_ADD(tr_ledger->rings_used, bytes) + bytes >
	    tr_ledger->rings_limit)
		goto refuse;
	off = tr_track_alloc(thread, (uint32_t)bytes);
	if (!off)
		goto refuse;
	values = (void *)(thread->base + off);
	TR_STORE(values->size, size);
	TR_STORE(values->keep, keep);
	return off;
refuse:
	(void)TR_ADD(tr_ledger->rings_used, -bytes);
	return 0;
}

/* Number of values to keep for the series. */
static uint32_t wanted(const struct tr_site *site)
{
	uint32_t flags = TR_LOAD(site->flags);
	uint32_t n = tr_site_is_kept(site) ? tr_ledger->keep_values : 0;

	if (flags & TR_SITE_INTERNAL) /* a small one costs the same time */
		return n < RING_FIRST ? n : RING_FIRST - 1;
	return flags & TARE_SITE_STAGE && n < TR_STAGE_VALUES ?
		       TR_STAGE_VALUES :
		       n;
}

/*
 * Size of a ring that must not grow any more. A value (not a time, which is
 * also in the log) is written to its place before it counts, so that place must
 * not be one that is shown.
 */
static uint32_t full_size(const struct tr_cell *cell, uint32_t keep)
{
	bool is_time = tr_site_at(cell->site)->kind == TARE_KIND_SCOPE;

	return power_from(is_time ? keep : keep + 1);
}

void tr_ring_start(struct tr_thread *thread, struct tr_cell *cell)
{
	uint32_t keep = wanted(tr_site_at(cell->site)), size, off;

	assert(tr_thread_is_busy(thread));
	if (!keep)
		return;
	size = full_size(cell, keep);
	off = take_ring(thread, size < RING_FIRST ? size : RING_FIRST, keep);
	if (off)
		TR_PUBLISH(cell->values, off);
}

static void copy_values(struct tr_values *to, const struct tr_values *from,
			uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		TR_STORE(to->at[i].ticks, TR_LOAD(from->at[i].ticks));
		TR_STORE(to->at[i].value, TR_LOAD(from->at[i].value));
	}
	TR_STORE(to->written, n);
}

TR_COLD void tr_ring_grow(struct tr_thread *thread, struct tr_cell *cell,
			  const struct tr_values *values)
{
	assert(tr_thread_is_busy(thread));
	/* Each is read once: it becomes 0 when the file is truncated. */
	uint32_t size = TR_LOAD(values->size), keep = TR_LOAD(values->keep);
	uint32_t full = full_size(cell, keep), off;

	if (!size || TR_LOAD(values->written) != size || size >= full)
		return;
	off = take_ring(thread, size > full / RING_STEP ? full :
							  size * RING_STEP,
			keep);
	if (!off)
		return;
	copy_values((void *)(thread->base + off), values, size);
	TR_PUBLISH(cell->values, off);
}

bool tr_site_is_kept(const struct tr_site *site)
{
	uint32_t flags = TR_LOAD(site->flags), kinds = tr_ledger->keep_kinds;

	if (flags & TR_SITE_INTERNAL && !(flags & TR_SITE_KEPT))
		return false;
	if (flags & TARE_SITE_OPERATION && kinds & TR_KEEP_OPERATION)
		return true;
	return kinds >> (site->kind & 31) & 1;
}
