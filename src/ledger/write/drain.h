/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by drain.c (the fast path) and drain_slow.c (everything else). */
#ifndef TR_LEDGER_WRITE_DRAIN_H
#define TR_LEDGER_WRITE_DRAIN_H

#include "ledger/write.h"
#include "ledger/write/place.h"

/* A variable shift costs three operations on x86-64: constant there. */
#if defined(__x86_64__)
#define TR_SLICE_OF(thread, ticks) ((uint32_t)((ticks) >> TR_SLICE_SHIFT))
#else
#define TR_SLICE_OF(thread, ticks) ((uint32_t)((ticks) >> (thread)->shift))
#endif

/*
 * Finds where an entry goes: a successful scope of under 2^32 ticks, whose
 * bucket exists. Otherwise false.
 */
TR_INLINE bool tr_drain_locate(const struct tr_thread *thread,
			       uint64_t position, struct tr_spot *ret_spot)
{
	char *base = thread->base;
	const struct tr_entry *entry = (void *)(base + (uint32_t)position);
	uint64_t start = TR_LOAD(entry->start),
			 duration = TR_LOAD(entry->duration);
	uint32_t what = TR_LOAD(entry->what), page;
	struct tr_node *node = (void *)(base + TR_NODE_BIAS + what);
	struct tr_cell *cell;
	uint64_t bits, number;

	if (TR_UNLIKELY(what & TR_ENTRY_FLAGS))
		return false;
	cell = (void *)(base + node->cell);
	if (TR_UNLIKELY(cell->slice != TR_SLICE_OF(thread, start + duration)))
		return false;
	bits = tr_bucket_bits((double)(int64_t)duration * thread->scale);
	number = tr_bucket_page(bits) - TR_TIME_BASE;
	if (TR_UNLIKELY(number >= TR_CELL_PAGES))
		return false;
	page = cell->page[number];
	if (TR_UNLIKELY(!page))
		return false;
	ret_spot->node = node;
	ret_spot->cell = cell;
	ret_spot->duration = duration;
	ret_spot->bucket = (void *)(base + page + tr_bucket_offset(bits));
	return true;
}

/*
 * Adds the entry at `position` where it goes. False: its bucket or the ring of
 * its cell is full, and nothing was changed.
 */
TR_INLINE bool tr_drain_commit(const struct tr_thread *thread,
			       struct tr_track *track, uint64_t position,
			       const struct tr_spot *spot)
{
	struct tr_node *node = spot->node;
	struct tr_cell *cell = spot->cell;
	const struct tr_values *values = tr_ring_of(thread, cell);
	uint64_t duration = spot->duration, calls, sum, cell_sum;
	uint32_t *at = spot->bucket, bucket = TR_LOAD(*at);

	if (TR_UNLIKELY(bucket == UINT32_MAX))
		return false;
	if (TR_UNLIKELY(values) && TR_UNLIKELY(tr_ring_is_full(values)))
		return false;
	calls = TR_LOAD(node->calls);
	sum = TR_LOAD(node->sum);
	cell_sum = TR_LOAD(cell->sum);

	TR_STORE(track->intent.calls, calls);
	TR_STORE(track->intent.sum, sum);
	TR_STORE(track->intent.cell_sum, cell_sum);
	TR_STORE(track->intent.bucket, bucket);
	TR_FENCE();
	TR_STORE(track->intent.stage, position + 1);
	TR_FENCE();
	TR_STORE(node->calls, calls + 1);
	TR_STORE(node->sum, sum + duration);
	TR_STORE(cell->sum, cell_sum + duration);
	TR_STORE(*at, bucket + 1);
	if (TR_UNLIKELY(duration > TR_LOAD(cell->max)))
		TR_STORE(cell->max, duration);
	if (TR_UNLIKELY(duration < TR_LOAD(cell->min)))
		TR_STORE(cell->min, duration);
	if (TR_UNLIKELY(values)) {
		const struct tr_entry *entry =
			(void *)(thread->base + (uint32_t)position);

		tr_place_keep(thread, cell, TR_LOAD(entry->start) + duration,
			      duration);
	}
	/* Done, so that the next entry may use the intent. */
	TR_FENCE();
	TR_STORE(track->intent.stage, position + sizeof(struct tr_entry));
	TR_FENCE();
	return true;
}

/* Drains any entry, and creates what it needs. */
void tr_drain_slow(struct tr_thread *thread, struct tr_track *track,
		   uint64_t position);
/* Stores the entries that signal handlers parked. */
void tr_drain_deferred(struct tr_thread *thread);

#endif
