/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drain slow: entries that the fast path of drain.c does not handle: the first
 * of a slice or of a bucket's page, failures, long scopes, items, remarks.
 */
#include "ledger/write/drain.h"

#include <assert.h>

#include "ledger/write/place.h"

/* All old values are saved: from here on a reader completes the entry. */
static void under_way(struct tr_track *track, uint64_t position)
{
	TR_FENCE();
	TR_STORE(track->intent.stage, position + 1);
	TR_FENCE();
}

/* ---- times ------------------------------------------------------------- */

struct timed {
	uint64_t start, duration;
	struct tr_node *node;
	struct tr_cell *cell;
	bool failed;
};

static struct tr_place time_place(struct tr_thread *thread,
				  struct tr_cell *cell, uint64_t duration)
{
	if (!duration)
		return tr_place_zero(thread, cell);
	return tr_place_find(thread, cell,
			     tr_bucket_bits((double)duration * thread->scale));
}

static void drain_time(struct tr_thread *thread, struct tr_track *track,
		       uint64_t position, const struct timed *t)
{
	struct tr_node *node = t->node;
	struct tr_cell *cell = t->cell;
	uint32_t slice = TR_SLICE_OF(thread, t->start + t->duration);
	struct tr_place place;

	if (cell->slice != slice)
		tr_cell_turn(thread, cell, slice);
	tr_ring_ready(thread, cell);
	place = time_place(thread, cell, t->duration);
	TR_STORE(track->intent.calls, node->calls);
	TR_STORE(track->intent.sum, node->sum);
	TR_STORE(track->intent.cell_sum, cell->sum);
	TR_STORE(track->intent.failures, node->failures);
	TR_STORE(track->intent.cell_failures, cell->failures);
	if (place.bucket)
		TR_STORE(track->intent.bucket, *place.bucket);
	TR_STORE(track->intent.other, tr_place_other(&place));
	under_way(track, position);
	TR_STORE(node->calls, node->calls + 1);
	TR_STORE(node->sum, node->sum + t->duration);
	TR_STORE(cell->sum, cell->sum + t->duration);
	if (t->failed) {
		TR_STORE(node->failures, node->failures + 1);
		TR_STORE(cell->failures, cell->failures + 1);
	}
	tr_place_add(&place);
	if (t->duration > cell->max)
		TR_STORE(cell->max, t->duration);
	if (t->duration < cell->min)
		TR_STORE(cell->min, t->duration);
	tr_place_keep(thread, cell, t->start + t->duration, t->duration);
}

/* A function has no distribution, and its calls are counted when they begin. */
static void drain_call(struct tr_track *track, uint64_t position,
		       struct tr_node *node, uint64_t duration)
{
	TR_STORE(track->intent.calls, node->calls);
	TR_STORE(track->intent.sum, node->sum);
	under_way(track, position);
	TR_STORE(node->calls, node->calls + 1);
	TR_STORE(node->sum, node->sum + duration);
}

/* ---- counts of a node -------------------------------------------------- */

static void drain_count(struct tr_track *track, uint64_t position,
			uint64_t *field, uint64_t n)
{
	TR_STORE(track->intent.other, *field);
	under_way(track, position);
	TR_STORE(*field, *field + n);
}

void tr_drain_slow(struct tr_thread *thread, struct tr_track *track,
		   uint64_t position)
{
	const struct tr_entry *entry = (void *)(thread->base +
						(uint32_t)position);
	uint32_t flags = entry->what & TR_ENTRY_FLAGS;
	uint32_t off = entry->what & ~(uint32_t)TR_ENTRY_FLAGS;
	struct timed t = { entry->start, entry->duration,
			   tr_node_at(thread, off),
			   NULL, flags & TR_ENTRY_FAILED };
	uint32_t cell;

	assert(tr_thread_is_busy(thread));
	/* An offset of 0, below, means that the file was truncated. */
	if (flags & TR_ENTRY_OWNER)
		return;
	if (!off) {
		tr_ledger_heal(thread);
		return;
	}
	if (flags & TR_ENTRY_ITEMS) {
		drain_count(track, position, &t.node->items, entry->start);
		return;
	}
	if (flags & TR_ENTRY_UNTIMED) {
		if (flags & TR_ENTRY_LONG)
			thread->long_start = entry->start;
		else
			drain_count(track, position, &t.node->untimed,
				    entry->start);
		return;
	}
	if (flags & TR_ENTRY_LONG) {
		t.start = thread->long_start;
		t.duration = entry->start;
	}
	if (flags & TR_ENTRY_CALL) {
		drain_call(track, position, t.node, t.duration);
		return;
	}
	cell = TR_LOAD(t.node->cell);
	t.cell = tr_cell_at(thread, cell);
	if (!cell || !t.cell->site) {
		tr_ledger_heal(thread);
		return;
	}
	drain_time(thread, track, position, &t);
}

/* ---- entries from signal handlers -------------------------------------- */

bool tr_log_defer(struct tr_thread *thread, uint64_t start, uint32_t duration,
		  uint32_t what)
{
	struct tr_track *track = thread->own_track;
	uint32_t n = TR_LOAD(track->deferred_write);
	struct tr_entry *entry;

	/* Handlers interrupt each other here: reserve by compare-and-swap. */
	do {
		if (n - TR_LOAD(track->deferred_read) >= TR_DEFERRED)
			return false;
	} while (!TR_SWAP(track->deferred_write, &n, n + 1));
	entry = &track->deferred[n % TR_DEFERRED];
	TR_STORE(entry->start, start);
	TR_STORE(entry->duration, duration);
	TR_PUBLISH(entry->what, what | TR_PARKED);
	return true;
}

static bool move_value(struct tr_thread *thread, uint32_t place, uint32_t site)
{
	struct tr_track *track = thread->own_track;
	struct tr_entry *entry = &track->deferred[place];
	uint32_t cell = tr_tree_cell(thread, site);

	if (!cell)
		return false;
	TR_STORE(track->deferred_at, TR_DEFERRED_VALUE | place);
	TR_FENCE();
	tr_observe(thread, cell, tr_real_of(TR_LOAD(entry->start)),
		   (uint64_t)TR_LOAD(entry->duration) << thread->shift);
	return true;
}

static bool move_time(struct tr_thread *thread, uint32_t place, uint32_t what)
{
	struct tr_track *track = thread->own_track;
	struct tr_entry *entry = &track->deferred[place];
	uint32_t node = tr_tree_child(thread, track->root,
				      what & TR_PARKED_SITE);

	if (!node)
		return false;
	if (what & TR_PARKED_FAILED)
		node |= TR_ENTRY_FAILED;
	TR_STORE(track->deferred_at, track->write | place);
	TR_FENCE();
	tr_log_append(thread, TR_LOAD(entry->start), TR_LOAD(entry->duration),
		      node);
	return true;
}

static bool move_call(struct tr_thread *thread, uint32_t place)
{
	struct tr_track *track = thread->own_track;
	uint64_t address = TR_LOAD(track->deferred[place].start);
	uint32_t off = tr_tree_function(thread, track->root, address);

	if (!off)
		return false;
	TR_STORE(track->deferred_at, track->write | place);
	TR_FENCE();
	tr_log_append(thread, 1, 0, off | TR_ENTRY_UNTIMED);
	return true;
}

void tr_deferred_taken(struct tr_track *track)
{
	uint32_t read = track->deferred_read, place = read % TR_DEFERRED;

	if ((track->deferred_at & (TR_DEFERRED - 1)) != place)
		return;
	TR_STORE(track->deferred[place].what, 0);
	TR_STORE(track->deferred_read, read + 1);
}

/*
 * After a kill in here a reader uses `deferred_at`: the entry is already stored
 * if `write` has changed, or if a value is under way.
 */
static void take_in(struct tr_thread *thread, uint32_t place, uint32_t what)
{
	struct tr_track *track = thread->own_track;
	bool moved;

	if (what & TR_PARKED_CALL)
		moved = move_call(thread, place);
	else if (what & TR_PARKED_VALUE)
		moved = move_value(thread, place, what & TR_PARKED_SITE);
	else
		moved = move_time(thread, place, what);

	if (!moved) {
		TR_STORE(track->lost.busy, track->lost.busy + 1);
		TR_STORE(track->deferred_at, TR_DEFERRED_VALUE | place);
	}
	TR_FENCE();
	tr_deferred_taken(track);
	TR_FENCE();
	TR_STORE(track->deferred_at, 0);
}

void tr_drain_deferred(struct tr_thread *thread)
{
	struct tr_track *track = thread->own_track;
	bool was_busy = thread->busy;

	assert(tr_thread_is_busy(thread));
	if (track->deferred_at)
		return; /* called by the append below */
	/* Full batches among these appends must not end the busy time. */
	thread->busy = true;
	while (track->deferred_read != TR_LOAD(track->deferred_write)) {
		uint32_t place = track->deferred_read % TR_DEFERRED;
		uint32_t what = TR_ACQUIRE(track->deferred[place].what);

		if (!(what & TR_PARKED))
			break;
		take_in(thread, place, what);
	}
	thread->busy = was_busy;
}
