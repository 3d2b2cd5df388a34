/* SPDX-License-Identifier: Apache-2.0 */
#include "record/alloc/alloc.h"

#include <assert.h>

#include "record/stacks.h"

#define LEAST_SLACK 4096

struct tr_alloc_table *tr_alloc_table;

struct tr_alloc *tr_alloc_table_at(uint32_t row)
{
	const struct tr_region *region = &tr_ledger->region[TR_REGION_ALLOCS];

	return (struct tr_alloc *)(void *)(tr_ledger->base + region->off) +
	       row;
}

uint32_t tr_alloc_table_rows(void)
{
	return (uint32_t)(TR_LOAD(tr_ledger->region[TR_REGION_ALLOCS].used) /
			  sizeof(struct tr_alloc));
}

uint32_t tr_alloc_table_take_rows(uint32_t n)
{
	const struct tr_region *region = &tr_ledger->region[TR_REGION_ALLOCS];
	uint32_t off = tr_region_take(TR_REGION_ALLOCS,
				      n * sizeof(struct tr_alloc));

	assert(n);
	return off ? (off - (uint32_t)region->off) / sizeof(struct tr_alloc) :
		     0;
}

uint32_t tr_alloc_table_new_row(uint32_t what)
{
	uint32_t row = tr_alloc_table_take_rows(1);

	if (row)
		TR_PUBLISH(tr_alloc_table_at(row)->what, what);
	return row;
}

bool tr_alloc_table_init(const struct tr_config *config)
{
	struct tr_alloc_state *heap = &tr_ledger->header->heap;
	bool wiped, exact = config->alloc == TR_ALLOCS_EXACT;

	if (!tr_alloc_table)
		tr_alloc_table = tr_memory_map_wiped(sizeof(*tr_alloc_table),
						     &wiped);
	if (!tr_alloc_table)
		return false;
	(void)tr_alloc_table_take_rows(1); /* row 0: lost stacks */
	if (tr_alloc_table_rows() < 1)
		return false;
	TR_STORE(tr_alloc_table_at(0)->what,
		 (uint32_t)TR_ALLOC_STACK << TR_ALLOC_SHIFT | TR_STACK_LOST);
	tr_alloc_table->slack = LEAST_SLACK;
	tr_alloc_table->is_sole = true;
	TR_STORE(heap->unit, exact ? 1 : TR_SAMPLED_UNIT);
	TR_STORE(heap->mean_bytes, exact ? 0 : config->alloc_sample);
	TR_STORE(heap->mode, exact ? TR_HEAP_EXACT : TR_HEAP_SAMPLED);
	return true;
}

uint32_t tr_alloc_table_row(uint32_t stack)
{
	struct tr_stack *node = tr_stack_at(stack);
	uint32_t row, none = 0;

	if (!node || stack > TR_ALLOC_NUMBER || stack == TR_STACK_LOST)
		return 0;
	row = TR_ACQUIRE(node->alloc);
	if (row)
		return row - 1;
	row = tr_alloc_table_new_row((uint32_t)TR_ALLOC_STACK <<
				     TR_ALLOC_SHIFT | stack);
	if (!row || row > TR_BLOCK_ROW)
		return 0;
	/* Another thread with the same stack may be faster: ours is empty. */
	if (TR_SWAP(node->alloc, &none, row + 1))
		return row;
	TR_STORE(tr_alloc_table_at(row)->what, 0);
	return none - 1;
}

/* ---- row caches -------------------------------------------------------- */

static void set_slack(void)
{
	int64_t part = TR_LOAD(tr_alloc_table->peak) >> TR_ALLOC_PEAK_SHIFT;
	uint32_t n_caches = TR_LOAD(tr_alloc_table->n_caches);

	part /= n_caches ? n_caches : 1;
	TR_STORE(tr_alloc_table->slack,
		 part > LEAST_SLACK ? part : LEAST_SLACK);
}

void tr_alloc_table_join(struct tr_alloc_thread *thread)
{
	uint32_t row;

	assert(thread->state == TR_ALLOC_THREAD_INSIDE);
	if (!thread->row_cache) {
		row = tr_alloc_table_take_rows(TR_ALLOC_CACHE_ROWS);
		thread->row_cache = row ? tr_alloc_table_at(row) : NULL;
		if (TR_ADD(tr_alloc_table->n_caches, 1) > 0)
			TR_STORE(tr_alloc_table->is_sole, false);
		TR_STORE(tr_ledger->header->heap.threads,
			 TR_LOAD(tr_alloc_table->n_caches));
		set_slack();
	}
}

void tr_alloc_table_lock(void)
{
	tr_blocks_wait(&tr_alloc_table->lock);
}

void tr_alloc_table_unlock(void)
{
	assert(TR_LOAD(tr_alloc_table->lock));
	TR_PUBLISH(tr_alloc_table->lock, 0);
}

/* The counts of a row: all behind `what` and `epoch`. */
#define COUNTS (sizeof(struct tr_alloc) / sizeof(uint64_t) - 1)

static uint64_t *count_of(const struct tr_alloc *row, size_t i)
{
	return (uint64_t *)(uintptr_t)row + 1 + i;
}

static void add_row(struct tr_alloc *to, const struct tr_alloc *from)
{
	for (size_t i = 0; i < COUNTS; i++)
		*count_of(to, i) += *count_of(from, i);
}

void tr_alloc_table_store(struct tr_alloc *to, const struct tr_alloc *from)
{
	TR_STORE(to->epoch, from->epoch);
	for (size_t i = 0; i < COUNTS; i++)
		TR_STORE(*count_of(to, i), *count_of(from, i));
}

static void load_row(struct tr_alloc *to, const struct tr_alloc *from)
{
	to->what = TR_LOAD(from->what);
	to->epoch = TR_LOAD(from->epoch);
	for (size_t i = 0; i < COUNTS; i++)
		*count_of(to, i) = TR_LOAD(*count_of(from, i));
}

static void clear_row(struct tr_alloc *row)
{
	static const struct tr_alloc none;

	TR_STORE(row->what, 0);
	TR_FENCE();
	tr_alloc_table_store(row, &none);
}

/* Adds a cached row to its row of the table. Locked. */
static void move_row(struct tr_alloc *from, uint32_t to_row)
{
	struct tr_alloc_state *heap = &tr_ledger->header->heap;
	struct tr_alloc *to = tr_alloc_table_at(to_row), sum;
	uint32_t epoch = TR_LOAD(tr_alloc_table->epoch);
	uint64_t moves = TR_LOAD(heap->moves) & ~UINT64_C(1);

	assert(TR_LOAD(tr_alloc_table->lock));
	tr_alloc_table_keep_peak(from, epoch);
	load_row(&sum, to);
	tr_alloc_table_keep_peak(&sum, epoch);
	add_row(&sum, from);
	tr_alloc_table_store(&heap->moved, &sum);
	TR_STORE(heap->moved.what, sum.what);
	TR_STORE(heap->move_from, (uint32_t)(from - tr_alloc_table_at(0)));
	TR_STORE(heap->move_to, to_row);
	TR_PUBLISH(heap->moves, moves + 1);
	tr_alloc_table_store(to, &sum);
	clear_row(from);
	TR_PUBLISH(heap->moves, moves + 2);
}

TR_COLD void tr_alloc_table_open_row(struct tr_alloc_thread *thread,
				     struct tr_alloc *at, uint32_t row)
{
	uint32_t what = TR_LOAD(at->what);

	assert(thread->state == TR_ALLOC_THREAD_INSIDE);
	if (what >> TR_ALLOC_SHIFT == TR_ALLOC_CACHED) {
		tr_alloc_table_lock();
		move_row(at, what & TR_ALLOC_NUMBER);
		tr_alloc_table_unlock();
	}
	/* Zeros where a row was: another process truncated the ledger. */
	if (TR_UNLIKELY(thread->replaced != TR_LOAD(tr_ledger->replaced))) {
		thread->replaced = TR_LOAD(tr_ledger->replaced);
		if (thread->walk_cache)
			tr_walk_cache_clear(thread->walk_cache);
	}
	/* Not the present epoch: at the last peak it held nothing. */
	TR_STORE(at->epoch, TR_LOAD(tr_alloc_table->epoch));
	TR_STORE(at->peak_allocs, 0);
	TR_STORE(at->peak_bytes, 0);
	TR_PUBLISH(at->what, TR_ALLOC_CACHE_ROW(row));
}

/* ---- the peak ---------------------------------------------------------- */

TR_COLD void tr_alloc_table_time_peak(int64_t peak)
{
	TR_STORE(tr_alloc_table->timed, peak);
	TR_STORE(tr_ledger->header->heap.peak_ticks, tr_ledger_ticks());
	set_slack();
}

TR_COLD bool tr_alloc_table_flush(struct tr_alloc_thread *thread)
{
	int64_t live = __atomic_add_fetch(&tr_alloc_table->live,
					  thread->pending, __ATOMIC_RELAXED);
	int64_t peak = TR_LOAD(tr_alloc_table->peak);

	thread->pending = 0;
	if (TR_LOAD(tr_alloc_table->is_sole))
		return false; /* compared at each allocation */
	do {
		if (live <= peak)
			return false;
	} while (!TR_SWAP(tr_alloc_table->peak, &peak, live));
	(void)TR_ADD(tr_alloc_table->epoch, 1);
	tr_alloc_table_show_peak(live);
	return true;
}

/* ---- sums -------------------------------------------------------------- */

void tr_alloc_table_sum(struct tr_alloc *sums, uint32_t rows)
{
	uint32_t epoch = TR_LOAD(tr_alloc_table->epoch);

	assert(TR_LOAD(tr_alloc_table->lock));
	assert(sums);
	for (uint32_t i = 0; i < rows; i++) {
		struct tr_alloc row;
		uint32_t to = i;

		load_row(&row, tr_alloc_table_at(i));
		switch (row.what >> TR_ALLOC_SHIFT) {
		case TR_ALLOC_CACHED:
			to = row.what & TR_ALLOC_NUMBER;
			break;
		case TR_ALLOC_STACK:
		case TR_ALLOC_TAG:
			sums[i].what = row.what;
			break;
		default:
			continue;
		}
		if (to >= rows)
			continue;
		tr_alloc_table_keep_peak(&row, epoch);
		add_row(&sums[to], &row);
		sums[to].epoch = epoch;
	}
}
