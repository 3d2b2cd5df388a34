/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Observe: adds a value to its cell.
 *
 * There is no entry in the log: no clock was read, so there is no time to wait
 * for, and no reader needs single values later. The intent is a small one of
 * its own. The common case is inline, in observe.h.
 */
#include "ledger/write/place.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* Pages of the normal doubles; zeros are below, infinities above. */
#define PAGE_FIRST 2u
#define PAGE_END 4094u

/*
 * The first value determines the position of the window. All of it is within
 * the normal numbers, because the fast path does not check.
 */
static void place_window(struct tr_cell *cell, uint64_t bits)
{
	uint32_t page = (uint32_t)tr_bucket_page(bits), base = PAGE_FIRST;

	if (cell->base)
		return;
	if (page > PAGE_FIRST + TR_CELL_PAGES / 2)
		base = page - TR_CELL_PAGES / 2;
	if (base > PAGE_END - TR_CELL_PAGES)
		base = PAGE_END - TR_CELL_PAGES;
	TR_STORE(cell->base, base);
}

static struct tr_cell *negative_cell(struct tr_thread *thread,
				     struct tr_cell *cell)
{
	struct tr_extra *extra = tr_cell_extra(thread, cell);
	struct tr_cell *negative;
	uint32_t off;

	if (!extra)
		return NULL;
	off = TR_LOAD(extra->negative);
	if (!off) {
		off = tr_track_alloc(thread, sizeof(*negative));
		if (!off)
			return NULL;
		negative = tr_cell_at(thread, off);
		negative->site = cell->site;
		negative->slice = cell->slice;
		negative->first = cell->slice;
		TR_PUBLISH(extra->negative, off);
	}
	return tr_cell_at(thread, off);
}

static struct tr_place value_place(struct tr_thread *thread,
				   struct tr_cell *cell,
				double value)
{
	struct tr_place place = { NULL, &thread->own_track->lost.unbucketed,
				  NULL };
	uint64_t bits;

	if (fabs(value) < DBL_MIN)
		return tr_place_zero(thread, cell);
	if (value < 0) {
		cell = negative_cell(thread, cell);
		value = -value;
	}
	if (!cell)
		return place;
	bits = tr_bucket_bits(value);
	place_window(cell, bits);
	return tr_place_find(thread, cell, bits);
}

static void under_way(struct tr_track *track, uint32_t cell, double value)
{
	TR_STORE(track->value.value, tr_bits_of(value));
	TR_FENCE();
	TR_STORE(track->value.cell, cell);
	TR_FENCE();
}

static void done(struct tr_track *track)
{
	TR_FENCE();
	if (track->deferred_at)
		tr_deferred_taken(track);
	TR_FENCE();
	TR_STORE(track->value.cell, 0);
}

static void observe_not_finite(struct tr_thread *thread, uint32_t off,
			       double value)
{
	struct tr_track *track = thread->own_track;
	struct tr_extra *extra = tr_cell_extra(thread, tr_cell_at(thread, off));

	if (!extra) {
		tr_thread_lose(thread);
		return;
	}
	TR_STORE(track->value.other, extra->not_finite);
	under_way(track, off, value);
	TR_STORE(extra->not_finite, extra->not_finite + 1);
	done(track);
}

/* No node counts values: one with no room in its cell is lost. */
static bool is_nowhere(const struct tr_place *place,
		       const struct tr_track *track)
{
	return !place->bucket && place->other == &track->lost.unbucketed;
}

/*
 * Stores the value in the next place of the ring, if there is one. Times of a
 * ring never decrease: this shows a reader of a killed thread whether the value
 * under way is committed. Values of handlers come late.
 */
static struct tr_values *keep(struct tr_thread *thread, struct tr_cell *cell,
			      uint64_t ticks, double value)
{
	const struct tr_values *values;
	uint64_t n, last;
	uint32_t size;

	tr_ring_ready(thread, cell);
	values = tr_ring_of(thread, cell);
	n = values ? TR_LOAD(values->written) : 0;
	size = n ? TR_LOAD(values->size) : 0;
	if (size) {
		last = TR_LOAD(values->at[(n - 1) & (size - 1)].ticks);
		if (ticks < last)
			ticks = last;
	}
	return tr_ring_put(thread, cell, ticks, tr_bits_of(value));
}

void tr_observe(struct tr_thread *thread, uint32_t off, double value,
		uint64_t ticks)
{
	struct tr_track *track = thread->own_track;
	struct tr_cell *cell = tr_cell_at(thread, off);
	uint32_t slice = (uint32_t)(ticks >> thread->shift);
	struct tr_values *values;
	struct tr_place place;

	assert(tr_thread_is_busy(thread));
	assert(off);
	if (!cell->site) {
		/* Zeros: the file was truncated. Forget such cells. */
		memset(thread->value_cell, 0, sizeof(thread->value_cell));
		tr_ledger_heal(thread);
		return;
	}
	if (!isfinite(value)) {
		observe_not_finite(thread, off, value);
		return;
	}
	if (cell->slice != slice)
		tr_cell_turn(thread, cell, slice);
	place = value_place(thread, cell, value);
	if (is_nowhere(&place, track)) {
		tr_thread_lose(thread);
		return;
	}
	values = keep(thread, cell, ticks, value);
	TR_STORE(track->value.cell_sum, cell->sum);
	if (place.bucket)
		TR_STORE(track->value.bucket, *place.bucket);
	TR_STORE(track->value.other, tr_place_other(&place));
	under_way(track, off, value);
	TR_STORE(cell->sum, tr_bits_of(tr_real_of(cell->sum) + value));
	tr_place_add(&place);
	if (value > tr_real_of(cell->max))
		TR_STORE(cell->max, tr_bits_of(value));
	if (value < tr_real_of(cell->min))
		TR_STORE(cell->min, tr_bits_of(value));
	if (values)
		tr_ring_commit(values);
	done(track);
}

void tr_observe_kept(struct tr_thread *thread, uint32_t off, double value,
		     uint64_t ticks)
{
	struct tr_cell *cell = tr_cell_at(thread, off);
	struct tr_values *values = cell->site ?
					   keep(thread, cell, ticks, value) :
					   NULL;

	assert(tr_thread_is_busy(thread));
	assert(off);
	if (values)
		tr_ring_commit(values);
}
