/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buckets of histograms and their counts, as a ledger stores them: open pages
 * of cells, and packed slices.
 */
#ifndef TR_LEDGER_LAYOUT_HISTOGRAM_H
#define TR_LEDGER_LAYOUT_HISTOGRAM_H

#include "base/platform.h"
#include "ledger/layout/file.h"

/* ---- doubles in words -------------------------------------------------- */

TR_INLINE double tr_real_of(uint64_t bits)
{
	union {
		uint64_t bits;
		double value;
	} u = { bits };

	return u.value;
}

TR_INLINE uint64_t tr_bits_of(double value)
{
	union {
		double value;
		uint64_t bits;
	} u = { value };

	return u.bits;
}

/* ---- histogram.c ------------------------------------------------------- */

extern const uint64_t tr_bucket_addend[64];

/*
 * Window of a cell of times: from 2^-32.5 s, 32 octaves. One tick of a counter
 * of up to 6 GHz is in it: where a counter advances by many ticks at once, that
 * is what some empty scopes take. The upper end, 0.7 s, matters less, because
 * what comes next to such a scope costs nothing compared with it.
 */
#define TR_TIME_BASE ((1023u - 33u) * 2u + 1)

/*
 * Bits of a bucket: those of a positive normal double, shifted so that the
 * upper ones are the bucket's number. A double has 52 bits of fraction; five
 * are used, for 32 buckets per octave. 16 buckets are a page.
 */
#define TR_BUCKET_SHIFT 47u
#define TR_BUCKET_PAGE_SHIFT 51u

TR_INLINE uint64_t tr_bucket_bits(double value)
{
	union {
		double value;
		uint64_t bits;
	} u = { value };

	return u.bits + tr_bucket_addend[u.bits >> (TR_BUCKET_SHIFT - 1) & 63];
}

/* Number of the bucket, and of its page. */
TR_INLINE uint64_t tr_bucket_index(uint64_t bits)
{
	return bits >> TR_BUCKET_SHIFT;
}

TR_INLINE uint64_t tr_bucket_page(uint64_t bits)
{
	return bits >> TR_BUCKET_PAGE_SHIFT;
}

/* Index of the bucket in its page, and the offset of its 4 bytes. */
TR_INLINE uint64_t tr_bucket_in_page(uint64_t bits)
{
	return bits >> TR_BUCKET_SHIFT & (TR_PAGE_BUCKETS - 1);
}

TR_INLINE uint64_t tr_bucket_offset(uint64_t bits)
{
	return bits >> (TR_BUCKET_SHIFT - 2) & 4 * (TR_PAGE_BUCKETS - 1);
}

/* Upper bound of bucket `index`; the lower is that of index - 1. */
double tr_bucket_upper(uint32_t index);

/* ---- anchor.c ---------------------------------------------------------- */

void tr_anchor_take(struct tr_anchor *anchor, bool counter_clock);

/* ---- slice.c ----------------------------------------------------------- */

/* Cursor over the buckets of a closed slice. */
struct tr_slice_cursor {
	const uint8_t *at, *end;
	uint32_t number; /* page; UINT32_MAX at the end */
	uint64_t count[TR_PAGE_BUCKETS];
};

bool tr_slice_first(struct tr_slice_cursor *cursor, const uint8_t *bytes,
		    size_t n);
bool tr_slice_next(struct tr_slice_cursor *cursor);
/* Bytes of a page's counts when packed. */
unsigned tr_slice_page_bytes(const uint64_t *count);
/* Writes the counts; returns their end. */
uint8_t *tr_slice_put_page(uint8_t *at, uint32_t number,
			   const uint64_t *count);

/* ---- cell_pages.c ------------------------------------------------------ */

#define TR_FAR_LISTS 64 /* 448 pages: 224 octaves beside the window */

/* Next page of the cell with a number above `after` (or from 0). */
bool tr_cell_page_after(const char *base, uint64_t size,
			const struct tr_cell *cell, int64_t after,
			uint32_t *ret_number, uint32_t *ret_page);

/* ---- blocks of records ------------------------------------------------- */

/* Blocks for `records` records of about TR_RECORD_ABOUT bytes. */
#define TR_RECORD_ABOUT 200u
TR_INLINE uint64_t tr_blocks_for(uint64_t records)
{
	return records * TR_RECORD_ABOUT / TR_BLOCK_BYTES + 16;
}

#endif
