/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redo: completes the update that a track's thread was in the middle of.
 *
 * The intent holds the fields as they were; whichever of them the thread had
 * already changed, they now get the same new values again. The counterpart
 * of drain.c, odd.c and observe.c. Used on a reader's copy, and on the ledger
 * itself by a thread that takes over the track of one that died in a probe.
 */
#include "ledger/ledger.h"

#include <math.h>

static void *at(const struct tr_image *image, uint32_t off, uint64_t bytes)
{
	return (void *)(uintptr_t)tr_image_at(image, off, bytes, 8);
}

/* Offset of a bucket that exists, or 0. */
static uint32_t find_bucket(const struct tr_image *image,
			    const struct tr_cell *cell, uint64_t bits)
{
	uint32_t number, page, want = (uint32_t)(bits >> 51);

	if (!tr_cell_page_after(image->base, image->size, cell,
				(int64_t)want - 1, &number, &page) ||
	    number != want || !tr_image_at(image, page, TR_LINE, 4))
		return 0;
	return page + (uint32_t)(bits >> 47 & 15) * 4;
}

static uint32_t *find_carry(const struct tr_image *image,
			    const struct tr_extra *extra, uint32_t bucket)
{
	uint32_t off = extra ? extra->carry : 0;

	for (int n = 0; n < 4096; n++) {
		struct tr_carry *carry = (void *)(uintptr_t)
			tr_image_at(image, off, sizeof(*carry), 4);

		if (!carry)
			return NULL;
		for (uint32_t i = 0; i < carry->n && i < 7; i++)
			if (carry->bucket[i] == bucket)
				return &carry->high[i];
		off = carry->next;
	}
	return NULL;
}

static void redo_bucket(const struct tr_image *image,
			const struct tr_intent *intent,
			const struct tr_cell *cell, uint64_t bits)
{
	struct tr_extra *extra = at(image, cell->extra, sizeof(*extra));
	uint32_t off = find_bucket(image, cell, bits), *high;

	if (!off) {
		if (extra)
			extra->unbucketed = intent->other + 1;
		return;
	}
	*(uint32_t *)(void *)(uintptr_t)(image->base + off) =
		intent->bucket + 1;
	if (intent->bucket != UINT32_MAX)
		return;
	high = find_carry(image, extra, off);
	if (high)
		*high = (uint32_t)intent->other + 1;
}

static void redo_time(const struct tr_image *image,
		      const struct tr_intent *intent, struct tr_node *node,
		      uint64_t span, bool failed)
{
	struct tr_cell *cell = at(image, node->cell, sizeof(*cell));
	const struct tr_header *header = (const void *)image->base;
	struct tr_extra *extra;

	node->calls = intent->calls + 1;
	node->sum = intent->sum + span;
	if (tr_node_is_function(node))
		return; /* it has nothing else */
	if (failed)
		node->failures = intent->failures + 1;
	if (!cell)
		return;
	cell->sum = intent->cell_sum + span;
	if (failed)
		cell->failures = intent->cell_failures + 1;
	if (span > cell->max)
		cell->max = span;
	if (span < cell->min)
		cell->min = span;
	if (span) {
		redo_bucket(image, intent, cell,
			    tr_bucket_bits((double)span *
					   header->sec_per_tick));
		return;
	}
	extra = at(image, cell->extra, sizeof(*extra));
	if (extra)
		extra->zeros = intent->other + 1;
}

static void redo_value(const struct tr_image *image,
		       const struct tr_value_intent *under_way)
{
	const struct tr_intent intent = {
		.cell_sum = under_way->cell_sum,
		.bucket = under_way->bucket,
		.other = under_way->other,
	};
	struct tr_cell *cell = at(image, under_way->cell, sizeof(*cell));
	struct tr_extra *extra = cell ? at(image, cell->extra, sizeof(*extra)) :
					NULL;
	double value = tr_real_of(under_way->value);
	struct tr_cell *place = cell;

	if (!cell)
		return;
	if (!isfinite(value)) {
		if (extra)
			extra->not_finite = intent.other + 1;
		return;
	}
	cell->sum = tr_bits_of(tr_real_of(intent.cell_sum) + value);
	if (value > tr_real_of(cell->max))
		cell->max = tr_bits_of(value);
	if (value < tr_real_of(cell->min))
		cell->min = tr_bits_of(value);
	if (fabs(value) < 2.2250738585072014e-308) {
		if (extra)
			extra->zeros = intent.other + 1;
		return;
	}
	if (value < 0)
		place = extra ? at(image, extra->negative, sizeof(*place)) :
				NULL;
	if (place)
		redo_bucket(image, &intent, place,
			    tr_bucket_bits(fabs(value)));
}

static void redo(const struct tr_image *image, const struct tr_intent *intent,
		 const struct tr_entry *entry)
{
	uint32_t flags = entry->what & TR_ENTRY_FLAGS;
	uint32_t off = entry->what & ~(uint32_t)TR_ENTRY_FLAGS;
	struct tr_node *node = at(image, off + TR_NODE_BIAS, sizeof(*node));

	if (!node || flags & TR_ENTRY_OWNER)
		return;
	if (flags & TR_ENTRY_ITEMS)
		node->items = intent->other + entry->start;
	else if (flags & TR_ENTRY_UNTIMED)
		node->untimed = intent->other + entry->start;
	else
		redo_time(image, intent, node,
			  flags & TR_ENTRY_LONG ? entry->start : entry->span,
			  flags & TR_ENTRY_FAILED);
}

bool tr_redo(const struct tr_image *image, const struct tr_track *track)
{
	const struct tr_entry *entry;
	uint64_t stage = track->intent.stage;

	if (track->value.cell) {
		redo_value(image, &track->value);
		return true; /* a thread does one thing at a time */
	}
	if (!(stage & 1))
		return false;
	entry = tr_image_at(image, (uint32_t)(stage - 1), sizeof(*entry), 8);
	if (!entry)
		return false;
	redo(image, &track->intent, entry);
	return true;
}
