/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Alloc: types that the files of record/alloc/ share.
 *
 *	walk_cache.c   the stack of an allocation, most often one seen before
 *	blocks.c       live blocks: address -> size and row
 *	alloc_table.c  rows of stacks, row caches of threads, the peak
 *	alloc.c        passes an allocation or a free through these
 *
 * All of it may run in a signal handler: no malloc, and no lock that a
 * handler can meet. `state` of struct tr_alloc_thread says that its thread is
 * inside; events of its signal handlers are deferred meanwhile.
 */
#ifndef TR_RECORD_ALLOC_ALLOC_H
#define TR_RECORD_ALLOC_ALLOC_H

#include "record/alloc/blocks.h"
#include "record/alloc/alloc_table.h"
#include "record/alloc/walk_cache.h"

#define TR_ALLOC_DEFERRED 16u /* events of signal handlers, each thread */

enum tr_alloc_thread_state {
	TR_ALLOC_THREAD_NONE = 0, /* also after a fork: the memory is wiped */
	TR_ALLOC_THREAD_FREE = 1,
	TR_ALLOC_THREAD_INSIDE = 2,
	/*
	 * In an allocator that calls malloc itself, and whose blocks are
	 * counted instead: nothing is deferred, either.
	 */
	TR_ALLOC_THREAD_NESTED = 3
};

struct tr_alloc_deferred {
	uint64_t key;
	uint64_t size; /* UINT64_MAX: a free */
	uint32_t row;
};

/* Allocation state of a thread. In memory that a fork wipes. */
struct tr_alloc_thread {
	uint32_t state; /* enum tr_alloc_thread_state; 0 in a child */
	uint32_t owner; /* thread id */
	struct tr_alloc *row_cache;
	struct tr_walk_cache *walk_cache; /* NULL: no memory for it */
	int64_t pending;  /* bytes that are not in tr_alloc_table->live yet */
	uint64_t last;	  /* address of the newest block; sampled: sample */
	int64_t last_left; /* sampled: tr_alloc_left after that sample */
	bool is_at_top;	  /* the newest event made the peak */
	bool is_drawn;	  /* sampled: the next sample is drawn */
	uint32_t replaced; /* tr_ledger->replaced at the last check */
	uint64_t random;
	uint32_t n_deferred;
	struct tr_alloc_deferred deferred[TR_ALLOC_DEFERRED];
};

/* ---- entries ----------------------------------------------------------- */

/* True: with these bytes there is a new peak. */
TR_INLINE bool tr_alloc_table_count(struct tr_alloc_thread *thread,
				    int64_t bytes)
{
	int64_t slack = TR_LOAD(tr_alloc_table->slack), total;
	bool is_peak = false;

	thread->pending += bytes;
	if (TR_LIKELY(TR_LOAD(tr_alloc_table->is_sole)) && bytes > 0) {
		total = TR_LOAD(tr_alloc_table->live) + thread->pending;
		is_peak = total > TR_LOAD(tr_alloc_table->peak);
		if (is_peak) {
			TR_STORE(tr_alloc_table->peak, total);
			if (!thread->is_at_top)
				TR_STORE(tr_alloc_table->epoch,
					 TR_LOAD(tr_alloc_table->epoch) + 1);
			tr_alloc_table_show_peak(total);
		}
	}
	thread->is_at_top = is_peak;
	if (TR_UNLIKELY((uint64_t)(thread->pending + slack) >
			2 * (uint64_t)slack))
		is_peak |= tr_alloc_table_flush(thread);
	return is_peak;
}

/* The row in the thread's cache; without a cache, that of the table, locked. */
TR_INLINE struct tr_alloc *tr_alloc_table_begin(struct tr_alloc_thread *thread,
						uint32_t row)
{
	struct tr_alloc *at;

	if (TR_UNLIKELY(!thread->row_cache)) {
		tr_alloc_table_lock();
		return tr_alloc_table_at(row);
	}
	at = &thread->row_cache[row % TR_ALLOC_CACHE_ROWS];
	if (TR_UNLIKELY(TR_LOAD(at->what) != TR_ALLOC_CACHE_ROW(row)))
		tr_alloc_table_open_row(thread, at, row);
	return at;
}

TR_INLINE void tr_alloc_table_end(const struct tr_alloc_thread *thread)
{
	if (TR_UNLIKELY(!thread->row_cache))
		tr_alloc_table_unlock();
}

/* Bytes of a tag are part of a block that is counted already. */
TR_INLINE bool tr_alloc_table_is_tagged(const struct tr_alloc_event *event)
{
	return event->key & 1;
}

TR_INLINE void tr_alloc_table_add(struct tr_alloc_thread *thread,
				  const struct tr_alloc_event *event)
{
	struct tr_alloc *at = tr_alloc_table_begin(thread, event->row);
	bool is_peak = false;
	uint32_t epoch;

	if (TR_UNLIKELY(tr_alloc_table_is_tagged(event)))
		thread->is_at_top = false;
	else
		is_peak = tr_alloc_table_count(thread, (int64_t)event->bytes);
	epoch = TR_LOAD(tr_alloc_table->epoch);
	if (!is_peak)
		tr_alloc_table_keep_peak(at, epoch);
	TR_STORE(at->allocs, at->allocs + event->count);
	TR_STORE(at->bytes, at->bytes + event->bytes);
	if (is_peak) {
		TR_STORE(at->peak_allocs, at->allocs - at->frees);
		TR_STORE(at->peak_bytes, at->bytes - at->freed);
		TR_STORE(at->epoch, epoch);
	}
	tr_alloc_table_end(thread);
}

TR_INLINE void tr_alloc_table_remove(struct tr_alloc_thread *thread,
				     const struct tr_alloc_event *event)
{
	struct tr_alloc *at = tr_alloc_table_begin(thread, event->row);

	tr_alloc_table_keep_peak(at, TR_LOAD(tr_alloc_table->epoch));
	if (TR_UNLIKELY(tr_alloc_table_is_tagged(event)))
		thread->is_at_top = false;
	else
		(void)tr_alloc_table_count(thread, -(int64_t)event->bytes);
	TR_STORE(at->frees, at->frees + event->count);
	TR_STORE(at->freed, at->freed + event->bytes);
	if (event->is_temporary)
		TR_STORE(at->temporary, at->temporary + event->count);
	tr_alloc_table_end(thread);
}

/* ---- weight.c ---------------------------------------------------------- */

#define TR_SAMPLED_UNIT 1024u /* parts of an allocation, sampled */

/* Bytes until the next sample: exponential with this mean. */
int64_t tr_weight_draw(uint64_t *random, double mean);
/*
 * Allocations and bytes that a sampled allocation of this size represents.
 * The count is in parts, TR_SAMPLED_UNIT to one allocation.
 */
void tr_weight_of(uint64_t size, double mean, uint64_t *ret_count,
		  uint64_t *ret_bytes);

/* ---- alloc_map.c ------------------------------------------------------- */

void tr_alloc_map_init(void);
/* In a child, where the kernel does not wipe it. */
void tr_alloc_map_wipe(void);

/* ---- alloc.c ----------------------------------------------------------- */

/*
 * State of the calling thread, which is inside from here on. NULL: it is
 * inside already, or allocations are not tracked.
 */
struct tr_alloc_thread *tr_alloc_enter(void);
void tr_alloc_leave(struct tr_alloc_thread *thread);
/* Counts an event that found no row. */
void tr_alloc_unseen(void);
/* A block of this row, and its free; false: it is not known. Inside. */
void tr_alloc_count(struct tr_alloc_thread *thread, const void *block,
		    uint64_t size, uint32_t row);
bool tr_alloc_uncount(struct tr_alloc_thread *thread, const void *block);
/* Row of a native stack. Inside. */
uint32_t tr_alloc_row_at(const struct tr_alloc_thread *thread,
			 const struct tr_unwind_at *at);
/*
 * Sampled: counts down `size` bytes. True: a sample is due; the thread is
 * inside from here on, and the next one is drawn.
 */
struct tr_alloc_thread *tr_alloc_sample_due(uint64_t size);

/* ---- objects.c --------------------------------------------------------- */

/* Tracks the objects of a Python interpreter, once that is possible. Inside. */
void tr_alloc_objects_look(void);
/* An allocation of a tag, and its free. */
int tr_alloc_tagged(uint64_t key, uint64_t size, uint32_t row);
int tr_alloc_untagged(uint64_t key);

#endif
