/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracking of Python's allocations: hooks of the raw, mem and object
 * allocators of the interpreter.
 *
 *	allocator hooks -> book (live blocks, sites, sums) -> snapshot
 *
 * There are two books. That of the mem and object domains is changed only
 * with the interpreter's lock, so it needs none of its own. The raw domain is
 * used without that lock and has a mutex. A block is freed in the domain that
 * it came from, so no block needs both.
 *
 * Sampled: of the stream of allocated bytes, one in `mean_bytes` is drawn at
 * random; its block counts for all blocks of its size that were not drawn.
 */
#ifndef TR_PY_TRACKING_H
#define TR_PY_TRACKING_H

#include "areas.h"
#include "live.h"
#include "sites.h"

#include <pthread.h>

#define TR_FILTER 65536u

struct tr_book {
	bool is_plain; /* every block, by line, with the interpreter's lock */
	struct tr_areas areas; /* small blocks */
	struct tr_live live;   /* all others */
	struct tr_sites sites;
	uint64_t live_bytes;
	uint64_t peak_bytes; /* of all books, as this one saw it */
	uint64_t n_lost;     /* blocks that the table had no memory for */
	/* By tr_book_count(): blocks, and what areas and live use. */
	uint64_t n_counted, table_bytes;
	int64_t countdown;   /* bytes until the next sample */
	uint64_t random;
	uint8_t *filter; /* sampled: blocks by hash; stays at 255 */
	bool is_locked;	 /* has to be, at each use */
	pthread_mutex_t mutex;
};

enum tr_book_name { TR_BOOK_PYTHON, TR_BOOK_RAW, TR_BOOKS };

struct tr_tracking {
	struct tr_book book[TR_BOOKS];
	unsigned max_frames; /* 1: lines */
	double mean_bytes;   /* 0: every block */
	uint32_t weight;     /* units of one block in n_live, n_total */
};

extern struct tr_tracking tr_tracking;

/* book.c */
bool tr_book_init(struct tr_book *book);
void tr_book_release(struct tr_book *book);
void tr_book_add(struct tr_book *book, void *block, size_t size);
/* False: the block is not in the book. */
bool tr_book_remove(struct tr_book *book, void *block);
/* Another object is in the block now: it belongs to the present line. */
void tr_book_move(struct tr_book *book, void *block);
/* Finds what each site has now: the hooks keep only what it ever had. */
void tr_book_count(struct tr_book *book);
uint64_t tr_tracking_peak(void);
void tr_tracking_reset_peak(void);

static inline uint64_t tr_book_bytes(const struct tr_book *book)
{
	/* Relaxed: another thread's sum a moment ago is good enough. */
	return __atomic_load_n(&book->live_bytes, __ATOMIC_RELAXED);
}

static inline uint64_t tr_tracking_bytes(void)
{
	return tr_book_bytes(&tr_tracking.book[TR_BOOK_PYTHON]) +
	       tr_book_bytes(&tr_tracking.book[TR_BOOK_RAW]);
}

/*
 * Each book keeps the highest sum of both that it saw: one writer for each
 * figure. A sum is highest just after some block was added.
 */
static inline void tr_book_grow(struct tr_book *book, uint64_t bytes)
{
	uint64_t all;

	__atomic_store_n(&book->live_bytes, book->live_bytes + bytes,
			 __ATOMIC_RELAXED);
	all = tr_tracking_bytes();
	if (all > book->peak_bytes)
		book->peak_bytes = all;
}

static inline void tr_book_shrink(struct tr_book *book, uint64_t bytes)
{
	__atomic_store_n(&book->live_bytes, book->live_bytes - bytes,
			 __ATOMIC_RELAXED);
}

/* tr_book_add() for what is most frequent. */
static inline void tr_book_add_plain(struct tr_book *book, void *block,
				     size_t size)
{
	tr_cell *cell = tr_areas_find(&book->areas, (uintptr_t)block);
	struct tr_site *site;
	uint32_t index;

	if (TR_UNLIKELY(size > TR_SMALL_BYTES || !cell || *cell)) {
		if (cell && *cell)
			(void)tr_book_remove(book, block);
		tr_book_add(book, block, size);
		return;
	}
	index = tr_sites_line(&book->sites, tr_state_with_lock());
	*cell = tr_cell_of(index, size);
	site = &book->sites.site[index];
	site->total_bytes += size;
	site->n_total++;
	tr_book_grow(book, size);
}

/* tr_book_remove(), likewise. */
static inline bool tr_book_remove_plain(struct tr_book *book, void *block)
{
	tr_cell *cell = tr_areas_find(&book->areas, (uintptr_t)block);

	if (TR_UNLIKELY(!cell || !*cell))
		return tr_book_remove(book, block);
	tr_book_shrink(book, tr_cell_size(*cell));
	*cell = 0;
	return true;
}

/* hooks.c. With the interpreter's lock. */
bool tr_hooks_start(unsigned max_frames, double mean_bytes);
void tr_hooks_stop(void);
void tr_hooks_clear(void);
bool tr_hooks_are_on(void);
/* The calling thread's allocations are not recorded in between. */
void tr_hooks_pause(bool is_paused);

/* Moves a block of the object domain, unless the thread just got it. */
void tr_hooks_reuse(void *block);

/* reuse.c. With the interpreter's lock. */
void tr_reuse_start(void);
void tr_reuse_stop(void);

/* snapshot.c: functions of the module. */
extern PyMethodDef tr_tracking_methods[];

#endif
