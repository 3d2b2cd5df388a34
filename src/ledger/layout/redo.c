/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redo: completes the update that a track's thread had begun.
 *
 * The intent has the old values of the fields. Fields that the thread had
 * already changed get the same new values again. The counterpart of drain.c,
 * drain_slow.c and observe.c. Used on a reader's copy, and on the ledger itself
 * by a thread that takes over the track of a thread that died in a probe.
 *
 * An intent may contain anything. Only a node or a cell in the lists of its
 * track is changed, or what such a cell refers to in the arena: never the
 * header and the regions, which were checked before. Lists are walked within a
 * limit that the caller has for all tracks together.
 */
#include "ledger/layout.h"

#include <math.h>

#define TR_REDO_STEPS 128u /* for a cell's pages, near and far */

struct redo {
	const struct tr_image *image;
	const struct tr_track *track;
	uint64_t *left; /* steps */
};

static void *at(const struct tr_image *image, uint32_t off, uint64_t bytes)
{
	return tr_arena_at(image, off, bytes, 8);
}

/* A node of the track by its offset; NULL: there is none. */
static struct tr_node *find_node(const struct redo *r, uint64_t off)
{
	uint32_t next = r->track->nodes;
	struct tr_node *node;

	for (; next && *r->left > 0; next = node->next) {
		--*r->left;
		node = tr_arena_at(r->image, (uint64_t)next + TR_NODE_BIAS,
				   sizeof(*node), TR_LINE);
		if (!node || (uint64_t)next + TR_NODE_BIAS == off)
			return node;
	}
	return NULL;
}

static struct tr_cell *find_cell(const struct redo *r, uint32_t off)
{
	uint32_t next = r->track->cells;
	struct tr_cell *cell;

	for (; next && *r->left > 0; next = cell->next) {
		--*r->left;
		cell = at(r->image, next, sizeof(*cell));
		if (!cell || next == off)
			return cell;
	}
	return NULL;
}

/* Offset of an existing bucket, or 0. */
static uint32_t find_bucket(const struct tr_image *image,
			    const struct tr_cell *cell, uint64_t bits)
{
	uint32_t number, page, want = (uint32_t)tr_bucket_page(bits);

	if (!tr_cell_page_after(image->base, image->size, cell,
				(int64_t)want - 1, &number, &page) ||
	    number != want || !tr_arena_at(image, page, TR_LINE, 4))
		return 0;
	return page + (uint32_t)tr_bucket_offset(bits);
}

static uint32_t *find_carry(const struct redo *r,
			    const struct tr_extra *extra, uint32_t bucket)
{
	uint32_t off = extra ? extra->carry : 0;

	for (; *r->left > 0; --*r->left) {
		struct tr_carry *carry =
			tr_arena_at(r->image, off, sizeof(*carry), 4);

		if (!carry)
			return NULL;
		for (uint32_t i = 0; i < carry->n && i < 7; i++)
			if (carry->bucket[i] == bucket)
				return &carry->high[i];
		off = carry->next;
	}
	return NULL;
}

static void redo_bucket(const struct redo *r, const struct tr_intent *intent,
			const struct tr_cell *cell, uint64_t bits)
{
	struct tr_extra *extra = at(r->image, cell->extra, sizeof(*extra));
	uint32_t off = find_bucket(r->image, cell, bits), *high;

	if (!off) {
		if (extra)
			extra->unbucketed = intent->other + 1;
		return;
	}
	*(uint32_t *)(void *)(uintptr_t)(r->image->base + off) =
		intent->bucket + 1;
	if (intent->bucket != UINT32_MAX)
		return;
	high = find_carry(r, extra, off);
	if (high)
		*high = (uint32_t)intent->other + 1;
}

/* The ring of a cell, or NULL if it has none. */
static struct tr_values *ring_of(const struct tr_image *image,
				 const struct tr_cell *cell)
{
	struct tr_values *values = at(image, cell->values, sizeof(*values));
	uint32_t size = values ? values->size : 0;

	if (!size || size & (size - 1) ||
	    !at(image, cell->values, sizeof(*values) + (uint64_t)size * 16))
		return NULL;
	return values;
}

/* Two times of a cell never end in the same tick. */
static void redo_last_time(const struct tr_image *image,
			   const struct tr_cell *cell, uint64_t end,
			   uint64_t duration)
{
	struct tr_values *values = ring_of(image, cell);
	uint64_t n = values ? values->written : 0, mask;

	if (!values)
		return;
	mask = values->size - 1;
	if (n && values->at[(n - 1) & mask].ticks == end &&
	    values->at[(n - 1) & mask].value == duration)
		return;
	values->at[n & mask].ticks = end;
	values->at[n & mask].value = duration;
	values->written = n + 1;
}

/*
 * The value is written: was it committed? Times of a ring never decrease, so
 * what follows the newest value is older, or empty.
 */
static void redo_last_value(const struct tr_image *image,
			    const struct tr_cell *cell, uint64_t bits)
{
	struct tr_values *values = ring_of(image, cell);
	uint64_t n = values ? values->written : 0, mask, before;

	if (!values)
		return;
	mask = values->size - 1;
	before = n ? values->at[(n - 1) & mask].ticks : 1;
	if (values->at[n & mask].value == bits &&
	    values->at[n & mask].ticks >= before)
		values->written = n + 1;
}

struct timed {
	uint64_t duration, end; /* end: 0 if unknown */
	bool failed;
};

static void redo_time(const struct redo *r, struct tr_node *node,
		      const struct timed *timed)
{
	const struct tr_intent *intent = &r->track->intent;
	const struct tr_header *header = (const void *)r->image->base;
	uint64_t duration = timed->duration;
	bool failed = timed->failed;
	struct tr_extra *extra;
	struct tr_cell *cell;

	node->calls = intent->calls + 1;
	node->sum = intent->sum + duration;
	if (tr_node_is_function(node))
		return; /* it has nothing else */
	if (failed)
		node->failures = intent->failures + 1;
	cell = find_cell(r, node->cell);
	if (!cell)
		return;
	cell->sum = intent->cell_sum + duration;
	if (failed)
		cell->failures = intent->cell_failures + 1;
	if (duration > cell->max)
		cell->max = duration;
	if (duration < cell->min)
		cell->min = duration;
	if (timed->end)
		redo_last_time(r->image, cell, timed->end, duration);
	if (duration) {
		redo_bucket(r, intent, cell,
			    tr_bucket_bits((double)duration *
					   header->sec_per_tick));
		return;
	}
	extra = at(r->image, cell->extra, sizeof(*extra));
	if (extra)
		extra->zeros = intent->other + 1;
}

static void redo_value(const struct redo *r,
		       const struct tr_value_intent *under_way)
{
	const struct tr_image *image = r->image;
	const struct tr_intent intent = {
		.cell_sum = under_way->cell_sum,
		.bucket = under_way->bucket,
		.other = under_way->other,
	};
	struct tr_cell *cell = find_cell(r, under_way->cell);
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
	redo_last_value(image, cell, under_way->value);
	if (fabs(value) < 2.2250738585072014e-308) {
		if (extra)
			extra->zeros = intent.other + 1;
		return;
	}
	if (value < 0)
		place = extra ? at(image, extra->negative, sizeof(*place)) :
				NULL;
	if (place)
		redo_bucket(r, &intent, place,
			    tr_bucket_bits(fabs(value)));
}

/* The start of a long scope is in the previous entry, or in another lap. */
static struct timed timed_of(const struct tr_image *image,
			     const struct tr_entry *entry)
{
	struct timed t = { entry->duration, entry->start + entry->duration,
			   entry->what & TR_ENTRY_FAILED };

	if (!(entry->what & TR_ENTRY_LONG))
		return t;
	t.duration = entry->start;
	t.end = 0;
	if ((const char *)(entry - 1) > image->base &&
	    (entry[-1].what & TR_ENTRY_FLAGS) ==
		    (TR_ENTRY_UNTIMED | TR_ENTRY_LONG))
		t.end = entry[-1].start + t.duration;
	return t;
}

static void redo_entry(const struct redo *r, const struct tr_entry *entry)
{
	const struct tr_intent *intent = &r->track->intent;
	const struct timed timed = timed_of(r->image, entry);
	uint32_t flags = entry->what & TR_ENTRY_FLAGS;
	uint64_t off = entry->what & ~(uint64_t)TR_ENTRY_FLAGS;
	struct tr_node *node;

	if (flags & TR_ENTRY_OWNER)
		return;
	node = find_node(r, off + TR_NODE_BIAS);
	if (!node)
		return;
	if (flags & TR_ENTRY_ITEMS)
		node->items = intent->other + entry->start;
	else if (flags & TR_ENTRY_UNTIMED)
		node->untimed = intent->other + entry->start;
	else
		redo_time(r, node, &timed);
}

bool tr_redo(const struct tr_image *image, const struct tr_track *track,
	     uint64_t *left)
{
	const struct redo r = { image, track, left };
	const struct tr_entry *entry;
	uint64_t stage = track->intent.stage;

	if (!track->value.cell && !(stage & 1))
		return false;
	if (*left < TR_REDO_STEPS)
		return false;
	*left -= TR_REDO_STEPS;
	if (track->value.cell) {
		/* A copy: what is completed might be the intent. */
		const struct tr_value_intent value = track->value;

		redo_value(&r, &value);
		return true; /* a thread does one thing at a time */
	}
	entry = tr_image_at(image, (uint32_t)(stage - 1), sizeof(*entry), 8);
	if (!entry)
		return false;
	redo_entry(&r, entry);
	return true;
}
