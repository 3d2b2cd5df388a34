/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of a track, present slice and closed ones, into their series.
 */
#include "view/view.h"

#include <math.h>

#define TR_CELLS_MOST (1u << 22) /* of a track: beyond is a damaged list */

static double real_of(uint64_t bits)
{
	union {
		uint64_t bits;
		double value;
	} u = { bits };

	return u.value;
}

static bool is_time(const struct tr_series *series)
{
	return series->site->kind == TARE_KIND_SCOPE;
}

static double number_of(const struct tr_series *series, uint64_t bits)
{
	return is_time(series) ? (double)bits : real_of(bits);
}

static bool in_span(const struct tr_gather *gather, uint32_t from, uint32_t to)
{
	const struct tr_header *header = (const void *)gather->image->base;
	uint64_t first = (uint64_t)from << header->slice_shift;
	uint64_t last = ((uint64_t)to + 1) << header->slice_shift;

	return gather->span.is_all ||
	       (last > gather->span.from && first <= gather->span.to);
}

static void cover(struct tr_gather *gather, uint32_t from, uint32_t to)
{
	if (from < gather->first_slice)
		gather->first_slice = from;
	if (to > gather->last_slice)
		gather->last_slice = to;
}

static void add_extremes(struct tr_gather *gather, struct tr_series *series,
			 double min, double max)
{
	/* A baseline's extremes cannot be taken off; see stats.c. */
	if (gather->sign < 0)
		return;
	if (min < series->min)
		series->min = min;
	if (max > series->max)
		series->max = max;
}

static uint64_t signed_count(const struct tr_gather *gather, uint64_t n)
{
	return gather->sign < 0 ? -n : n;
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

	if (!in_span(gather, s->from, s->to))
		return;
	cover(gather, s->from, s->to);
	if (tr_slice_first(&cursor, (const uint8_t *)(s + 1), s->bytes))
		do {
			if (!tr_hist_add(hist, cursor.number, cursor.count,
					 gather->sign))
				gather->failed = true;
		} while (tr_slice_next(&cursor));
	if (negative)
		return;
	hist->zeros += signed_count(gather, s->zeros);
	hist->unbucketed += signed_count(gather, s->unbucketed);
	series->failures += signed_count(gather, s->failures);
	series->sum += gather->sign * number_of(series, s->sum);
	add_extremes(gather, series, number_of(series, s->min),
		     number_of(series, s->max));
}

static void add_history(struct tr_gather *gather, struct tr_series *series,
			const struct tr_cell *cell, bool negative)
{
	const struct tr_image *image = gather->image;
	const struct tr_history *history =
		tr_image_at(image, cell->history, sizeof(*history), 8);
	const struct tr_slice *oldest, *s;
	uint32_t off;

	if (!history) {
		gather->damaged += cell->history != 0;
		return;
	}
	oldest = slice_at(image, history->oldest);
	if (oldest) {
		add_slice(gather, series, oldest, negative);
		if (oldest->to > gather->horizon_slice)
			gather->horizon_slice = oldest->to;
	}
	for (unsigned tier = 0; tier < TR_TIERS; tier++) {
		unsigned head = history->marks >> (16 * tier) & 255;
		unsigned i = history->marks >> (16 * tier + 8) & 255;

		if (((head - i) & 255) > TR_TIER_SLOTS) {
			gather->damaged++;
			continue;
		}
		for (; i != head; i = (i + 1) & 255) {
			off = history->slot[tier][i % TR_TIER_SLOTS];
			s = slice_at(image, off);
			if (!s)
				gather->damaged++;
			else if (off != cell->turning &&
				 !(oldest && s->to <= oldest->to))
				add_slice(gather, series, s, negative);
		}
	}
}

/* ---- the present slice ------------------------------------------------- */

static void page_counts(const struct tr_image *image,
			const struct tr_extra *extra, uint32_t page,
			const uint32_t *bucket, uint64_t *count)
{
	uint32_t off = extra ? extra->carry : 0;
	const struct tr_carry *carry;

	for (unsigned i = 0; i < TR_PAGE_BUCKETS; i++)
		count[i] = bucket[i];
	for (int lists = 0; lists < 4096; lists++) {
		carry = tr_image_at(image, off, sizeof(*carry), 4);
		if (!carry)
			return;
		for (uint32_t i = 0; i < carry->n && i < 7; i++) {
			uint32_t place = (carry->bucket[i] - page) / 4;

			if (carry->bucket[i] >= page &&
			    place < TR_PAGE_BUCKETS)
				count[place] += (uint64_t)carry->high[i] << 32;
		}
		off = carry->next;
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
	uint64_t count[TR_PAGE_BUCKETS];
	uint32_t number, page;

	if (!in_span(gather, cell->first, cell->slice) || !cell->slice)
		return;
	cover(gather, cell->first, cell->slice);
	for (int64_t after = -1;
	     tr_cell_page_after(image->base, image->size, cell, after, &number,
				&page);
	     after = number) {
		const uint32_t *bucket = tr_image_at(image, page, TR_LINE, 4);

		if (!bucket) {
			gather->damaged++;
			continue;
		}
		page_counts(image, extra, page, bucket, count);
		if (!tr_hist_add(hist, number, count, gather->sign))
			gather->failed = true;
	}
	if (negative)
		return;
	if (extra) {
		hist->zeros += signed_count(gather, extra->zeros);
		hist->unbucketed += signed_count(gather, extra->unbucketed);
	}
	series->failures += signed_count(gather, cell->failures);
	series->sum += gather->sign * number_of(series, cell->sum);
	add_extremes(gather, series, number_of(series, cell->min),
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
	if (cell->history)
		add_history(gather, series, cell, negative);
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
	series->not_finite += signed_count(gather, extra->not_finite);
	negative = tr_image_at(gather->image, extra->negative,
			       sizeof(*negative), 8);
	if (negative)
		add_cell(gather, series, negative, true);
}

/* ---- the last values --------------------------------------------------- */

/* Those of one track; the last of all tracks are at most that many each. */
static void add_values(struct tr_gather *gather, struct tr_series *series,
		       const struct tr_cell *cell)
{
	const struct tr_header *header = (const void *)gather->image->base;
	const struct tr_values *values =
		tr_image_at(gather->image, cell->values, sizeof(*values), 8);
	uint64_t n;

	if (!values || !values->size ||
	    !tr_image_at(gather->image, cell->values,
			 sizeof(*values) + (uint64_t)values->size * 16, 8))
		return;
	n = values->written < values->size ? values->written : values->size;
	if (n > gather->span.last_values)
		n = gather->span.last_values;
	for (uint64_t i = values->written - n; i < values->written; i++) {
		uint64_t at = i % values->size;

		if (is_time(series))
			tr_gather_time(gather, series, values->at[at].ticks,
				       values->at[at].value, false);
		else
			tr_gather_value(gather, series,
					real_of(values->at[at].value),
					(uint32_t)(values->at[at].ticks >>
						   header->slice_shift));
	}
}

void tr_gather_cells(struct tr_gather *gather, const struct tr_track *track)
{
	uint32_t off = track->cells, n = 0;
	const struct tr_cell *cell;

	for (; off && n < TR_CELLS_MOST; off = cell->next, n++) {
		cell = tr_image_at(gather->image, off, sizeof(*cell), 8);
		if (!cell || cell->site >= gather->n_series ||
		    !gather->series[cell->site].site) {
			gather->damaged++;
			return;
		}
		if (gather->span.last_values)
			add_values(gather, &gather->series[cell->site], cell);
		else
			add_both(gather, &gather->series[cell->site], cell);
	}
}

/* ---- not in a cell yet ------------------------------------------------- */

void tr_gather_time(struct tr_gather *gather, struct tr_series *series,
		    uint64_t start, uint64_t span, bool failed)
{
	const struct tr_header *header = (const void *)gather->image->base;
	uint32_t slice = (uint32_t)((start + span) >> header->slice_shift);

	if (!gather->span.last_values && !in_span(gather, slice, slice))
		return;
	cover(gather, slice, slice);
	if (!span)
		series->positive.zeros += (uint64_t)(int64_t)gather->sign;
	else if (!tr_hist_add_one(&series->positive,
				  tr_bucket_bits((double)span *
						 header->sec_per_tick),
				  gather->sign))
		gather->failed = true;
	series->sum += gather->sign * (double)span;
	series->failures += failed ? (uint64_t)(int64_t)gather->sign : 0;
	add_extremes(gather, series, (double)span, (double)span);
}

void tr_gather_value(struct tr_gather *gather, struct tr_series *series,
		     double value, uint32_t slice)
{
	struct tr_hist *hist = value < 0 ? &series->negative :
					   &series->positive;

	if (!gather->span.last_values && !in_span(gather, slice, slice))
		return;
	cover(gather, slice, slice);
	if (!isfinite(value)) {
		series->not_finite += (uint64_t)(int64_t)gather->sign;
		return;
	}
	if (fabs(value) < 2.2250738585072014e-308)
		series->positive.zeros += (uint64_t)(int64_t)gather->sign;
	else if (!tr_hist_add_one(hist, tr_bucket_bits(fabs(value)),
				  gather->sign))
		gather->failed = true;
	series->sum += gather->sign * value;
	add_extremes(gather, series, value, value);
}
