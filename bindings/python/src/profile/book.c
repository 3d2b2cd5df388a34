/* SPDX-License-Identifier: Apache-2.0 */
#include "tracking.h"

#include "clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define CELLS_OF_PAGE (4096u / sizeof(tr_cell))
#define WEIGHT_ONE 256u /* sampled: fractions of a block */

struct tr_tracking tr_tracking;

/* ---- sums -------------------------------------------------------------- */

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

static bool put(struct tr_book *book, uintptr_t address, uint32_t site,
		size_t size)
{
	tr_cell *cell = NULL;

	if (tr_areas_fit(address, size)) {
		cell = tr_areas_find(&book->areas, address);
		if (!cell)
			cell = tr_areas_make(&book->areas, address);
	}
	if (!cell)
		return tr_live_put(&book->live, address, site, size);
	*cell = tr_cell_of(site, size);
	return true;
}

static bool take(struct tr_book *book, uintptr_t address, size_t *ret_size)
{
	tr_cell *cell = tr_areas_find(&book->areas, address);
	uint32_t site;

	if (!cell || !*cell)
		return tr_live_take(&book->live, address, &site, ret_size);
	*ret_size = tr_cell_size(*cell);
	*cell = 0;
	return true;
}

static void add(struct tr_book *book, void *block, size_t size)
{
	uint32_t index = site_of(book);
	struct tr_site *site = &book->sites.site[index];
	uint64_t bytes, blocks;

	if (!put(book, (uintptr_t)block, index, size)) {
		book->n_lost++;
		return;
	}
	weigh(size, &bytes, &blocks);
	site->total_bytes += bytes;
	site->n_total += blocks;
	tr_book_grow(book, bytes);
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

static bool take_block(struct tr_book *book, void *block)
{
	uint64_t bytes, blocks;
	size_t size;

	if (!take(book, (uintptr_t)block, &size))
		return false;
	weigh(size, &bytes, &blocks);
	tr_book_shrink(book, bytes);
	return true;
}

static inline bool take_if_there(struct tr_book *book, void *block)
{
	uint8_t *count;

	if (!book->filter)
		return take_block(book, block);
	count = filter_of(book, block);
	if (TR_LIKELY(!*count) || !take_block(book, block))
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

/* Sums stay: the allocator gave no memory. */
void tr_book_move(struct tr_book *book, void *block)
{
	tr_cell *cell = tr_areas_find(&book->areas, (uintptr_t)block);
	struct tr_block *there;

	if (cell && *cell) {
		*cell = tr_cell_of(site_of(book), tr_cell_size(*cell));
		return;
	}
	there = tr_live_find(&book->live, (uintptr_t)block);
	if (there && there->size != TR_BIG)
		there->site = site_of(book);
}

/* ---- what is there, by site -------------------------------------------- */

static void count_block(struct tr_book *book, uint32_t index, size_t size)
{
	struct tr_site *site = &book->sites.site[index];
	uint64_t bytes, blocks;

	weigh(size, &bytes, &blocks);
	site->live_bytes += bytes;
	site->n_live += blocks;
	book->n_counted++;
}

/* Blocks in a page of cells. */
static uint64_t count_page(struct tr_book *book, const tr_cell *cell)
{
	uint64_t before = book->n_counted;

	for (size_t i = 0; i < CELLS_OF_PAGE; i++)
		if (cell[i])
			count_block(book, tr_cell_site(cell[i]),
				    tr_cell_size(cell[i]));
	return book->n_counted - before;
}

static void count_area(struct tr_book *book, const tr_cell *cell)
{
	for (size_t i = 0; i < TR_AREA_CELLS; i += CELLS_OF_PAGE)
		if (count_page(book, cell + i))
			book->table_bytes += CELLS_OF_PAGE * sizeof(*cell);
}

void tr_book_count(struct tr_book *book)
{
	book->n_counted = 0;
	book->table_bytes = book->areas.n_slots * sizeof(struct tr_area) +
			    book->live.n_slots * sizeof(struct tr_block);
	for (uint32_t i = 0; i < book->sites.n_sites; i++)
		book->sites.site[i].live_bytes = book->sites.site[i].n_live = 0;
	for (uint64_t i = 0; i < book->areas.n_slots; i++)
		if (book->areas.slot[i].number)
			count_area(book, book->areas.slot[i].cell);
	for (uint64_t i = 0; i < book->live.n_slots; i++) {
		const struct tr_block *block = &book->live.slot[i];

		if (block->address > TR_GONE)
			count_block(book, block->site,
				    tr_live_size(&book->live, block));
	}
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
	book->is_plain = !book->is_locked && tr_tracking.mean_bytes <= 0 &&
			 tr_tracking.max_frames == 1;
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
	tr_areas_release(&book->areas);
	free(book->filter);
	book->filter = NULL;
	book->live_bytes = book->peak_bytes = 0;
	unlock(book);
	tr_sites_release(&sites);
}
