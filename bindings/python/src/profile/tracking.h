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

#include "live.h"
#include "sites.h"

#include <pthread.h>

#define TR_FILTER 65536u

struct tr_book {
	struct tr_live live;
	struct tr_sites sites;
	uint64_t live_bytes;
	uint64_t peak_bytes; /* of all books, as this one saw it */
	uint64_t n_lost;     /* blocks that the table had no memory for */
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
uint64_t tr_tracking_bytes(void);
uint64_t tr_tracking_peak(void);
void tr_tracking_reset_peak(void);

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
