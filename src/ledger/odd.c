/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Odd: entries that the fast path of drain.c leaves: the first of a slice
 * or of a bucket's page, failures, long scopes, values, items, remarks.
 */
#include "ledger/drain.h"

#include <float.h>
#include <math.h>

/* Everything known, the entry is under way from here on. */
static void under_way(struct tr_track *track, uint64_t position)
{
	TR_FENCE();
	TR_STORE(track->intent.stage, position + 1);
	TR_FENCE();
}

/* ---- one more in a bucket ---------------------------------------------- */

struct place {
	uint32_t *bucket; /* NULL: `other` counts it */
	uint64_t *other;
	uint32_t *high;	  /* carry, where the bucket is full */
};

static struct place find_place(struct tr_hand *hand, struct tr_cell *cell,
			       uint64_t bits)
{
	uint32_t off = tr_cell_bucket(hand, cell, bits);
	struct place place = { NULL, &hand->held->lost.unbucketed, NULL };
	struct tr_extra *extra;

	if (off) {
		place.bucket = (void *)(hand->base + off);
		if (*place.bucket == UINT32_MAX)
			place.high = tr_cell_carry(hand, cell, off);
		if (*place.bucket != UINT32_MAX || place.high)
			return place;
		place.bucket = NULL;
	}
	extra = tr_cell_extra(hand, cell);
	if (extra)
		place.other = &extra->unbucketed;
	return place;
}

/* The intent's half of place_add(). */
static void place_note(struct tr_track *track, const struct place *place)
{
	if (place->bucket)
		TR_STORE(track->intent.bucket, *place->bucket);
	TR_STORE(track->intent.other, place->high ? *place->high :
				      place->other ? *place->other :
						     0);
}

static void place_add(const struct place *place)
{
	if (!place->bucket) {
		TR_STORE(*place->other, *place->other + 1);
		return;
	}
	if (place->high)
		TR_STORE(*place->high, *place->high + 1);
	TR_STORE(*place->bucket, *place->bucket + 1);
}

/* ---- last values ------------------------------------------------------- */

static void keep_value(struct tr_hand *hand, const struct tr_cell *cell,
		       uint64_t ticks, uint64_t value)
{
	struct tr_values *values = (void *)(hand->base + cell->values);
	uint64_t n, at;

	if (!cell->values || !values->size)
		return;
	n = values->written;
	at = n % values->size;
	TR_STORE(values->at[at].ticks, ticks);
	TR_STORE(values->at[at].value, value);
	TR_PUBLISH(values->written, n + 1);
}

/* ---- times ------------------------------------------------------------- */

struct timed {
	uint64_t start, span;
	struct tr_node *node;
	bool failed;
};

static struct place time_place(struct tr_hand *hand, struct tr_cell *cell,
			       uint64_t span)
{
	struct tr_extra *extra;
	struct place place = { NULL, &hand->held->lost.unbucketed, NULL };

	if (span)
		return find_place(hand, cell,
				  tr_bucket_bits((double)span * hand->scale));
	extra = tr_cell_extra(hand, cell);
	if (extra)
		place.other = &extra->zeros;
	return place;
}

static void drain_time(struct tr_hand *hand, struct tr_track *track,
		       uint64_t position, const struct timed *t)
{
	struct tr_node *node = t->node;
	struct tr_cell *cell = tr_cell_at(hand, node->cell);
	uint32_t slice = TR_SLICE_OF(hand, t->start + t->span);
	struct place place;

	if (cell->slice != slice)
		tr_cell_turn(hand, cell, slice);
	place = time_place(hand, cell, t->span);
	TR_STORE(track->intent.calls, node->calls);
	TR_STORE(track->intent.sum, node->sum);
	TR_STORE(track->intent.cell_sum, cell->sum);
	TR_STORE(track->intent.failures, node->failures);
	TR_STORE(track->intent.cell_failures, cell->failures);
	place_note(track, &place);
	under_way(track, position);
	TR_STORE(node->calls, node->calls + 1);
	TR_STORE(node->sum, node->sum + t->span);
	TR_STORE(cell->sum, cell->sum + t->span);
	if (t->failed) {
		TR_STORE(node->failures, node->failures + 1);
		TR_STORE(cell->failures, cell->failures + 1);
	}
	place_add(&place);
	if (t->span > cell->max)
		TR_STORE(cell->max, t->span);
	if (t->span < cell->min)
		TR_STORE(cell->min, t->span);
	keep_value(hand, cell, t->start + t->span, t->span);
}

/* ---- values ------------------------------------------------------------ */

static double real_of(uint64_t bits)
{
	union {
		uint64_t bits;
		double value;
	} u = { bits };

	return u.value;
}

static uint64_t bits_of(double value)
{
	union {
		double value;
		uint64_t bits;
	} u = { value };

	return u.bits;
}

/* The window's place is chosen by the first value. */
static void place_window(struct tr_cell *cell, uint64_t bits)
{
	uint64_t page = bits >> 51;

	if (!cell->base)
		TR_STORE(cell->base, page > TR_CELL_PAGES / 2 ?
					     (uint32_t)page -
						     TR_CELL_PAGES / 2 :
					     1);
}

static struct tr_cell *negative_cell(struct tr_hand *hand,
				     struct tr_cell *cell)
{
	struct tr_extra *extra = tr_cell_extra(hand, cell);
	struct tr_cell *negative;
	uint32_t off;

	if (!extra)
		return NULL;
	if (!extra->negative) {
		off = tr_track_alloc(hand, sizeof(*negative));
		if (!off)
			return NULL;
		negative = tr_cell_at(hand, off);
		negative->site = cell->site;
		negative->slice = cell->slice;
		negative->first = cell->slice;
		TR_PUBLISH(extra->negative, off);
	}
	return tr_cell_at(hand, extra->negative);
}

static struct place value_place(struct tr_hand *hand, struct tr_cell *cell,
				double value)
{
	struct place place = { NULL, &hand->held->lost.unbucketed, NULL };
	struct tr_extra *extra;
	uint64_t bits;

	if (fabs(value) < DBL_MIN) {
		extra = tr_cell_extra(hand, cell);
		if (extra)
			place.other = &extra->zeros;
		return place;
	}
	if (value < 0) {
		cell = negative_cell(hand, cell);
		value = -value;
	}
	if (!cell)
		return place;
	bits = tr_bucket_bits(value);
	place_window(cell, bits);
	return find_place(hand, cell, bits);
}

static void drain_value(struct tr_hand *hand, struct tr_track *track,
			uint64_t position, struct tr_cell *cell, double value,
			uint32_t slice)
{
	struct place place;
	double sum;

	if (cell->slice != slice)
		tr_cell_turn(hand, cell, slice);
	sum = real_of(cell->sum) + value;
	place = value_place(hand, cell, value);
	TR_STORE(track->intent.cell_sum, cell->sum);
	place_note(track, &place);
	under_way(track, position);
	TR_STORE(cell->sum, bits_of(sum));
	place_add(&place);
	if (value > real_of(cell->max))
		TR_STORE(cell->max, bits_of(value));
	if (value < real_of(cell->min))
		TR_STORE(cell->min, bits_of(value));
	keep_value(hand, cell, (uint64_t)slice << hand->shift,
		   bits_of(value));
}

static void drain_not_finite(struct tr_hand *hand, struct tr_track *track,
			     uint64_t position, struct tr_cell *cell)
{
	struct tr_extra *extra = tr_cell_extra(hand, cell);
	uint64_t *count = extra ? &extra->not_finite :
				  &track->lost.unbucketed;

	TR_STORE(track->intent.other, *count);
	under_way(track, position);
	TR_STORE(*count, *count + 1);
}

/* ---- counts of a node -------------------------------------------------- */

static void drain_count(struct tr_track *track, uint64_t position,
			uint64_t *field, uint64_t n)
{
	TR_STORE(track->intent.other, *field);
	under_way(track, position);
	TR_STORE(*field, *field + n);
}

void tr_drain_odd(struct tr_hand *hand, struct tr_track *track,
		  uint64_t position)
{
	const struct tr_entry *entry = (void *)(hand->base +
						(uint32_t)position);
	uint32_t flags = entry->what & TR_ENTRY_FLAGS;
	uint32_t off = entry->what & ~(uint32_t)TR_ENTRY_FLAGS;
	struct timed t = { entry->start, entry->span, tr_node_at(hand, off),
			   flags & TR_ENTRY_FAILED };

	/* Zeros are what a truncated file reads as. */
	if (flags & TR_ENTRY_OWNER)
		return;
	if (!off) {
		tr_ledger_heal(hand);
		return;
	}
	if (flags & TR_ENTRY_VALUE) {
		double value = real_of(entry->start);

		if (!tr_cell_at(hand, off)->site) {
			tr_ledger_heal(hand);
			return;
		}

		if (isfinite(value))
			drain_value(hand, track, position,
				    tr_cell_at(hand, off), value, entry->span);
		else
			drain_not_finite(hand, track, position,
					 tr_cell_at(hand, off));
		return;
	}
	if (flags & TR_ENTRY_ITEMS) {
		drain_count(track, position, &t.node->items, entry->start);
		return;
	}
	if (flags & TR_ENTRY_UNTIMED) {
		if (flags & TR_ENTRY_LONG)
			hand->long_start = entry->start;
		else
			drain_count(track, position, &t.node->untimed,
				    entry->start);
		return;
	}
	if (!t.node->cell || !tr_cell_at(hand, t.node->cell)->site) {
		tr_ledger_heal(hand);
		return;
	}
	if (flags & TR_ENTRY_LONG) {
		t.start = hand->long_start;
		t.span = entry->start;
	}
	drain_time(hand, track, position, &t);
}

/* ---- entries from signal handlers -------------------------------------- */

#define TR_PARKED 0x80000000u /* in `what`: the entry is complete */

bool tr_log_defer(struct tr_hand *hand, uint64_t start, uint32_t span,
		  uint32_t site)
{
	struct tr_track *track = hand->held;
	uint32_t n = TR_LOAD(track->deferred_write);
	struct tr_entry *entry;

	/* Handlers interrupt each other here: reserve by compare and swap. */
	do {
		if (n - TR_LOAD(track->deferred_read) >= TR_DEFERRED)
			return false;
	} while (!__atomic_compare_exchange_n(&track->deferred_write, &n,
					      n + 1, false, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	entry = &track->deferred[n % TR_DEFERRED];
	TR_STORE(entry->start, start);
	TR_STORE(entry->span, span);
	TR_PUBLISH(entry->what, site | TR_PARKED);
	return true;
}

void tr_drain_deferred(struct tr_hand *hand)
{
	struct tr_track *track = hand->held;
	uint32_t read = track->deferred_read;

	while (read != TR_LOAD(track->deferred_write)) {
		struct tr_entry *entry = &track->deferred[read % TR_DEFERRED];
		uint32_t what = TR_ACQUIRE(entry->what), node;

		if (!(what & TR_PARKED))
			return;
		node = tr_tree_child(hand, track->root, what & ~TR_PARKED);
		TR_STORE(entry->what, 0);
		TR_STORE(track->deferred_read, ++read);
		if (node)
			tr_log_append(hand, entry->start, entry->span, node);
		else
			TR_STORE(track->lost.busy, track->lost.busy + 1);
	}
}
