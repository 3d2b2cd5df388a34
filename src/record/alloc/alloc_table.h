/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alloc table: rows of allocations in the ledger, and their totals.
 *
 * A thread writes to its row cache, alone and without an atomic instruction.
 * A cached row that must make room for another is added to the table under a
 * lock; the row that is being moved is in the header, so that a kill at any
 * instant neither loses nor doubles it.
 *
 * The peak: a thread adds its allocated less its freed bytes (`pending`) to
 * the total once they exceed `slack`, and the total is compared with the
 * highest so far. While one thread alone allocates, its pending bytes are
 * compared at every allocation, and the peak is exact; with several the error
 * is at most `slack` for each thread: 4 KiB, or 1/1024 of the peak for all.
 *
 * The composition of the peak costs no copy: each new peak has a number, the
 * epoch, and the first change of a row after a peak stores what was live in
 * the row before. A row of an older epoch has not changed since the peak.
 */
#ifndef TR_RECORD_ALLOC_ALLOC_TABLE_H
#define TR_RECORD_ALLOC_ALLOC_TABLE_H

#include "record/alloc/alloc.h"


struct tr_alloc_thread;

/* In wiped memory. A cache line that all write, one that all read. */
struct tr_alloc_table {
	int64_t live; /* bytes, without what is pending in threads */
	uint32_t lock;
	uint32_t pad[13];
	int64_t peak;
	int64_t slack;
	int64_t timed; /* peak whose time was taken */
	uint32_t epoch;
	uint32_t n_caches;
	bool is_sole; /* one thread has allocated so far */
	bool pad2[31];
};

extern struct tr_alloc_table *tr_alloc_table;

/* An allocation or a free, as it is added to a row. */
struct tr_alloc_event {
	uint64_t key;
	uint64_t count, bytes; /* sampled: that this one represents */
	uint32_t row;
	bool is_temporary;
};

bool tr_alloc_table_init(const struct tr_config *config);
/* Row of a stack, found or made; without room, the row of lost stacks. */
uint32_t tr_alloc_table_row(uint32_t stack);
/* A new row; 0: no room. `what`: kind and number, see struct tr_alloc. */
uint32_t tr_alloc_table_new_row(uint32_t what);
/* Several, one after the other; 0: no room. */
uint32_t tr_alloc_table_take_rows(uint32_t n);
struct tr_alloc *tr_alloc_table_at(uint32_t row);
/* Copies all of a row but `what`. */
void tr_alloc_table_store(struct tr_alloc *to, const struct tr_alloc *from);
/* Rows of the region that are in use. */
uint32_t tr_alloc_table_rows(void);
/* Gives the thread a row cache, if there is room. */
void tr_alloc_table_join(struct tr_alloc_thread *thread);
/* While it is locked, no cached row is added to the table. Inside. */
void tr_alloc_table_lock(void);
void tr_alloc_table_unlock(void);
/* Adds rows and caches up into `sums`: `rows` rows of zeros. Inside. */
void tr_alloc_table_sum(struct tr_alloc *sums, uint32_t rows);

/* Makes place `at` of the cache that of `row`; moves the row that was there. */
void tr_alloc_table_open_row(struct tr_alloc_thread *thread,
			     struct tr_alloc *at, uint32_t row);
/* Adds the thread's pending bytes to the total; true: a new peak. */
bool tr_alloc_table_flush(struct tr_alloc_thread *thread);
/* Takes the time of a peak that grew by more than 1/1024. */
void tr_alloc_table_time_peak(int64_t peak);

#define TR_ALLOC_PEAK_SHIFT 10 /* 1/1024 of the peak */
#define TR_ALLOC_CACHE_ROW(row) \
	((uint32_t)TR_ALLOC_CACHED << TR_ALLOC_SHIFT | (row))

/* Keeps what was live at the peak, if nothing changed the row since. */
TR_INLINE void tr_alloc_table_keep_peak(struct tr_alloc *row, uint32_t epoch)
{
	if (TR_LIKELY(row->epoch == epoch))
		return;
	TR_STORE(row->peak_allocs, row->allocs - row->frees);
	TR_STORE(row->peak_bytes, row->bytes - row->freed);
	TR_FENCE();
	TR_STORE(row->epoch, epoch);
}

TR_INLINE void tr_alloc_table_show_peak(int64_t peak)
{
	struct tr_alloc_state *heap = &tr_ledger->header->heap;

	TR_STORE(heap->epoch, TR_LOAD(tr_alloc_table->epoch));
	TR_STORE(heap->peak_bytes, (uint64_t)peak);
	/* The clock costs as much as all the rest. */
	if (TR_UNLIKELY(peak - TR_LOAD(tr_alloc_table->timed) >
			peak >> TR_ALLOC_PEAK_SHIFT))
		tr_alloc_table_time_peak(peak);
}

#endif
