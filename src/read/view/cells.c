/* SPDX-License-Identifier: Apache-2.0 */
/* Adds the cells of a track, current and closed slices, to their series. */
#include "read/view.h"

#include <math.h>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

static bool is_time(const struct tr_series *series)
{
	return series->site->kind == TARE_KIND_SCOPE;
}

static double number_of(const struct tr_series *series, uint64_t bits)
{
	return is_time(series) ? (double)bits : tr_real_of(bits);
}

static bool in_range(const struct tr_gather *gather, uint32_t from, uint32_t to)
{
	const struct tr_header *header = tr_image_header(gather->image);
	uint64_t first = (uint64_t)from << header->slice_shift;
	uint64_t last = ((uint64_t)to + 1) << header->slice_shift;

	return gather->range.is_all ||
	       (last > gather->range.from && first <= gather->range.to);
}

static void cover(struct tr_gather *gather, uint32_t from, uint32_t to)
{
	if (from < gather->first_slice)
		gather->first_slice = from;
	if (to > gather->last_slice)
		gather->last_slice = to;
}

struct slices {
	uint32_t from, to;
};

static void add_extremes(struct tr_gather *gather, struct tr_series *series,
			 struct slices of, double min, double max)
{
	uint64_t clear = gather->range.exact_after;

	/* Extremes of a baseline cannot be subtracted; see stats.c. */
	if (gather->sign < 0 || of.to < clear)
		return;
	if (clear && of.from <= clear) {
		series->clear_min = tr_least(series->clear_min, min);
		series->clear_max = tr_most(series->clear_max, max);
		return;
	}
	series->min = tr_least(series->min, min);
	series->max = tr_most(series->max, max);
}

/*
 * Counts of a page that is added to; NULL: there are none. Pages come from
 * places in the image, so their number is bounded.
 */
static uint64_t *counts_of(struct tr_gather *gather, struct tr_hist *hist,
			   uint32_t number)
{
	uint32_t before = hist->n;
	struct tr_hist_page *page;

	if (number >= TR_PAGES_ALL ||
	    gather->pages > 4096 + gather->image->size / 8) {
		gather->damaged++;
		return NULL;
	}
	page = tr_hist_page(&gather->pool, hist, number);
	gather->failed |= !page;
	gather->pages += hist->n - before;
	return page ? page->count : NULL;
}

/* Applies the sign without a branch, so that the compiler can vectorise. */
static void add_page(struct tr_gather *gather, struct tr_hist *hist,
		     uint32_t number, const uint64_t *restrict count)
{
	uint64_t *restrict to = counts_of(gather, hist, number);
	uint64_t minus = gather->sign < 0 ? UINT64_MAX : 0;

	for (unsigned i = 0; to && i < TR_PAGE_BUCKETS; i++)
		to[i] += (count[i] ^ minus) - minus;
}

/* The same for the counts of a cell's page. */
static void add_small_page(struct tr_gather *gather, struct tr_hist *hist,
			   uint32_t number, const uint32_t *restrict count)
{
	uint64_t *restrict to = counts_of(gather, hist, number);
	uint64_t minus = gather->sign < 0 ? UINT64_MAX : 0;

	for (unsigned i = 0; to && i < TR_PAGE_BUCKETS; i++)
		to[i] += (count[i] ^ minus) - minus;
}

/* ---- closed slices ----------------------------------------------------- */

static const struct tr_slice *slice_at(const struct tr_image *image,
				       uint32_t off)
{
	const struct tr_slice *s = tr_image_at(image, off, sizeof(*s), 8);

	if (!s || s->bytes > image->size - off - sizeof(*s))
		return NULL;
	return s;
}

static void add_slice(struct tr_gather *gather, struct tr_series *series,
		      const struct tr_slice *s, bool negative)
{
	struct tr_hist *hist = negative ? &series->negative :
					  &series->positive;
	struct tr_slice_cursor cursor;

	if (!in_range(gather, s->from, s->to) ||
	    !tr_gather_spend(gather, 1 + s->bytes / 64))
		return;
	cover(gather, s->from, s->to);
	if (gather->range.edges_only)
		return;
	if (tr_slice_first(&cursor, (const uint8_t *)(s + 1), s->bytes))
		do
			add_page(gather, hist, cursor.number, cursor.count);
		while (tr_slice_next(&cursor));
	if (negative)
		return;
	hist->zeros += tr_gather_sign(gather, s->zeros);
	hist->unbucketed += tr_gather_sign(gather, s->unbucketed);
	series->failures += tr_gather_sign(gather, s->failures);
	series->sum += gather->sign * number_of(series, s->sum);
	add_extremes(gather, series, (struct slices){ s->from, s->to },
		     number_of(series, s->min), number_of(series, s->max));
}

static void add_closed(struct tr_gather *gather, struct tr_series *series,
		       const struct tr_cell *cell, bool negative)
{
	const struct tr_image *image = gather->image;
	const struct tr_closed *closed =
		tr_image_at(image, cell->closed, sizeof(*closed), 8);
	const struct tr_slice *oldest, *s;
	uint32_t off;

	if (!closed) {
		gather->damaged += cell->closed != 0;
		return;
	}
	oldest = slice_at(image, closed->oldest);
	if (oldest) {
		add_slice(gather, series, oldest, negative);
		if (oldest->to > gather->horizon_slice)
			gather->horizon_slice = oldest->to;
	}
	for (unsigned tier = 0; tier < TR_TIERS; tier++) {
		unsigned head = closed->marks >> (16 * tier) & 255;
		unsigned i = closed->marks >> (16 * tier + 8) & 255;

		if (((head - i) & 255) > TR_TIER_SLOTS) {
			gather->damaged++;
			continue;
		}
		for (; i != head; i = (i + 1) & 255) {
			off = closed->slot[tier][i % TR_TIER_SLOTS];
			s = slice_at(image, off);
			if (!s)
				gather->damaged++;
			else if (off != cell->turning &&
				 !(oldest && s->to <= oldest->to))
				add_slice(gather, series, s, negative);
		}
	}
}

/* ---- current slice ----------------------------------------------------- */

/* Counts that passed 2^32, in a page at `page`. */
static void add_carries(struct tr_gather *gather, struct tr_hist *hist,
			const struct tr_extra *extra, uint32_t page,
			uint32_t number)
{
	uint64_t count[TR_PAGE_BUCKETS] = { 0 };
	uint32_t off = extra->carry;
	const struct tr_carry *carry;

	while (off && tr_gather_spend(gather, 1)) {
		carry = tr_image_at(gather->image, off, sizeof(*carry), 4);
		if (!carry) {
			gather->damaged++;
			return;
		}
		for (uint32_t i = 0; i < carry->n && i < 7; i++) {
			uint32_t place = (carry->bucket[i] - page) / 4;

			if (carry->bucket[i] >= page &&
			    place < TR_PAGE_BUCKETS)
				count[place] += (uint64_t)carry->high[i] << 32;
		}
		off = carry->next;
	}
	add_page(gather, hist, number, count);
}

static void add_cell_page(struct tr_gather *gather, struct tr_hist *hist,
			  const struct tr_extra *extra, uint32_t number,
			  uint32_t page)
{
	const uint32_t *bucket = tr_image_at(gather->image, page, TR_LINE, 4);

	if (!bucket) {
		gather->damaged++;
		return;
	}
	add_small_page(gather, hist, number, bucket);
	if (extra && extra->carry)
		add_carries(gather, hist, extra, page, number);
}

static void add_far_pages(struct tr_gather *gather, struct tr_hist *hist,
			  const struct tr_extra *extra)
{
	uint32_t off = extra->far;
	const struct tr_far *far;

	while (off && tr_gather_spend(gather, 8)) {
		far = tr_image_at(gather->image, off, sizeof(*far), 4);
		if (!far) {
			gather->damaged++;
			return;
		}
		for (uint32_t i = 0; i < far->n && i < 7; i++)
			add_cell_page(gather, hist, extra, far->number[i],
				      far->page[i]);
		off = far->next;
	}
}

/* One bit for every page that a cell has. */
#if defined(__x86_64__)
static uint64_t pages_of(const struct tr_cell *cell)
{
	const __m128i none = _mm_setzero_si128();
	uint64_t bits = 0;

	for (unsigned i = 0; i < TR_CELL_PAGES; i += 16) {
		const __m128i *at = (const void *)&cell->page[i];
		__m128i a = _mm_cmpeq_epi32(_mm_loadu_si128(at), none);
		__m128i b = _mm_cmpeq_epi32(_mm_loadu_si128(at + 1), none);
		__m128i c = _mm_cmpeq_epi32(_mm_loadu_si128(at + 2), none);
		__m128i d = _mm_cmpeq_epi32(_mm_loadu_si128(at + 3), none);
		int empty = _mm_movemask_epi8(
			_mm_packs_epi16(_mm_packs_epi32(a, b),
					_mm_packs_epi32(c, d)));

		bits |= (uint64_t)(~empty & 0xffff) << i;
	}
	return bits;
}
#else
static uint64_t pages_of(const struct tr_cell *cell)
{
	uint64_t bits = 0;

	for (unsigned i = 0; i < TR_CELL_PAGES; i++)
		bits |= (uint64_t)(cell->page[i] != 0) << i;
	return bits;
}
#endif

static void add_cell_pages(struct tr_gather *gather, struct tr_hist *hist,
			   const struct tr_extra *extra,
			   const struct tr_cell *cell)
{
	uint64_t bits = pages_of(cell);

	for (; bits && tr_gather_spend(gather, 1); bits &= bits - 1) {
		uint32_t i = (uint32_t)__builtin_ctzll(bits);

		add_cell_page(gather, hist, extra, cell->base + i,
			      cell->page[i]);
	}
}

static void add_present(struct tr_gather *gather, struct tr_series *series,
		       const struct tr_cell *cell, bool negative)
{
	const struct tr_image *image = gather->image;
	const struct tr_extra *extra =
		tr_image_at(image, cell->extra, sizeof(*extra), 8);
	struct tr_hist *hist = negative ? &series->negative :
					  &series->positive;

	if (!in_range(gather, cell->first, cell->slice) || !cell->slice)
		return;
	cover(gather, cell->first, cell->slice);
	if (gather->range.edges_only)
		return;
	add_cell_pages(gather, hist, extra, cell);
	if (extra && extra->far)
		add_far_pages(gather, hist, extra);
	if (negative)
		return;
	if (extra) {
		hist->zeros += tr_gather_sign(gather, extra->zeros);
		hist->unbucketed += tr_gather_sign(gather, extra->unbucketed);
	}
	series->failures += tr_gather_sign(gather, cell->failures);
	series->sum += gather->sign * number_of(series, cell->sum);
	add_extremes(gather, series,
		     (struct slices){ cell->first, cell->slice },
		     number_of(series, cell->min),
		     number_of(series, cell->max));
}

static void add_cell(struct tr_gather *gather, struct tr_series *series,
		     const struct tr_cell *cell, bool negative)
{
	const struct tr_slice *turning = slice_at(gather->image,
						  cell->turning);

	if (turning)
		add_slice(gather, series, turning, negative);
	else
		add_present(gather, series, cell, negative);
	if (cell->closed)
		add_closed(gather, series, cell, negative);
}

static void add_both(struct tr_gather *gather, struct tr_series *series,
		     const struct tr_cell *cell)
{
	const struct tr_extra *extra =
		tr_image_at(gather->image, cell->extra, sizeof(*extra), 8);
	const struct tr_cell *negative;

	add_cell(gather, series, cell, false);
	if (!extra)
		return;
	series->not_finite += tr_gather_sign(gather, extra->not_finite);
	negative = tr_image_at(gather->image, extra->negative,
			       sizeof(*negative), 8);
	if (negative)
		add_cell(gather, series, negative, true);
}

/*
 * Cells do not overlap. If there are more than fit, a list is a cycle or is
 * reached from several tracks, and everything in it would be counted again.
 */
static bool next_fits(struct tr_gather *gather)
{
	if (gather->cells++ < gather->image->size / sizeof(struct tr_cell))
		return true;
	gather->damaged++;
	return false;
}

void tr_gather_cells(struct tr_gather *gather, const struct tr_track *track)
{
	uint32_t off = track->cells;
	const struct tr_cell *cell;

	for (; off && tr_gather_spend(gather, 4); off = cell->next) {
		cell = tr_image_at(gather->image, off, sizeof(*cell), 8);
		if (!next_fits(gather))
			return;
		if (!cell || cell->site >= gather->n_series ||
		    !gather->series[cell->site].site) {
			gather->damaged++;
			return;
		}
		if (gather->range.last_values)
			tr_last_values_add_ring(gather,
						&gather->series[cell->site],
						cell);
		else
			add_both(gather, &gather->series[cell->site], cell);
	}
}

/* ---- not in a cell yet ------------------------------------------------- */

void tr_gather_time(struct tr_gather *gather, struct tr_series *series,
		    uint64_t start, uint64_t duration, bool failed)
{
	const struct tr_header *header = tr_image_header(gather->image);
	uint32_t slice = (uint32_t)((start + duration) >> header->slice_shift);

	if (!gather->range.last_values && !in_range(gather, slice, slice))
		return;
	cover(gather, slice, slice);
	if (!duration)
		series->positive.zeros += tr_gather_sign(gather, 1);
	else if (!tr_hist_add_one(&gather->pool, &series->positive,
				  tr_bucket_bits((double)duration *
						 header->sec_per_tick),
				  gather->sign))
		gather->failed = true;
	series->sum += gather->sign * (double)duration;
	series->failures += tr_gather_sign(gather, failed);
	add_extremes(gather, series, (struct slices){ slice, slice },
		     (double)duration, (double)duration);
}

void tr_gather_value(struct tr_gather *gather, struct tr_series *series,
		     double value, uint32_t slice)
{
	struct tr_hist *hist = value < 0 ? &series->negative :
					   &series->positive;

	if (!gather->range.last_values && !in_range(gather, slice, slice))
		return;
	cover(gather, slice, slice);
	if (!isfinite(value)) {
		series->not_finite += tr_gather_sign(gather, 1);
		return;
	}
	if (fabs(value) < 2.2250738585072014e-308)
		series->positive.zeros += tr_gather_sign(gather, 1);
	else if (!tr_hist_add_one(&gather->pool, hist,
				  tr_bucket_bits(fabs(value)),
				  gather->sign))
		gather->failed = true;
	series->sum += gather->sign * value;
	add_extremes(gather, series, (struct slices){ slice, slice }, value,
		     value);
}
