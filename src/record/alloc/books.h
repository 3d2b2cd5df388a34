/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Books: rows of allocations in the ledger, and what all rows have in common.
 *
 * A thread writes to its till, alone and without an atomic instruction. A row
 * of the till that has to make room for another is brought to the books under
 * a lock; what is on its way stands in the header, so that a kill at any
 * instant neither loses nor doubles it.
 *
 * The peak: threads tell what they allocated less what they freed once that is
 * large (`slack`), and the sum is compared with the highest so far. While one
 * thread alone allocates, its own part is added at every allocation, and the
 * peak is exact; with several it is within slack a thread: 4 KiB, or all
 * together 1/1024 of it.
 *
 * Its composition costs no copy: each new peak has a number, the epoch, and
 * the first change of a row after a peak keeps what was live in the row
 * before. A row without such a note has not changed since.
 */
#ifndef TR_RECORD_ALLOC_BOOKS_H
#define TR_RECORD_ALLOC_BOOKS_H

#include "record/alloc/alloc.h"


struct tr_purser;

/* In wiped memory. Lines: what all write, what all read. */
struct tr_books {
	int64_t live; /* bytes, by what the threads have told */
	uint32_t lock;
	uint32_t pad[13];
	int64_t peak;
	int64_t slack;
	int64_t timed; /* peak whose time was taken */
	uint32_t epoch;
	uint32_t tills;
	bool is_sole; /* one thread has allocated so far */
	bool pad2[31];
};

extern struct tr_books *tr_books;

/* One event, ready for the books. */
struct tr_booking {
	uint64_t key;
	uint64_t count, bytes; /* that it stands for */
	uint32_t row;
	bool is_temporary;
};

bool tr_books_init(const struct tr_config *config);
/* Row of a stack, found or made; where there is no room, that of the lost. */
uint32_t tr_books_row(uint32_t stack);
/* A new row; 0: no room. `what`: kind and number, see struct tr_alloc. */
uint32_t tr_books_new_row(uint32_t what);
/* Several, one after the other; 0: no room. */
uint32_t tr_books_take_rows(uint32_t n);
struct tr_alloc *tr_books_at(uint32_t row);
/* All of a row but what it is of. */
void tr_books_store(struct tr_alloc *to, const struct tr_alloc *from);
/* Rows of the region that are in use. */
uint32_t tr_books_rows(void);
/* A till for the thread, if there is room. */
void tr_books_join(struct tr_purser *purser);
/* What stops tills from bringing rows. Inside. */
void tr_books_lock(void);
void tr_books_unlock(void);
/* Adds rows and tills up; `sums` has room for so many, and zeros. Inside. */
void tr_books_sum(struct tr_alloc *sums, uint32_t rows);

/* For the functions below: a till has no row for it yet; `at` is its place. */
void tr_books_open_row(struct tr_purser *purser, struct tr_alloc *at,
		       uint32_t row);
/* Tells what the thread has; true: that made a new peak. */
bool tr_books_tell(struct tr_purser *purser);
/* The peak grew by so much that its time is taken. */
void tr_books_time_peak(int64_t peak);

#define TR_BOOKS_SHIFT 10 /* 1/1024 of the peak */
#define TR_TILL_ROW(row) \
	((uint32_t)TR_ALLOC_TILL << TR_ALLOC_SHIFT | (row))

/* Keeps what was live at the peak, if nothing changed the row since. */
TR_INLINE void tr_books_keep_peak(struct tr_alloc *row, uint32_t epoch)
{
	if (TR_LIKELY(row->epoch == epoch))
		return;
	TR_STORE(row->peak_allocs, row->allocs - row->frees);
	TR_STORE(row->peak_bytes, row->bytes - row->freed);
	TR_FENCE();
	TR_STORE(row->epoch, epoch);
}

TR_INLINE void tr_books_show_peak(int64_t peak)
{
	struct tr_alloc_state *heap = &tr_ledger->header->heap;

	TR_STORE(heap->epoch, TR_LOAD(tr_books->epoch));
	TR_STORE(heap->peak_bytes, (uint64_t)peak);
	/* The clock costs as much as all the rest. */
	if (TR_UNLIKELY(peak - TR_LOAD(tr_books->timed) >
			peak >> TR_BOOKS_SHIFT))
		tr_books_time_peak(peak);
}

#endif
