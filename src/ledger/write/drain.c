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

/* Entries [from, to), which follow each other. */
TR_INLINE void drain_all(struct tr_thread *thread, struct tr_track *track,
			 uint64_t from, uint64_t to)
{
	for (; from < to; from += sizeof(struct tr_entry)) {
		struct tr_spot spot;

		if (TR_LIKELY(tr_drain_locate(thread, from, &spot)) &&
		    TR_LIKELY(tr_drain_commit(thread, track, from, &spot)))
			continue;
		tr_drain_slow(thread, track, from);
		TR_FENCE();
		TR_STORE(track->intent.stage, from + sizeof(struct tr_entry));
		TR_FENCE();
	}
}

/* Also if it is before the log: zeros, the file was truncated. */
TR_INLINE bool is_lap_over(const struct tr_track *track, uint64_t end)
{
	return TR_UNLIKELY((uint32_t)end - track->log.off >= track->log.bytes);
}

TR_INLINE bool has_deferred(const struct tr_track *track)
{
	return TR_UNLIKELY(TR_LOAD(track->deferred_write) !=
			   track->deferred_read);
}

/* thread->busy: with the slow clock the caller ends the busy time. */
TR_INLINE void leave(struct tr_thread *thread, struct tr_track *track)
{
	TR_FENCE();
	if (TR_LIKELY(!thread->busy))
		tr_thread_set_track(thread, track);
}

static TR_NOINLINE void drain_batch(struct tr_thread *thread,
				    struct tr_track *track, uint64_t end)
{
	drain_all(thread, track, end - TR_BATCH * sizeof(struct tr_entry), end);
	if (is_lap_over(track, end))
		next_lap(thread, track, end);
	if (has_deferred(track))
		tr_drain_deferred(thread);
	leave(thread, track);
}

/* ---- one behind -------------------------------------------------------- */

#define TR_ENTRY_BYTES sizeof(struct tr_entry)

/* The first entry that is not drained; all but the newest few are. */
static uint64_t first_pending(struct tr_track *track, uint64_t end)
{
	uint64_t at = TR_LOAD(track->intent.stage);

	if (end - at <= TR_RING_INLINE * TR_ENTRY_BYTES)
		return at;
	/* The ledger was replaced by a new one during a drain. */
	at = end - TR_ENTRY_BYTES;
	TR_STORE(track->intent.stage, at);
	return at;
}

/*
 * The first entries of a lap, the last one, and whatever the fast path does not
 * handle. Only the two newest entries stay in the log, and the place of the
 * older one is known if it has one.
 */
static TR_NOINLINE void catch_up(struct tr_thread *thread,
				 struct tr_track *track, uint64_t end)
{
	uint64_t from = first_pending(track, end);
	uint64_t to = end - 2 * TR_ENTRY_BYTES;

	thread->spot.due = 0;
	if (is_lap_over(track, end)) {
		drain_all(thread, track, from, end);
		next_lap(thread, track, end);
	} else if (from <= to) {
		drain_all(thread, track, from, to);
		if (tr_drain_locate(thread, to, &thread->spot))
			thread->spot.due = end + TR_ENTRY_BYTES;
	}
	if (has_deferred(track))
		tr_drain_deferred(thread);
	leave(thread, track);
}

/*
 * Where a processor reads the clock while it goes on with other work, the next
 * read waits only for the addresses of the stores before it. So the address of
 * a bucket is computed at one end, and used at the next.
 */
void tr_drain(struct tr_thread *thread, struct tr_track *track, uint64_t end)
{
	struct tr_spot *spot = &thread->spot;

	assert(tr_thread_is_busy(thread));
	if (thread->due != TR_DUE_BEHIND) {
		drain_batch(thread, track, end);
		return;
	}
	if (TR_UNLIKELY(spot->due != end) || is_lap_over(track, end) ||
	    has_deferred(track) ||
	    TR_UNLIKELY(!tr_drain_commit(thread, track,
					 end - 3 * TR_ENTRY_BYTES, spot)) ||
	    TR_UNLIKELY(!tr_drain_locate(thread, end - 2 * TR_ENTRY_BYTES,
					 spot))) {
		catch_up(thread, track, end);
		return;
	}
	spot->due = end + TR_ENTRY_BYTES;
	leave(thread, track);
}

uint32_t tr_drain_due = TR_DUE_BATCH;
bool tr_drain_is_chosen;

bool tr_drain_use(struct tr_thread *thread, bool behind)
{
	struct tr_track *track = thread->own_track;
	uint32_t due = behind ? TR_DUE_BEHIND : TR_DUE_BATCH;

	if (!track || !tr_thread_enter(thread))
		return false;
	if (track->write & due) {
		tr_thread_leave(thread);
		return false;
	}
	drain_all(thread, track, first_pending(track, track->write),
		  track->write);
	thread->spot.due = 0;
	thread->due = due;
	TR_STORE(tr_drain_due, due);
	tr_drain_is_chosen = true;
	tr_thread_leave(thread);
	return true;
}

/* ---- other entries ----------------------------------------------------- */

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
	if ((position & thread->due) == 0)
		tr_drain(thread, track, position);
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
	uint64_t whole = track->write & ~(uint64_t)thread->due;

	assert(tr_thread_is_busy(thread));
	thread->spot.due = 0;
	if (cut)
		complete(thread, track);
	/* One behind: the next entries drain these, if there is a next one. */
	if (thread->due == TR_DUE_BEHIND && !is_lap_over(track, whole) &&
	    whole - track->intent.stage <= 3 * TR_ENTRY_BYTES)
		whole = track->intent.stage;
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
