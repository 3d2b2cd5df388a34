/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Slices: closed time slices of a cell.
 *
 * A cell has only the current slice. When an entry of a later slice arrives,
 * the cell's content is written as a sparse record (pages with counts, as
 * varints), and the cell starts from zero. Sixty records of one slice each are
 * kept, then sixty of up to 8, of 64, of 512 slices; everything older is one
 * record. Merging adds counts, so sums over all records are exact at any age;
 * only their edges become coarser.
 *
 * Each step is one store for a reader: `turning` names the record that replaces
 * the cell's fields while they are zeroed, `marks` moves all tiers at once, and
 * `oldest` covers every record that ends before it. So a kill or a read at any
 * instant finds every measurement exactly once.
 *
 * Without memory for a record or a merge the cell continues with the old slice,
 * and the edges of its records show this.
 */
#include "ledger/write.h"

#include <assert.h>
#include <string.h>

#define TR_CLASSES 8u
#define TR_CLASS_LEAST 128u

/* ---- memory of records ------------------------------------------------- */

static struct tr_slice *slice_at(const struct tr_thread *thread, uint32_t off)
{
	return (struct tr_slice *)(void *)(thread->base + off);
}

static uint32_t take_memory(struct tr_thread *thread, uint32_t bytes)
{
	struct tr_header *header = tr_ledger->header;
	uint32_t class_ = 0, size = TR_CLASS_LEAST, off, next;

	assert(tr_thread_is_busy(thread));
	assert(bytes);
	for (; size < bytes; size *= 2)
		class_++;
	if (class_ >= TR_CLASSES)
		return 0;
	off = thread->own_track->free_slice[class_];
	if (off) {
		next = slice_at(thread, off)->from; /* link of the free list */
		thread->own_track->free_slice[class_] = next;
	} else {
		if (TR_LOAD(header->window_used) + size >
		    tr_ledger->window_limit)
			return 0;
		off = tr_track_alloc(thread, size);
		if (!off)
			return 0;
		(void)TR_ADD(header->window_used, size);
	}
	TR_STORE(slice_at(thread, off)->class_, class_);
	return off;
}

static void free_memory(struct tr_thread *thread, uint32_t off)
{
	uint32_t class_ = off ? slice_at(thread, off)->class_ : TR_CLASSES;

	assert(off);
	if (class_ >= TR_CLASSES)
		return;
	TR_STORE(slice_at(thread, off)->from,
		 thread->own_track->free_slice[class_]);
	thread->own_track->free_slice[class_] = off;
}

/* ---- merging ----------------------------------------------------------- */

static void store_head(struct tr_slice *to, const struct tr_slice *from)
{
	TR_STORE(to->from, from->from);
	TR_STORE(to->to, from->to);
	TR_STORE(to->sum, from->sum);
	TR_STORE(to->min, from->min);
	TR_STORE(to->max, from->max);
	TR_STORE(to->count, from->count);
	TR_STORE(to->failures, from->failures);
	TR_STORE(to->zeros, from->zeros);
	TR_STORE(to->unbucketed, from->unbucketed);
	TR_STORE(to->bytes, from->bytes);
}

static bool is_less(uint64_t a, uint64_t b, bool real)
{
	return real ? tr_real_of(a) < tr_real_of(b) : a < b;
}

static void add_head(struct tr_slice *to, const struct tr_slice *from,
		     bool real)
{
	if (from->from < to->from)
		to->from = from->from;
	if (from->to > to->to)
		to->to = from->to;
	to->sum = real ? tr_bits_of(tr_real_of(to->sum) +
				    tr_real_of(from->sum)) :
			 to->sum + from->sum;
	if (is_less(from->min, to->min, real))
		to->min = from->min;
	if (is_less(to->max, from->max, real))
		to->max = from->max;
	to->count += from->count;
	to->failures += from->failures;
	to->zeros += from->zeros;
	to->unbucketed += from->unbucketed;
}

struct merge {
	struct tr_slice_cursor cursor[TR_TIER_MERGE];
	unsigned n;
};

static void merge_start(struct merge *merge, const struct tr_thread *thread,
			const uint32_t *off, unsigned n)
{
	merge->n = n;
	for (unsigned i = 0; i < n; i++) {
		const struct tr_slice *s = slice_at(thread, off[i]);

		(void)tr_slice_first(&merge->cursor[i],
				     (const uint8_t *)(s + 1), s->bytes);
	}
}

/* Adds up the next page of all; false at the end. */
static bool merge_page(struct merge *merge, uint32_t *ret_number,
		       uint64_t *count)
{
	uint32_t number = UINT32_MAX;

	for (unsigned i = 0; i < merge->n; i++)
		if (merge->cursor[i].number < number)
			number = merge->cursor[i].number;
	if (number == UINT32_MAX)
		return false;
	memset(count, 0, TR_PAGE_BUCKETS * sizeof(*count));
	for (unsigned i = 0; i < merge->n; i++) {
		struct tr_slice_cursor *cursor = &merge->cursor[i];

		if (cursor->number != number)
			continue;
		for (unsigned k = 0; k < TR_PAGE_BUCKETS; k++)
			count[k] += cursor->count[k];
		(void)tr_slice_next(cursor);
	}
	*ret_number = number;
	return true;
}

/* A record with the content of n others, or 0. The others are kept. */
static uint32_t merge_slices(struct tr_thread *thread, const uint32_t *off,
			     unsigned n, bool real)
{
	uint64_t count[TR_PAGE_BUCKETS];
	struct merge merge;
	struct tr_slice head = *slice_at(thread, off[0]);
	uint32_t bytes = 0, number, result;
	uint8_t *at;

	for (merge_start(&merge, thread, off, n);
	     merge_page(&merge, &number, count);)
		bytes += tr_slice_page_bytes(count);
	result = take_memory(thread, (uint32_t)sizeof(head) + bytes);
	if (!result)
		return 0;
	head.bytes = bytes;
	for (unsigned i = 1; i < n; i++)
		add_head(&head, slice_at(thread, off[i]), real);
	store_head(slice_at(thread, result), &head);
	at = (uint8_t *)(slice_at(thread, result) + 1);
	for (merge_start(&merge, thread, off, n);
	     merge_page(&merge, &number, count);)
		at = tr_slice_put_page(at, number, count);
	return result;
}

/* ---- tiers ------------------------------------------------------------- */

static unsigned head_of(uint64_t marks, unsigned tier)
{
	return marks >> (16 * tier) & 255;
}

static unsigned tail_of(uint64_t marks, unsigned tier)
{
	return marks >> (16 * tier + 8) & 255;
}

static unsigned length_of(uint64_t marks, unsigned tier)
{
	return (head_of(marks, tier) - tail_of(marks, tier)) & 255;
}

static uint64_t moved(uint64_t marks, unsigned tier, unsigned head,
		      unsigned tail)
{
	uint64_t mask = UINT64_C(0xffff) << (16 * tier);
	uint64_t both = ((head_of(marks, tier) + head) & 255) |
			((tail_of(marks, tier) + tail) & 255) << 8;

	return (marks & ~mask) | both << (16 * tier);
}

static uint32_t *slot_of(struct tr_closed *closed, unsigned tier, unsigned i)
{
	assert(tier < TR_TIERS);
	return &closed->slot[tier][i % TR_TIER_SLOTS];
}

/* Adds the last tier's oldest record to `oldest`. */
static bool fold_oldest(struct tr_thread *thread, struct tr_closed *closed,
			bool real)
{
	unsigned tier = TR_TIERS - 1, tail = tail_of(closed->marks, tier);
	uint32_t both[2] = { closed->oldest, *slot_of(closed, tier, tail) };
	uint32_t merged = 0;

	/*
	 * Not if it was lost with a truncated file, nor if it is already
	 * merged: its thread died before the next step.
	 */
	if (both[1] && (!both[0] || slice_at(thread, both[1])->to >
					    slice_at(thread, both[0])->to)) {
		merged = both[0] ? merge_slices(thread, both, 2, real) :
				   both[1];
		if (!merged)
			return false;
		TR_PUBLISH(closed->oldest, merged);
		TR_FENCE();
	}
	TR_PUBLISH(closed->marks, moved(closed->marks, tier, 0, 1));
	TR_FENCE();
	if (merged && both[0]) {
		free_memory(thread, both[0]);
		free_memory(thread, both[1]);
	}
	return true;
}

/*
 * The oldest records of a tier that lie in one block of the next tier: its
 * blocks are 8, 64 and 512 slices, counted from 0. So records of different
 * cells nest, whatever their rates, and the edges of a window fit all cells.
 */
static unsigned oldest_block(const struct tr_thread *thread,
			     struct tr_closed *closed, unsigned tier,
			     uint32_t *off)
{
	unsigned tail = tail_of(closed->marks, tier), n = 0;
	unsigned shift = 3 * (tier + 1);

	for (; n < TR_TIER_MERGE; n++) {
		off[n] = *slot_of(closed, tier, tail + n);
		if (!off[n])
			break;
		if (n && slice_at(thread, off[n])->to >> shift !=
				 slice_at(thread, off[0])->to >> shift)
			break;
	}
	return n;
}

/* Makes one free slot in a tier by moving its oldest records up. */
static bool make_room(struct tr_thread *thread, struct tr_closed *closed,
		      unsigned tier, bool real)
{
	uint32_t off[TR_TIER_MERGE], merged;
	uint64_t marks;
	unsigned n;

	if (length_of(closed->marks, tier) < TR_TIER_KEEP)
		return true;
	if (tier == TR_TIERS - 1)
		return fold_oldest(thread, closed, real);
	if (!make_room(thread, closed, tier + 1, real))
		return false;
	n = oldest_block(thread, closed, tier, off);
	if (!n) {
		TR_PUBLISH(closed->marks, moved(closed->marks, tier, 0, 1));
		return true; /* lost with a truncated file */
	}
	merged = n == 1 ? off[0] : merge_slices(thread, off, n, real);
	if (!merged)
		return false;
	marks = moved(closed->marks, tier, 0, n);
	TR_STORE(*slot_of(closed, tier + 1, head_of(marks, tier + 1)),
		 merged);
	TR_PUBLISH(closed->marks, moved(marks, tier + 1, 1, 0));
	TR_FENCE();
	for (unsigned i = 0; n > 1 && i < n; i++)
		free_memory(thread, off[i]);
	return true;
}

/* ---- turning a cell ---------------------------------------------------- */

/* The rarely needed parts of a cell, or NULL. */
static struct tr_extra *extra_of(const struct tr_thread *thread,
				 const struct tr_cell *cell)
{
	uint32_t off = TR_LOAD(cell->extra);

	return off ? (void *)(thread->base + off) : NULL;
}

static void page_counts(const struct tr_thread *thread,
			const struct tr_cell *cell,
			uint32_t page, uint64_t *count)
{
	const uint32_t *bucket = (const void *)(thread->base + page);
	const struct tr_extra *extra = extra_of(thread, cell);
	const struct tr_carry *carry;

	for (unsigned i = 0; i < TR_PAGE_BUCKETS; i++)
		count[i] = TR_LOAD(bucket[i]);
	if (!extra)
		return;
	for (uint32_t off = extra->carry; off; off = carry->next) {
		carry = (const void *)(thread->base + off);
		for (uint32_t i = 0; i < carry->n; i++) {
			uint32_t place = (carry->bucket[i] - page) / 4;

			if (carry->bucket[i] >= page &&
			    place < TR_PAGE_BUCKETS)
				count[place] += (uint64_t)carry->high[i] << 32;
		}
	}
}

static uint64_t sum_counts(const uint64_t *count)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < TR_PAGE_BUCKETS; i++)
		n += count[i];
	return n;
}

static uint32_t cell_bytes(const struct tr_thread *thread,
			   const struct tr_cell *cell, uint64_t *ret_count)
{
	uint64_t count[TR_PAGE_BUCKETS];
	uint32_t bytes = 0, number, page;

	*ret_count = 0;
	for (int64_t after = -1;
	     tr_cell_page_after(thread->base, tr_ledger->map_bytes, cell, after,
				&number, &page);
	     after = number) {
		uint64_t n;

		page_counts(thread, cell, page, count);
		n = sum_counts(count);
		if (n)
			bytes += tr_slice_page_bytes(count);
		*ret_count += n;
	}
	return bytes;
}

static uint32_t close_slice(struct tr_thread *thread,
			    const struct tr_cell *cell,
			    uint32_t bytes, uint64_t n)
{
	uint64_t count[TR_PAGE_BUCKETS];
	uint32_t off = take_memory(thread, (uint32_t)sizeof(struct tr_slice) +
						 bytes);
	const struct tr_extra *extra = extra_of(thread, cell);
	struct tr_slice head = {
		.from = cell->first,
		.to = cell->slice,
		.sum = cell->sum,
		.min = cell->min,
		.max = cell->max,
		.failures = cell->failures,
		.zeros = extra ? extra->zeros : 0,
		.unbucketed = extra ? extra->unbucketed : 0,
		.bytes = bytes,
	};
	uint8_t *at = (uint8_t *)(slice_at(thread, off) + 1);
	uint32_t number, page;

	if (!off)
		return 0;
	head.count = n + head.zeros + head.unbucketed;
	store_head(slice_at(thread, off), &head);
	for (int64_t after = -1;
	     tr_cell_page_after(thread->base, tr_ledger->map_bytes, cell, after,
				&number, &page);
	     after = number) {
		page_counts(thread, cell, page, count);
		if (sum_counts(count))
			at = tr_slice_put_page(at, number, count);
	}
	return off;
}

static void zero_pages(struct tr_thread *thread, struct tr_cell *cell)
{
	struct tr_extra *extra = extra_of(thread, cell);
	uint32_t number, page;

	for (int64_t after = -1;
	     tr_cell_page_after(thread->base, tr_ledger->map_bytes, cell, after,
				&number, &page);
	     after = number) {
		uint32_t *bucket = (void *)(thread->base + page);

		for (unsigned i = 0; i < TR_PAGE_BUCKETS; i++)
			TR_STORE(bucket[i], 0);
	}
	if (!extra)
		return;
	TR_STORE(extra->zeros, 0);
	TR_STORE(extra->unbucketed, 0);
	for (uint32_t off = extra->carry; off;) {
		struct tr_carry *carry = (void *)(thread->base + off);

		for (uint32_t i = 0; i < carry->n; i++)
			TR_STORE(carry->high[i], 0);
		off = carry->next;
	}
}

static void restart(struct tr_thread *thread, struct tr_cell *cell,
		    uint32_t slice, bool real)
{
	zero_pages(thread, cell);
	TR_STORE(cell->sum, 0);
	tr_cell_clear_range(cell, real);
	TR_STORE(cell->failures, 0);
	TR_STORE(cell->first, slice);
	TR_STORE(cell->slice, slice);
}

/* The tiers of a cell with room for one more record, or NULL. */
static struct tr_closed *ready_closed(struct tr_thread *thread,
				      struct tr_cell *cell, bool real)
{
	uint32_t off = TR_LOAD(cell->closed);
	struct tr_closed *closed;

	if (!off) {
		off = tr_track_alloc(thread, sizeof(struct tr_closed));
		if (!off)
			return NULL;
		TR_PUBLISH(cell->closed, off);
	}
	closed = (void *)(thread->base + off);
	return make_room(thread, closed, 0, real) ? closed : NULL;
}

static void push(struct tr_closed *closed, uint32_t off)
{
	uint64_t marks = TR_LOAD(closed->marks);

	TR_STORE(*slot_of(closed, 0, head_of(marks, 0)), off);
	TR_PUBLISH(closed->marks, moved(marks, 0, 1, 0));
}

static bool is_real(const struct tr_cell *cell)
{
	return tr_site_at(cell->site)->kind != TARE_KIND_SCOPE;
}

static void turn(struct tr_thread *thread, struct tr_cell *cell, uint32_t slice,
		 bool real)
{
	uint64_t n;
	uint32_t bytes = cell_bytes(thread, cell, &n), off;
	const struct tr_extra *extra = extra_of(thread, cell);
	struct tr_closed *closed;

	if (n == 0 && cell->failures == 0 &&
	    (!extra || extra->zeros + extra->unbucketed == 0)) {
		TR_STORE(cell->first, slice);
		TR_STORE(cell->slice, slice);
		return;
	}
	closed = ready_closed(thread, cell, real);
	if (!closed ||
	    !(off = close_slice(thread, cell, bytes, n))) {
		TR_STORE(cell->slice, slice); /* `first` stays */
		return;
	}
	TR_PUBLISH(cell->turning, off);
	TR_FENCE();
	restart(thread, cell, slice, real);
	TR_FENCE();
	push(closed, off);
	TR_FENCE();
	TR_PUBLISH(cell->turning, 0);
}

TR_COLD void tr_cell_turn(struct tr_thread *thread, struct tr_cell *cell,
			  uint32_t slice)
{
	bool real = is_real(cell);
	const struct tr_extra *extra = extra_of(thread, cell);
	uint32_t negative = extra ? TR_LOAD(extra->negative) : 0;

	assert(tr_thread_is_busy(thread));
	/* A late entry is added to the open slice. */
	if ((int32_t)(slice - cell->slice) < 0)
		return;
	tr_ledger_anchor(slice);
	if (negative)
		turn(thread, tr_cell_at(thread, negative), slice, real);
	turn(thread, cell, slice, real);
}

/* Completes a turn whose thread died in it. */
static void complete(struct tr_thread *thread, struct tr_cell *cell)
{
	struct tr_closed *closed = (void *)(thread->base + cell->closed);
	uint32_t off = cell->turning, slice = cell->slice;
	unsigned last;

	if (!off)
		return;
	last = (head_of(closed->marks, 0) - 1) & 255;
	if (slice < slice_at(thread, off)->to)
		slice = slice_at(thread, off)->to;
	restart(thread, cell, slice, is_real(cell));
	TR_FENCE();
	if (!length_of(closed->marks, 0) ||
	    closed->slot[0][last % TR_TIER_SLOTS] != off)
		push(closed, off);
	TR_FENCE();
	TR_PUBLISH(cell->turning, 0);
}

void tr_cells_complete(struct tr_thread *thread)
{
	assert(tr_thread_is_busy(thread));
	for (uint32_t off = thread->own_track->cells; off;) {
		struct tr_cell *cell = tr_cell_at(thread, off);
		const struct tr_extra *extra = extra_of(thread, cell);

		complete(thread, cell);
		if (extra && extra->negative)
			complete(thread, tr_cell_at(thread, extra->negative));
		off = cell->next;
	}
}
