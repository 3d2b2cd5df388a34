/* SPDX-License-Identifier: Apache-2.0 */
#include "tracking.h"

#include "clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define WEIGHT_ONE 256u /* sampled: fractions of a block */

struct tr_tracking tr_tracking;

/* ---- sums -------------------------------------------------------------- */

static inline uint64_t read_bytes(const struct tr_book *book)
{
	/* Relaxed: another thread's sum a moment ago is good enough. */
	return __atomic_load_n(&book->live_bytes, __ATOMIC_RELAXED);
}

uint64_t tr_tracking_bytes(void)
{
	return read_bytes(&tr_tracking.book[TR_BOOK_PYTHON]) +
	       read_bytes(&tr_tracking.book[TR_BOOK_RAW]);
}

/*
 * Each book keeps the highest sum of both that it saw: one writer for each
 * figure. A sum is highest just after some block was added.
 */
static inline void add_bytes(struct tr_book *book, uint64_t bytes)
{
	uint64_t all;

	__atomic_store_n(&book->live_bytes, book->live_bytes + bytes,
			 __ATOMIC_RELAXED);
	all = tr_tracking_bytes();
	if (all > book->peak_bytes)
		book->peak_bytes = all;
}

static inline void take_bytes(struct tr_book *book, uint64_t bytes)
{
	__atomic_store_n(&book->live_bytes, book->live_bytes - bytes,
			 __ATOMIC_RELAXED);
}

uint64_t tr_tracking_peak(void)
{
	uint64_t python = tr_tracking.book[TR_BOOK_PYTHON].peak_bytes;
	uint64_t raw = tr_tracking.book[TR_BOOK_RAW].peak_bytes;

	return python > raw ? python : raw;
}

void tr_tracking_reset_peak(void)
{
	for (int i = 0; i < TR_BOOKS; i++)
		tr_tracking.book[i].peak_bytes = tr_tracking_bytes();
}

/* ---- sampling ---------------------------------------------------------- */

static uint8_t *filter_of(struct tr_book *book, void *block)
{
	uint64_t mixed = (uint64_t)(uintptr_t)block * 0x9E3779B97F4A7C15u;

	return &book->filter[mixed >> 48];
}

/* Bytes to the next sample: exponential, so that samples know no rhythm. */
static int64_t draw(struct tr_book *book)
{
	double uniform;

	book->random ^= book->random << 13;
	book->random ^= book->random >> 7;
	book->random ^= book->random << 17;
	uniform = ((double)(book->random >> 11) + 0.5) / 9007199254740992.0;
	return (int64_t)(-log(uniform) * tr_tracking.mean_bytes);
}

/* How many blocks of this size a sampled one stands for. */
static double blocks_of(size_t size)
{
	double chance = -expm1(-(double)(size ? size : 1) /
			       tr_tracking.mean_bytes);

	return 1 / chance;
}

/* What a block adds to its site. The same at its end: sums go back to 0. */
static inline void weigh(size_t size, uint64_t *ret_bytes,
			 uint64_t *ret_blocks)
{
	*ret_bytes = size;
	*ret_blocks = 1;
	if (TR_UNLIKELY(tr_tracking.mean_bytes > 0)) {
		double blocks = blocks_of(size);

		*ret_bytes = (uint64_t)llround(blocks * (double)size);
		*ret_blocks = (uint64_t)llround(blocks * WEIGHT_ONE);
	}
}

static inline bool is_sampled(struct tr_book *book, size_t size)
{
	book->countdown -= (int64_t)(size ? size : 1);
	if (TR_LIKELY(book->countdown >= 0))
		return false;
	book->countdown = draw(book);
	return true;
}

/* ---- blocks ------------------------------------------------------------ */

/* Whether the calling thread holds the interpreter's lock. */
static bool has_lock(PyThreadState *state)
{
	return state && tr_state_with_lock() == state;
}

static uint32_t site_of(struct tr_book *book)
{
	PyThreadState *state;

	if (book->is_locked) {
		state = PyGILState_GetThisThreadState();
		return tr_sites_find(&book->sites, state,
				     tr_tracking.max_frames, has_lock(state));
	}
	state = tr_state_with_lock();
	if (tr_tracking.max_frames == 1)
		return tr_sites_line(&book->sites, state);
	return tr_sites_find(&book->sites, state, tr_tracking.max_frames, true);
}

static inline void add(struct tr_book *book, void *block, size_t size)
{
	uint32_t index = site_of(book);
	struct tr_site *site;
	uint64_t bytes, blocks;

	if (!tr_live_put(&book->live, (uintptr_t)block, index, size)) {
		book->n_lost++;
		return;
	}
	site = &book->sites.site[index];
	weigh(size, &bytes, &blocks);
	site->live_bytes += bytes;
	site->n_live += blocks;
	site->total_bytes += bytes;
	site->n_total += blocks;
	add_bytes(book, bytes);
}

static inline void add_if_wanted(struct tr_book *book, void *block,
				 size_t size)
{
	if (tr_tracking.mean_bytes > 0) {
		uint8_t *count;

		if (!is_sampled(book, size))
			return;
		count = filter_of(book, block);
		if (*count < UINT8_MAX)
			++*count;
	}
	add(book, block, size);
}

void tr_book_add(struct tr_book *book, void *block, size_t size)
{
	if (!book->is_locked) {
		add_if_wanted(book, block, size);
		return;
	}
	(void)pthread_mutex_lock(&book->mutex);
	if (book->sites.site)
		add_if_wanted(book, block, size);
	(void)pthread_mutex_unlock(&book->mutex);
}

static inline bool take(struct tr_book *book, void *block)
{
	uint64_t bytes, blocks;
	struct tr_site *site;
	uint32_t index;
	size_t size;

	if (!tr_live_take(&book->live, (uintptr_t)block, &index, &size))
		return false;
	weigh(size, &bytes, &blocks);
	site = &book->sites.site[index];
	site->live_bytes -= bytes;
	site->n_live -= blocks;
	take_bytes(book, bytes);
	return true;
}

static inline bool take_if_there(struct tr_book *book, void *block)
{
	uint8_t *count;

	if (!book->filter)
		return take(book, block);
	count = filter_of(book, block);
	if (TR_LIKELY(!*count) || !take(book, block))
		return false;
	if (*count < UINT8_MAX)
		--*count;
	return true;
}

bool tr_book_remove(struct tr_book *book, void *block)
{
	bool was_there;

	if (!book->is_locked)
		return take_if_there(book, block);
	(void)pthread_mutex_lock(&book->mutex);
	was_there = take_if_there(book, block);
	(void)pthread_mutex_unlock(&book->mutex);
	return was_there;
}

/* Total and peak stay: the allocator gave no memory. */
void tr_book_move(struct tr_book *book, void *block)
{
	struct tr_block *there = tr_live_find(&book->live, (uintptr_t)block);
	uint64_t bytes, blocks;
	struct tr_site *site;

	if (!there || there->size == TR_BIG)
		return;
	weigh(there->size, &bytes, &blocks);
	site = &book->sites.site[there->site];
	site->live_bytes -= bytes;
	site->n_live -= blocks;
	there->site = site_of(book);
	site = &book->sites.site[there->site];
	site->live_bytes += bytes;
	site->n_live += blocks;
}

/* ---- the book ---------------------------------------------------------- */

static bool init(struct tr_book *book)
{
	if (!tr_sites_init(&book->sites))
		return false;
	book->live_bytes = book->peak_bytes = book->n_lost = 0;
	book->random = tr_ticks() | 1;
	book->countdown = 0;
	tr_tracking.weight = 1;
	if (tr_tracking.mean_bytes <= 0)
		return tr_live_grow(&book->live);
	tr_tracking.weight = WEIGHT_ONE;
	book->countdown = draw(book);
	book->filter = calloc(TR_FILTER, 1);
	return book->filter && tr_live_grow(&book->live);
}

static void lock(struct tr_book *book)
{
	if (book->is_locked)
		(void)pthread_mutex_lock(&book->mutex);
}

static void unlock(struct tr_book *book)
{
	if (book->is_locked)
		(void)pthread_mutex_unlock(&book->mutex);
}

bool tr_book_init(struct tr_book *book)
{
	bool is_done;

	lock(book);
	is_done = init(book);
	unlock(book);
	return is_done;
}

/* Code objects are let go without the mutex: that frees blocks. */
void tr_book_release(struct tr_book *book)
{
	struct tr_sites sites;

	lock(book);
	sites = book->sites;
	memset(&book->sites, 0, sizeof(book->sites));
	tr_live_release(&book->live);
	free(book->filter);
	book->filter = NULL;
	book->live_bytes = book->peak_bytes = 0;
	unlock(book);
	tr_sites_release(&sites);
}
