/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alloc: what the files of the books of allocations share. For profile/ only.
 *
 *	walk.c    the stack of an allocation, most often one seen before
 *	blocks.c  what is live: block -> size and row
 *	books.c   rows of stacks, tills of threads, the peak
 *	alloc.c   an allocation or a free on its way through these
 *
 * All of it may run in a signal handler: no malloc, and no lock that a
 * handler can meet. A thread that is inside says so in its hand; what its
 * handlers allocate meanwhile is put aside there.
 */
#ifndef TR_RECORD_ALLOC_ALLOC_H
#define TR_RECORD_ALLOC_ALLOC_H

#include "record/alloc/blocks.h"
#include "record/alloc/books.h"
#include "record/alloc/walk.h"
#include "ledger/layout.h"

#define TR_ASIDE 16u /* events of handlers that a thread can put aside */

enum tr_purser_state {
	TR_PURSER_NONE = 0, /* also after a fork: the memory is wiped */
	TR_PURSER_FREE = 1,
	TR_PURSER_INSIDE = 2
};

struct tr_aside {
	uint64_t key;
	uint64_t size; /* UINT64_MAX: it was freed */
	uint32_t row;
};

/* A thread's side of the books. In memory that a fork wipes. */
struct tr_purser {
	uint32_t state; /* enum tr_purser_state; 0 in a child */
	uint32_t owner; /* thread id */
	struct tr_alloc *till;
	struct tr_walks *walks; /* NULL: no memory for it */
	int64_t pending;	/* bytes that are not in tr_heap_live yet */
	uint64_t last;		/* the block it allocated last */
	bool is_at_top;		/* its last event made the peak */
	bool is_drawn;		/* sampled: there is a next sample */
	uint32_t replaced;	/* ledgers, when it last looked */
	uint64_t random;
	uint32_t n_aside;
	struct tr_aside aside[TR_ASIDE];
};

/* ---- entries ----------------------------------------------------------- */

/* True: with these bytes there is a new peak. */
TR_INLINE bool tr_books_count(struct tr_purser *purser, int64_t bytes)
{
	int64_t slack = TR_LOAD(tr_books->slack), total;
	bool is_peak = false;

	purser->pending += bytes;
	if (TR_LIKELY(TR_LOAD(tr_books->is_sole)) && bytes > 0) {
		total = TR_LOAD(tr_books->live) + purser->pending;
		is_peak = total > TR_LOAD(tr_books->peak);
		if (is_peak) {
			TR_STORE(tr_books->peak, total);
			if (!purser->is_at_top)
				TR_STORE(tr_books->epoch,
					 TR_LOAD(tr_books->epoch) + 1);
			tr_books_show_peak(total);
		}
	}
	purser->is_at_top = is_peak;
	if (TR_UNLIKELY((uint64_t)(purser->pending + slack) >
			2 * (uint64_t)slack))
		is_peak |= tr_books_tell(purser);
	return is_peak;
}

/* The till's row, or the books' own where there is no till: then locked. */
TR_INLINE struct tr_alloc *tr_books_begin(struct tr_purser *purser,
					  uint32_t row)
{
	struct tr_alloc *at;

	if (TR_UNLIKELY(!purser->till)) {
		tr_books_lock();
		return tr_books_at(row);
	}
	at = &purser->till[row % TR_TILL_ROWS];
	if (TR_UNLIKELY(TR_LOAD(at->what) != TR_TILL_ROW(row)))
		tr_books_open_row(purser, at, row);
	return at;
}

TR_INLINE void tr_books_end(const struct tr_purser *purser)
{
	if (TR_UNLIKELY(!purser->till))
		tr_books_unlock();
}

/* Of a tag: what it has is in some block already. */
TR_INLINE bool tr_books_is_tagged(const struct tr_booking *booking)
{
	return booking->key & 1;
}

TR_INLINE void tr_books_add(struct tr_purser *purser,
			    const struct tr_booking *booking)
{
	struct tr_alloc *at = tr_books_begin(purser, booking->row);
	bool is_peak = false;
	uint32_t epoch;

	if (TR_UNLIKELY(tr_books_is_tagged(booking)))
		purser->is_at_top = false;
	else
		is_peak = tr_books_count(purser, (int64_t)booking->bytes);
	epoch = TR_LOAD(tr_books->epoch);
	if (!is_peak)
		tr_books_keep_peak(at, epoch);
	TR_STORE(at->allocs, at->allocs + booking->count);
	TR_STORE(at->bytes, at->bytes + booking->bytes);
	if (is_peak) {
		TR_STORE(at->peak_allocs, at->allocs - at->frees);
		TR_STORE(at->peak_bytes, at->bytes - at->freed);
		TR_STORE(at->epoch, epoch);
	}
	tr_books_end(purser);
}

TR_INLINE void tr_books_remove(struct tr_purser *purser,
			       const struct tr_booking *booking)
{
	struct tr_alloc *at = tr_books_begin(purser, booking->row);

	tr_books_keep_peak(at, TR_LOAD(tr_books->epoch));
	if (TR_UNLIKELY(tr_books_is_tagged(booking)))
		purser->is_at_top = false;
	else
		(void)tr_books_count(purser, -(int64_t)booking->bytes);
	TR_STORE(at->frees, at->frees + booking->count);
	TR_STORE(at->freed, at->freed + booking->bytes);
	if (booking->is_temporary)
		TR_STORE(at->temporary, at->temporary + booking->count);
	tr_books_end(purser);
}

/* ---- weight.c ---------------------------------------------------------- */

#define TR_SAMPLED_UNIT 1024u /* parts of an allocation, sampled */

/* Bytes until the next sample: exponential with this mean. */
int64_t tr_weight_draw(uint64_t *random, double mean);
/*
 * What a sampled allocation of this size stands for: so many of them (in
 * parts, TR_SAMPLED_UNIT to one) and so many bytes.
 */
void tr_weight_of(uint64_t size, double mean, uint64_t *ret_count,
		  uint64_t *ret_bytes);

/* ---- alloc_map.c ------------------------------------------------------- */

void tr_alloc_map_init(void);
/* In a child, where the kernel does not wipe it. */
void tr_alloc_map_wipe(void);

/* ---- alloc.c ----------------------------------------------------------- */

/*
 * The calling thread's, inside; NULL: it is inside already, or all is off.
 */
struct tr_purser *tr_purser_enter(void);
void tr_purser_leave(struct tr_purser *purser);
/* An event that no row has. */
void tr_alloc_unseen(void);
/* A tag's event. */
int tr_alloc_tagged(uint64_t key, uint64_t size, uint32_t row);
int tr_alloc_untagged(uint64_t key);

#endif
