/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drain: from the log into nodes and cells.
 *
 * Exact after kill -9: before the fields of an entry are changed, their old
 * values and the entry's position are in `intent`. A reader that finds an entry
 * under way computes the new values from the old ones and stores them in its
 * copy, however far the writer got.
 *
 * Rare cases (failures, long scopes, values, the first use of a bucket's page)
 * leave the fast path for drain_slow.c.
 */
#include "ledger/write/drain.h"

#include <assert.h>

#include "ledger/write/place.h"

/*
 * One successful scope of under 2^32 ticks, whose bucket exists. Otherwise
 * false, and nothing was changed.
 */
TR_INLINE bool drain_entry(struct tr_thread *thread, struct tr_track *track,
			   uint64_t position)
{
	char *base = thread->base;
	const struct tr_entry *entry = (void *)(base + (uint32_t)position);
	uint64_t start = TR_LOAD(entry->start),
			 duration = TR_LOAD(entry->duration);
	uint32_t what = TR_LOAD(entry->what), bucket, page;
	struct tr_node *node = (void *)(base + TR_NODE_BIAS + what);
	const struct tr_values *values;
	struct tr_cell *cell;
	uint64_t bits, calls, sum, cell_sum, number;
	uint32_t *at;

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
	at = (void *)(base + page + tr_bucket_offset(bits));
	bucket = TR_LOAD(*at);
	if (TR_UNLIKELY(bucket == UINT32_MAX))
		return false;
	values = tr_ring_of(thread, cell);
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
	if (TR_UNLIKELY(values))
		tr_place_keep(thread, cell, start + duration, duration);
	return true;
}

/* At the end of the ring: begin the next lap, or another ring. */
static TR_COLD void next_lap(struct tr_thread *thread, struct tr_track *track,
			     uint64_t end)
{
	uint64_t lap = (end >> 32) + 1;
	uint32_t off = (uint32_t)((char *)track - thread->base);

	if (track->trace.off != track->log.off && track->trace.bytes)
		TR_STORE(track->trace_discarded,
			 track->trace_discarded + TR_RING_INLINE);
	if (TR_LOAD(tr_ledger->discard) &&
	    track->trace.off == track->log.off) {
		/* Full: it stays as it is, and entries are still drained. */
		TR_STORE(track->trace_owner, TR_LOAD(track->owner));
		TR_STORE(track->log.off,
			 off + (uint32_t)offsetof(struct tr_track,
						  log_inline));
		TR_STORE(track->log.bytes, sizeof(track->log_inline));
	} else {
		tr_track_trace(thread, lap);
	}
	/* A program names its threads after creating them. */
	if (TR_UNLIKELY((lap & (lap - 1)) == 0))
		tr_track_name(thread);
	/*
	 * One store for readers: at a ring's end the stage is the next start.
	 */
	TR_STORE(track->write, lap << 32 | track->log.off);
	TR_FENCE();
	TR_STORE(track->intent.stage, lap << 32 | track->log.off);
	tr_look_after(thread, track->log.bytes / sizeof(struct tr_entry));
}

void (*tr_look)(void);
void (*tr_trial_turn)(struct tr_thread *thread, uint32_t entries);

TR_COLD void tr_look_now(struct tr_thread *thread)
{
	void (*turn)(struct tr_thread *, uint32_t) =
		__atomic_load_n(&tr_trial_turn, __ATOMIC_RELAXED);
	void (*look)(void) = __atomic_load_n(&tr_look, __ATOMIC_RELAXED);
	uint32_t entries = thread->unlooked;

	thread->unlooked = 0;
	thread->check_after = TR_LOOK_EVENTS;
	if (turn)
		turn(thread, entries);
	thread->ungoverned += entries;
	if (thread->ungoverned < TR_LOOK_EVENTS)
		return;
	thread->ungoverned = 0;
	if (look)
		look();
}

void tr_drain_batch(struct tr_thread *thread, struct tr_track *track,
		    uint64_t end)
{
	uint64_t at = end - TR_BATCH * sizeof(struct tr_entry);

	assert(tr_thread_is_busy(thread));
	for (; at < end; at += sizeof(struct tr_entry)) {
		if (TR_UNLIKELY(!drain_entry(thread, track, at)))
			tr_drain_slow(thread, track, at);
		/* Done, so that the next entry may use the intent. */
		TR_FENCE();
		TR_STORE(track->intent.stage, at + sizeof(struct tr_entry));
		TR_FENCE();
	}
	/* Also if it is before the log: zeros, the file was truncated. */
	if (TR_UNLIKELY((uint32_t)end - track->log.off >= track->log.bytes))
		next_lap(thread, track, end);
	if (TR_UNLIKELY(TR_LOAD(track->deferred_write) !=
			track->deferred_read))
		tr_drain_deferred(thread);
	/* thread->fast: with the slow clock the caller ends the busy time. */
	TR_FENCE();
	if (TR_LIKELY(!thread->busy))
		tr_thread_set_track(thread, track);
}

void tr_log_append(struct tr_thread *thread, uint64_t start, uint32_t duration,
		   uint32_t what)
{
	struct tr_track *track = thread->own_track;
	uint64_t position = track->write;
	struct tr_entry *entry = (void *)(thread->base + (uint32_t)position);

	assert(tr_thread_is_busy(thread));
	TR_STORE(entry->start, start);
	TR_STORE(entry->duration, duration);
	TR_STORE(entry->what, what);
	position += sizeof(*entry);
	TR_PUBLISH(track->write, position);
	if ((position & (TR_BATCH * sizeof(*entry) - 1)) == 0)
		tr_drain_batch(thread, track, position);
}

/* Completes what its thread had begun, in the same order. */
static void complete(struct tr_thread *thread, struct tr_track *track)
{
	const struct tr_image live = { .base = thread->base,
				       .size = tr_ledger->map_bytes };
	uint64_t left = UINT32_MAX; /* its own lists have no cycles */

	(void)tr_redo(&live, track, &left);
	TR_STORE(track->value.cell, 0);
	if (track->intent.stage & 1)
		TR_STORE(track->intent.stage,
			 track->intent.stage + sizeof(struct tr_entry) - 1);
	tr_cells_complete(thread);
	if (track->deferred_at && !(track->deferred_at & TR_DEFERRED_VALUE) &&
	    track->deferred_at / 16 != track->write / 16)
		tr_deferred_taken(track);
	TR_STORE(track->deferred_at, 0);
}

/*
 * For a thread that takes over a dead thread's track. Entries of an incomplete
 * batch just wait. `cut`: it died within a probe, by asynchronous cancellation
 * or by the exit system call in a signal handler.
 */
void tr_drain_redo(struct tr_thread *thread, bool cut)
{
	struct tr_track *track = thread->own_track;
	uint64_t whole = track->write &
			 ~(uint64_t)(TR_BATCH * sizeof(struct tr_entry) - 1);

	assert(tr_thread_is_busy(thread));
	if (cut)
		complete(thread, track);
	/* In another lap: it died between a ring's end and the next. */
	if (track->intent.stage >> 32 != whole >> 32)
		TR_STORE(track->intent.stage, whole);
	while (track->intent.stage < whole) {
		tr_drain_slow(thread, track, track->intent.stage);
		TR_FENCE();
		TR_STORE(track->intent.stage,
			 (track->intent.stage & ~UINT64_C(1)) +
				 sizeof(struct tr_entry));
	}
	if ((uint32_t)track->write < track->log.off ||
	    (uint32_t)track->write >= track->log.off + track->log.bytes)
		next_lap(thread, track, track->write);
}
