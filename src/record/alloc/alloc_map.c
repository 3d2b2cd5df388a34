/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the program maps itself, in the books of allocations.
 *
 * Mappings are cut: an allocator maps more than it needs and gives the ends
 * back. So they are ranges, in order, and what is unmapped is taken out of
 * them. A range that is cut in two counts as one allocation all the same: the
 * upper part has no count of its own.
 *
 * Rare and slow calls: an array and a lock, which is taken inside.
 */
#include "record/alloc/alloc.h"
#include "ledger/write.h"
#include "record/unwind.h"
#include "record/alloc.h"

#include <string.h>

#define TR_RANGES 16384u

struct tr_range {
	uint64_t from, to;
	uint32_t row;
	uint32_t count; /* 1 or 0 */
};

/* In wiped memory. */
struct tr_ranges {
	uint32_t lock;
	uint32_t n;
	struct tr_range at[TR_RANGES];
};

static struct tr_ranges *ranges;

void tr_alloc_map_init(void)
{
	bool wiped;

	if (!ranges)
		ranges = tr_memory_map_wiped(sizeof(*ranges), &wiped);
}

void tr_alloc_map_wipe(void)
{
	if (ranges)
		ranges->n = ranges->lock = 0;
}

/* The first range that ends behind `at`. */
static uint32_t range_after(uint64_t at)
{
	uint32_t low = 0, high = ranges->n;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (ranges->at[middle].to <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool range_insert(uint32_t i, const struct tr_range *range)
{
	if (ranges->n == TR_RANGES)
		return false;
	memmove(&ranges->at[i + 1], &ranges->at[i],
		(ranges->n - i) * sizeof(*range));
	ranges->at[i] = *range;
	ranges->n++;
	return true;
}

static void range_remove(uint32_t i)
{
	ranges->n--;
	memmove(&ranges->at[i], &ranges->at[i + 1],
		(ranges->n - i) * sizeof(ranges->at[0]));
}

static void book_range(struct tr_purser *purser, uint32_t row, uint32_t count,
		       uint64_t bytes, bool is_gone)
{
	struct tr_booking booking = {
		.row = row,
		.count = (uint64_t)count * TR_LOAD(
			tr_ledger->header->heap.unit),
		.bytes = bytes,
	};

	if (is_gone)
		tr_books_remove(purser, &booking);
	else
		tr_books_add(purser, &booking);
}

/* What of range i lies in [from, to) goes; true: it is gone altogether. */
static bool cut_range(struct tr_purser *purser, uint32_t i, uint64_t from,
		      uint64_t to)
{
	struct tr_range *range = &ranges->at[i], upper = *range;
	uint64_t low = range->from > from ? range->from : from;
	uint64_t high = range->to < to ? range->to : to;
	bool is_all = low == range->from && high == range->to;

	book_range(purser, range->row, is_all ? range->count : 0, high - low,
		   true);
	if (is_all) {
		range_remove(i);
		return true;
	}
	if (low == range->from) {
		range->from = high;
		return false;
	}
	range->to = low;
	if (high == upper.to)
		return false;
	upper.from = high;
	upper.count = 0;
	if (!range_insert(i + 1, &upper)) /* as if it were gone, too */
		book_range(purser, upper.row, 0, upper.to - upper.from, true);
	return false;
}

/* True: something of it was noted. */
static bool unmap_range(struct tr_purser *purser, uint64_t from, uint64_t to)
{
	uint32_t i = range_after(from);
	bool was_there = false;

	while (i < ranges->n && ranges->at[i].from < to) {
		was_there = true;
		if (!cut_range(purser, i, from, to))
			i++;
	}
	return was_there;
}

static struct tr_purser *enter_ranges(void)
{
	struct tr_purser *purser = tr_purser_enter();

	if (purser && !ranges) {
		tr_purser_leave(purser);
		return NULL;
	}
	if (purser)
		tr_blocks_wait(&ranges->lock);
	return purser;
}

static void leave_ranges(struct tr_purser *purser)
{
	TR_PUBLISH(ranges->lock, 0);
	tr_purser_leave(purser);
}

TR_NOINLINE void tr_alloc_map(const void *at, size_t n)
{
	struct tr_purser *purser = enter_ranges();
	struct tr_range range = { .from = (uintptr_t)at, .count = 1 };
	struct tr_unwind_at here;

	if (!purser)
		return;
	tr_unwind_here(&here);
	range.to = range.from + ((n + 4095) & ~(uint64_t)4095);
	range.row = purser->walks ? tr_walks_row(purser->walks, &here) :
				    tr_walk_row_plain(&here);
	(void)unmap_range(purser, range.from, range.to); /* it is over it */
	if (range_insert(range_after(range.from), &range))
		book_range(purser, range.row, 1, range.to - range.from, false);
	else
		tr_alloc_unseen();
	leave_ranges(purser);
}

bool tr_alloc_unmap(const void *at, size_t n)
{
	struct tr_purser *purser = enter_ranges();
	uint64_t from = (uintptr_t)at;
	bool was_there;

	if (!purser)
		return false;
	was_there = unmap_range(purser, from,
				from + ((n + 4095) & ~(uint64_t)4095));
	leave_ranges(purser);
	return was_there;
}
