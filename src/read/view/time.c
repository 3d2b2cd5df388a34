/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time: converts a ledger's ticks to wall time.
 *
 * Linear between two anchors; before the first and after the last with the rate
 * over the longest known interval. So a step of the wall clock shifts only the
 * times after it.
 */
#include "read/view.h"

static uint32_t anchors_of(const struct tr_header *header)
{
	uint32_t n = header->anchor_count;

	return n < TR_ANCHORS ? n : TR_ANCHORS;
}

/* The last anchor that is not after `ticks`. */
static const struct tr_anchor *anchor_before(const struct tr_header *header,
					     uint64_t ticks)
{
	const struct tr_anchor *best = &header->start;

	for (uint32_t i = 0; i < anchors_of(header); i++) {
		const struct tr_anchor *a = &header->anchor[i];

		if (a->ticks <= ticks && a->ticks > best->ticks)
			best = a;
	}
	return best;
}

static const struct tr_anchor *newest(const struct tr_header *header)
{
	if (header->end.ticks)
		return &header->end;
	return anchor_before(header, UINT64_MAX);
}

/* ns per tick: over the whole run if it is long enough. */
static double rate_of(const struct tr_header *header)
{
	const struct tr_anchor *last = newest(header);
	double ticks, ns;

	ticks = (double)last->ticks - (double)header->start.ticks;
	ns = (double)last->mono_ns - (double)header->start.mono_ns;
	if (ticks <= 0 || ns < 1e8)
		return header->sec_per_tick * 1e9;
	return ns / ticks;
}

int64_t tr_time_real(const struct tr_image *image, uint64_t ticks)
{
	const struct tr_header *header = tr_image_header(image);
	const struct tr_anchor *a = anchor_before(header, ticks);
	double ahead = (double)(int64_t)(ticks - a->ticks);
	double ns = ahead * rate_of(header);

	/* A duration measured elsewhere may have begun long before the run. */
	if (!(ns > -9e18 && ns < 9e17))
		return a->real_ns;
	return (int64_t)((uint64_t)a->real_ns + (uint64_t)(int64_t)ns);
}

uint64_t tr_time_ticks(const struct tr_image *image, int64_t real_ns)
{
	const struct tr_header *header = tr_image_header(image);
	const struct tr_anchor *best = &header->start;
	double ahead;
	uint64_t ticks;

	for (uint32_t i = 0; i < anchors_of(header); i++) {
		const struct tr_anchor *a = &header->anchor[i];

		if (a->real_ns <= real_ns && a->ticks > best->ticks)
			best = a;
	}
	/* Subtract first: a double of ns since 1970 has steps of 256 ns. */
	if (real_ns < best->real_ns) {
		ahead = (double)((uint64_t)best->real_ns - (uint64_t)real_ns) /
			rate_of(header);
		return ahead < (double)best->ticks && ahead < 9e18 ?
			       best->ticks - (uint64_t)ahead :
			       0;
	}
	ahead = (double)((uint64_t)real_ns - (uint64_t)best->real_ns) /
		rate_of(header);
	ticks = ahead < 9e18 ? (uint64_t)ahead : UINT64_MAX;
	return ticks < UINT64_MAX - best->ticks ? best->ticks + ticks :
						  UINT64_MAX;
}

uint64_t tr_time_now(const struct tr_image *image)
{
	const struct tr_header *header = tr_image_header(image);

	if (header->end.ticks)
		return header->end.ticks;
	if (header->clock == TR_CLOCK_KIND_MONOTONIC)
		return (uint64_t)tr_monotonic_ns();
	return tr_counter();
}
