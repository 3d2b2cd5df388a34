/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scope: begin and end of a timed section.
 *
 * The stack of open scopes is `top` (private, a frame) and `current` (in the
 * ledger, a node). They are stored one after the other; a signal handler in
 * between works on a consistent stack all the same, because it leaves both
 * as it found them: the node to go back to is the finished node's parent,
 * never something remembered in a frame.
 *
 * A frame's `start` is TR_FRAME_ASIDE when something must be done at its end
 * beyond storing the time (attributes, a failure). The duration then looks
 * longer than 32 bits, which the fast path tests anyway.
 */
#include "record/probe.h"

#include <assert.h>

/* Longer durations are clock errors. */
#define TR_ABSURD_SECONDS 3.2e8 /* ten years */

/* ---- begin ------------------------------------------------------------- */

/* In a signal handler that interrupted this thread's own probe. */
static void *begin_detached(struct tr_thread *thread, tare_site *site)
{
	for (unsigned i = 0; i < TR_DETACHED; i++) {
		struct tr_detached *detached = &thread->detached[i];

		if (detached->in_use)
			continue;
		detached->in_use = 1;
		detached->failed = 0;
		detached->noted = site->flags & TARE_SITE_OPERATION;
		detached->site = site;
		TR_FENCE();
		detached->frame.start = tr_ledger_ticks();
		return &detached->frame;
	}
	(void)TR_ADD(tr_ledger->header->lost.busy, 1);
	return NULL;
}

void tr_scope_overflow(struct tr_thread *thread)
{
	struct tr_track *track = thread->own_track;
	uint32_t node = tr_tree_overflow(thread);

	TR_STORE(track->lost.overflow_nodes, track->lost.overflow_nodes + 1);
	if (node)
		tr_log_append(thread, 1, 0, node | TR_ENTRY_UNTIMED);
	else
		tr_thread_lose(thread);
}

static uint64_t slow_ticks(struct tr_thread *thread)
{
	uint64_t now;

	if (thread->fast)
		return tr_counter();
	now = (uint64_t)tr_monotonic_ns();
	return now ? now : 1;
}

TR_COLD void *tr_scope_begin_slow(tare_site *site, uint32_t gate)
{
	struct tr_thread *thread;
	struct tr_frame *frame;
	uint32_t node;

	if (tr_probe_forward)
		return tr_probe_forward->scope_begin(site, gate);
	thread = tr_probe_ready(site, gate);
	if (!thread)
		return NULL;
	if (!tr_thread_enter(thread))
		return begin_detached(thread, site);
	tr_ledger_heal(thread);
	tr_trial_settle(thread);
	node = tr_tree_child(thread, thread->own_track->current,
			     TR_LOAD(site->id));
	if (!node) {
		tr_scope_overflow(thread);
		tr_thread_leave(thread);
		return NULL;
	}
	/* begin_other() misses a path whose place in the hash is taken. */
	if (TR_UNLIKELY(node == thread->trial.node))
		(void)tr_trial_begin(thread, site, gate);
	frame = tr_scope_push(thread, thread->own_track, node);
	if (tr_scope_is_skipped(thread, site)) {
		void *handle = tr_frame_untimed(thread, frame);

		tr_thread_leave(thread);
		return handle;
	}
	tr_frame_begin(frame, site, slow_ticks(thread));
	tr_thread_leave(thread);
	return frame;
}

/* Only counted, in a trial or by the governor's choice. */
TR_INLINE void *begin_tried(struct tr_thread *thread, tare_site *site,
			    uint32_t gate)
{
	void *handle = tr_trial_light_begin(thread, site);

	return handle ? handle : tr_scope_begin_untimed(site, gate);
}

/*
 * Another child than last time. A separate tail call, so that the common case
 * saves no registers.
 */
static TR_NOINLINE void *begin_other(tare_site *site, uint32_t gate,
				     struct tr_thread *thread,
				     struct tr_track *track, uint32_t parent)
{
	uint32_t id = TR_LOAD(site->id), mask = thread->hash_mask, node;
	const struct tr_node *there;
	struct tr_frame *frame;

	/* The mask first: a handler may store a larger hash. */
	TR_FENCE();
	node = thread->hash[tr_tree_hash(parent, id) & mask];
	there = tr_node_at(thread, node);
	/* An empty place is no_node, of no site; bit 0 set means a cell. */
	if (TR_UNLIKELY(node & 1) || TR_UNLIKELY(there->site != id) ||
	    TR_UNLIKELY(there->parent != parent) ||
	    TR_UNLIKELY(thread->self.light.is_inside))
		return tr_scope_begin_slow(site, gate);
	tr_node_at(thread, parent)->last = node;
	if (TR_UNLIKELY(node == thread->trial.node) &&
	    tr_trial_begin(thread, site, gate))
		return begin_tried(thread, site, gate);
	frame = tr_scope_push(thread, track, node);
	TR_STORE(frame->start, tr_counter());
	return frame;
}

/*
 * An operation, whose generation is 0 so that it comes here: a scope whose end
 * takes the path for notes. The same for sites whose calls are not all timed.
 */
static TR_NOINLINE void *begin_operation(tare_site *site, uint32_t gate)
{
	struct tr_thread *thread = tr_this_thread();
	struct tr_track *track = thread->track;
	struct tr_frame *frame;
	uint32_t parent, node;

	if (!track || TR_ACQUIRE(site->reserved[0]) != gate)
		return tr_scope_begin_slow(site, gate);
	if (TR_LOAD(site->reserved[1]))
		return begin_tried(thread, site, gate);
	if (!(site->flags & TARE_SITE_OPERATION))
		return tr_scope_begin_slow(site, gate);
	parent = TR_LOAD(track->current);
	node = tr_node_at(thread, parent)->last;
	if (tr_node_at(thread, node)->site != TR_LOAD(site->id))
		return tr_scope_begin_slow(site, gate);
	frame = tr_scope_push(thread, track, node);
	TR_STORE(frame->aside, tr_counter());
	TR_STORE(frame->start, TR_FRAME_ASIDE);
	return frame;
}

TARE_API void *tare_scope_begin_(tare_site *site, uint32_t gate)
{
	struct tr_thread *thread = tr_this_thread();
	struct tr_track *track = thread->track;
	struct tr_frame *frame;
	uint32_t parent, node;

	if (TR_UNLIKELY(!track) ||
	    TR_UNLIKELY(TR_ACQUIRE(site->generation) != gate))
		return begin_operation(site, gate);
	parent = TR_LOAD(track->current);
	node = tr_node_at(thread, parent)->last;
	if (tr_node_at(thread, node)->site != TR_LOAD(site->id))
		return begin_other(site, gate, thread, track, parent);
	frame = tr_scope_push(thread, track, node);
	TR_STORE(frame->start, tr_counter());
	return frame;
}

/* ---- end --------------------------------------------------------------- */

void tr_scope_append(struct tr_thread *thread, uint32_t node, uint64_t start,
		     uint64_t duration, uint32_t flags)
{
	assert(tr_thread_is_busy(thread));
	if (TR_LIKELY(duration <= UINT32_MAX)) {
		tr_log_append(thread, start, (uint32_t)duration, node | flags);
		return;
	}
	tr_log_append(thread, start, 0,
		      node | TR_ENTRY_LONG | TR_ENTRY_UNTIMED);
	tr_log_append(thread, duration, 0, node | TR_ENTRY_LONG | flags);
}

/*
 * If the clock stepped back, or far ahead, there is no time rather than a
 * wrong one.
 */
uint64_t tr_scope_duration(const struct tr_thread *thread, uint64_t start,
			   uint64_t end)
{
	if (TR_LIKELY(end >= start &&
		      (double)(end - start) * thread->scale <
			      TR_ABSURD_SECONDS))
		return end - start;
	(void)TR_ADD(tr_ledger->header->lost.clock_steps, 1);
	return 0;
}

static bool is_detached(const struct tr_thread *thread, const void *frame)
{
	return (const char *)frame >= (const char *)thread->detached &&
	       (const char *)frame < (const char *)(thread->detached +
						    TR_DETACHED);
}

static void end_detached(struct tr_thread *thread, struct tr_detached *detached,
			 uint64_t end)
{
	uint64_t start = detached->frame.start;
	uint64_t duration = tr_scope_duration(thread, start, end);
	tare_site *site = detached->site;
	uint32_t id = TR_ACQUIRE(site->id), node;
	uint32_t what = id | (detached->failed ? TR_PARKED_FAILED : 0);

	/* There is no place for its record. */
	if (detached->noted)
		(void)TR_ADD(tr_ledger->header->lost.records, 1);
	detached->in_use = 0;
	if (duration > UINT32_MAX)
		duration = UINT32_MAX;
	if (!tr_thread_enter(thread)) {
		if (!id ||
		    !tr_log_defer(thread, start, (uint32_t)duration, what))
			(void)TR_ADD(tr_ledger->header->lost.busy, 1);
		return;
	}
	node = id ? tr_tree_child(thread, thread->own_track->root, id) : 0;
	if (node)
		tr_scope_append(thread, node, start, duration,
				what & TR_PARKED_FAILED ? TR_ENTRY_FAILED : 0);
	else
		(void)TR_ADD(tr_ledger->header->lost.busy, 1);
	tr_thread_leave(thread);
}

void tr_scope_repair(struct tr_thread *thread, const struct tr_frame *to)
{
	struct tr_track *track = thread->own_track;

	assert(to >= thread->frames);
	while (thread->top > to) {
		uint32_t node = track->current;

		if (tr_node_is_function(tr_node_at(thread, node))) {
			tr_calls_drop(thread);
			continue;
		}
		TR_STORE(track->lost.repairs, track->lost.repairs + 1);
		if (TR_LOAD(thread->top->start) == TR_FRAME_ASIDE)
			tr_note_drop(thread, tr_frame_start(thread->top));
		TR_STORE(track->current, tr_node_at(thread, node)->parent);
		thread->top--;
		tr_log_append(thread, 1, 0, node | TR_ENTRY_UNTIMED);
	}
}

static void finish(struct tr_thread *thread, void *handle, uint64_t end)
{
	struct tr_frame *frame = tr_frame_of(handle);
	struct tr_track *track = thread->own_track;
	uint32_t node = track->current, flags = 0;
	uint64_t start = tr_frame_start(frame), duration;

	TR_STORE(track->current, tr_node_at(thread, node)->parent);
	thread->top = frame - 1;
	if (tr_frame_is_untimed(frame)) {
		tr_scope_count(thread, node, handle);
		return;
	}
	duration = tr_scope_duration(thread, start, end);
	if (TR_LOAD(frame->start) == TR_FRAME_ASIDE) {
		if (TR_LOAD(frame->aside) & TR_FRAME_FAILED)
			flags = TR_ENTRY_FAILED;
		tr_note_record(thread, tr_node_at(thread, node)->site, start,
			       duration, flags ? "" : NULL);
	}
	tr_scope_append(thread, node, start, duration, flags);
}

/* A call of a trial: its end. False: *handle has a frame, to be ended. */
TR_INLINE bool ends_light(struct tr_thread *thread, void **handle)
{
	if (!tr_trial_is_light(*handle) || tr_probe_forward)
		return false;
	*handle = tr_trial_light_end(thread);
	return !*handle;
}

void tr_scope_end_at(void *handle, uint64_t end)
{
	struct tr_thread *thread = tr_this_thread();
	struct tr_frame *frame;

	if (ends_light(thread, &handle))
		return;
	frame = tr_frame_of(handle);
	if (!thread->own_track) {
		/* Begun before a fork, or by another thread. */
		if (tr_ledger && tr_ledger->header)
			(void)TR_ADD(tr_ledger->header->lost.stray_ends, 1);
		return;
	}
	if (is_detached(thread, frame)) {
		end_detached(thread, (struct tr_detached *)frame, end);
		return;
	}
	if (frame <= thread->frames || frame > thread->top ||
	    !tr_frame_is_for(frame, handle)) {
		(void)TR_ADD(tr_ledger->header->lost.stray_ends, 1);
		return;
	}
	if (!tr_thread_enter(thread)) {
		/*
		 * A handler ends a scope of the thread that it interrupted
		 * in a probe. The scope stays; it is repaired later.
		 */
		(void)TR_ADD(tr_ledger->header->lost.stray_ends, 1);
		return;
	}
	if (thread->top != frame)
		tr_calls_orphan(thread, frame);
	tr_scope_repair(thread, frame);
	finish(thread, handle, end);
	tr_thread_leave(thread);
}

static TR_COLD void end_slow(void *handle, uint64_t end)
{
	struct tr_thread *thread = tr_this_thread();

	TR_FORWARD(scope_end, handle);
	if (thread->own_track && !thread->fast && handle == tr_frame_of(handle))
		end = slow_ticks(thread);
	tr_scope_end_at(handle, end);
}

/* The innermost scope, with notes or an operation, and no special case. */
static TR_NOINLINE void end_noted(struct tr_frame *frame, uint64_t end)
{
	struct tr_thread *thread = tr_this_thread();
	struct tr_track *track = thread->track;

	if (!track || thread->top != frame ||
	    TR_LOAD(frame->start) != TR_FRAME_ASIDE ||
	    TR_LOAD(frame->aside) & TR_FRAME_UNTIMED) {
		end_slow(frame, end);
		return;
	}
	/* As tr_thread_enter(); `busy`, since a drain would free the track. */
	thread->track = NULL;
	TR_FENCE();
	thread->busy = true;
	TR_FENCE();
	finish(thread, frame, end);
	TR_FENCE();
	__atomic_store_n(&thread->busy, false, TR_OWNER_ORDER);
	tr_thread_set_track(thread, track);
}

/*
 * Not the innermost scope, or an untimed one: then without a clock read, which
 * is most of a scope's cost.
 */
static TR_NOINLINE void end_other(void *handle)
{
	struct tr_thread *thread = tr_this_thread();

	if (ends_light(thread, &handle))
		return;
	if (tr_probe_forward || !tr_scope_end_untimed(handle))
		end_slow(handle, tr_counter());
}

/* The end's time; 0: it was not the common case. */
TR_INLINE uint64_t end_with(struct tr_frame *frame, uint64_t (*clock)(void))
{
	struct tr_thread *thread = tr_this_thread();
	struct tr_track *track = thread->track;
	struct tr_entry *entry;
	uint64_t start, end, duration, position;
	uint32_t node;

	if (TR_UNLIKELY(!track) || TR_UNLIKELY(thread->top != frame)) {
		end_other(frame);
		return 0;
	}
	end = clock();
	start = TR_LOAD(frame->start);
	duration = end - start;
	if (TR_UNLIKELY(duration >> 32)) {
		end_noted(frame, end);
		return 0;
	}
	thread->track = NULL; /* busy */
	TR_FENCE();
	position = TR_LOAD(track->write);
	entry = (struct tr_entry *)(void *)(thread->base + (uint32_t)position);
	node = TR_LOAD(track->current);
	TR_STORE(entry->start, start);
	TR_STORE(entry->duration, (uint32_t)duration);
	TR_STORE(entry->what, node);
	position += sizeof(*entry);
	TR_STORE(track->current, tr_node_at(thread, node)->parent);
	thread->top = frame - 1;
	TR_PUBLISH(track->write, position); /* the entry before its count */
	if (TR_UNLIKELY((position & thread->due) == 0)) {
		tr_drain(thread, track, position);
		return end;
	}
	TR_FENCE();
	tr_thread_set_track(thread, track);
	return end;
}

TARE_API void tare_scope_end_(void *frame)
{
	(void)end_with(frame, tr_counter);
}

uint64_t tr_scope_end_told(void *frame)
{
	return end_with(frame, tr_counter);
}

TARE_API void tare_scope_end_exact_(void *frame)
{
	(void)end_with(frame, tr_counter_exact);
}

TR_OWN(tr_own_scope_begin, tare_scope_begin_);
TR_OWN(tr_own_scope_end, tare_scope_end_);
TR_OWN(tr_own_scope_end_exact, tare_scope_end_exact_);
