/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that the program maps itself, in the table of allocations.
 *
 * Mappings get cut: an allocator maps more than it needs and unmaps the ends.
 * So mappings are sorted ranges, and an unmapped part is removed from them. A
 * range that is cut in two still counts as one allocation: the upper part has
 * no count of its own.
 *
 * These calls are rare and slow: an array and a lock, which is taken inside.
 */
#include "record/alloc/alloc.h"
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

/* The first range that ends after `at`. */
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

static void count_range(struct tr_alloc_thread *thread, uint32_t row,
			uint32_t count, uint64_t bytes, bool is_gone)
{
	struct tr_alloc_event event = {
		.row = row,
		.count = (uint64_t)count * TR_LOAD(
			tr_ledger->header->heap.unit),
		.bytes = bytes,
	};

	if (is_gone)
		tr_alloc_table_remove(thread, &event);
	else
		tr_alloc_table_add(thread, &event);
}

/* Removes the part of range i in [from, to); true: nothing is left of it. */
static bool cut_range(struct tr_alloc_thread *thread, uint32_t i, uint64_t from,
		      uint64_t to)
{
	struct tr_range *range = &ranges->at[i], upper = *range;
	uint64_t low = range->from > from ? range->from : from;
	uint64_t high = range->to < to ? range->to : to;
	bool is_all = low == range->from && high == range->to;

	count_range(thread, range->row, is_all ? range->count : 0, high - low,
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
	if (!range_insert(i + 1, &upper)) /* no room: drop the upper part */
		count_range(thread, upper.row, 0, upper.to - upper.from, true);
	return false;
}

/* True: some of the range was tracked. */
static bool unmap_range(struct tr_alloc_thread *thread, uint64_t from,
			uint64_t to)
{
	uint32_t i = range_after(from);
	bool was_there = false;

	while (i < ranges->n && ranges->at[i].from < to) {
		was_there = true;
		if (!cut_range(thread, i, from, to))
			i++;
	}
	return was_there;
}

static struct tr_alloc_thread *enter_ranges(void)
{
	struct tr_alloc_thread *thread = tr_alloc_enter();

	if (thread && !ranges) {
		tr_alloc_leave(thread);
		return NULL;
	}
	if (thread)
		tr_blocks_wait(&ranges->lock);
	return thread;
}

static void leave_ranges(struct tr_alloc_thread *thread)
{
	TR_PUBLISH(ranges->lock, 0);
	tr_alloc_leave(thread);
}

TR_NOINLINE void tr_alloc_map(const void *at, size_t n)
{
	struct tr_alloc_thread *thread = enter_ranges();
	struct tr_range range = { .from = (uintptr_t)at, .count = 1 };
	struct tr_unwind_at here;

	if (!thread)
		return;
	tr_unwind_here(&here);
	range.to = range.from + ((n + 4095) & ~(uint64_t)4095);
	range.row = thread->walk_cache ?
		    tr_walk_cache_row(thread->walk_cache, &here) :
				    tr_walk_row_plain(&here);
	(void)unmap_range(thread, range.from, range.to); /* replaced */
	if (range_insert(range_after(range.from), &range))
		count_range(thread, range.row, 1, range.to - range.from, false);
	else
		tr_alloc_unseen();
	leave_ranges(thread);
}

bool tr_alloc_unmap(const void *at, size_t n)
{
	struct tr_alloc_thread *thread = enter_ranges();
	uint64_t from = (uintptr_t)at;
	bool was_there;

	if (!thread)
		return false;
	was_there = unmap_range(thread, from,
				from + ((n + 4095) & ~(uint64_t)4095));
	leave_ranges(thread);
	return was_there;
}
