/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Untimed: scopes of sites for which the governor allows a time only for some
 * calls.
 *
 * An untimed call keeps its place in the call tree and its count, and does not
 * read the clock. Its frame looks like one with notes, with a number in place
 * of the time; its handle is marked, so that the end knows before it reads the
 * clock. Timed calls are chosen at random: a fixed pattern might coincide with
 * one in the program.
 */
#include "record/probe.h"

/* One in 2^level, on average. */
TR_INLINE bool is_timed(struct tr_thread *thread, uint32_t id, uint64_t level)
{
	int32_t *left = &thread->skip[id % TR_SKIPS];

	if (level == TR_LEVEL_COUNTED || --*left > 0)
		return false;
	*left = (int32_t)(tr_thread_draw(thread) & ((2u << level) - 1)) + 1;
	return true;
}

/* The child of `parent` for this site, if there is one. */
TR_INLINE uint32_t find_child(const struct tr_thread *thread, uint32_t parent,
			      uint32_t id)
{
	uint32_t node = tr_node_at(thread, parent)->last,
			mask = thread->hash_mask;

	if (tr_node_at(thread, node)->site == id)
		return node;
	/* The mask first: a handler may store a larger hash. */
	TR_FENCE();
	node = thread->hash[tr_tree_hash(parent, id) & mask];
	if (node & 1 || tr_node_at(thread, node)->site != id ||
	    tr_node_at(thread, node)->parent != parent)
		return 0;
	tr_node_at(thread, parent)->last = node;
	return node;
}

/* A site in a trial: its thread counts, all others time its calls. */
static bool is_tried(struct tr_thread *thread, tare_site *site, uint64_t mark)
{
	if (tr_trial_is_own(thread, site))
		return tr_trial_counts(thread, site);
	tr_trial_drop_ended(site, mark);
	return false;
}

bool tr_scope_is_skipped(struct tr_thread *thread, tare_site *site)
{
	/* Acquire: a trial's thread has stored which site it is at. */
	uint64_t level = TR_ACQUIRE(site->reserved[1]);

	if (TR_UNLIKELY(level & TR_SITE_TRIAL))
		return is_tried(thread, site, level);
	return level && !is_timed(thread, TR_LOAD(site->id), level);
}

void *tr_frame_untimed(const struct tr_thread *thread, struct tr_frame *frame)
{
	TR_STORE(frame->aside,
		 TR_FRAME_UNTIMED | (uint64_t)(frame - thread->frames));
	TR_STORE(frame->start, TR_FRAME_ASIDE);
	return (char *)frame + 1;
}

void *tr_scope_begin_untimed(tare_site *site, uint32_t gate)
{
	struct tr_thread *thread = tr_this_thread();
	struct tr_track *track = thread->track;
	uint32_t id = TR_LOAD(site->id), node;
	struct tr_frame *frame;

	if (TR_UNLIKELY(thread->self.light.is_inside))
		return tr_scope_begin_slow(site, gate);
	node = find_child(thread, TR_LOAD(track->current), id);
	if (!node)
		return tr_scope_begin_slow(site, gate);
	frame = tr_scope_push(thread, track, node);
	if (tr_scope_is_skipped(thread, site))
		return tr_frame_untimed(thread, frame);
	tr_frame_begin(frame, site, tr_ledger_ticks());
	return frame;
}

void tr_trial_promote(struct tr_thread *thread)
{
	struct tare_light_ *light = &thread->self.light;
	struct tr_frame *frame;

	/* A handler's scope was first: it is not inside of the call. */
	if (TR_LOAD(thread->own_track->current) != light->parent)
		return;
	TR_STORE(light->site, NULL); /* until its end */
	thread->trial.promotions++;
	TR_STORE(light->is_inside, false);
	TR_FENCE();
	/* A signal handler may have been first. */
	if (TR_LOAD(light->promoted))
		return;
	frame = tr_scope_push(thread, thread->own_track, light->path);
	TR_STORE(light->promoted, tr_frame_untimed(thread, frame));
}

/* A failure is still recorded, with the time of its end. */
static void count_failure(struct tr_thread *thread, struct tr_node *node,
			  uint64_t key)
{
	uint32_t off = TR_LOAD(node->cell);
	struct tr_cell *cell = tr_cell_at(thread, off);
	uint64_t now = tr_ledger_ticks();

	TR_STORE(node->failures, node->failures + 1);
	if (off) {
		uint32_t slice = (uint32_t)(now >> thread->shift);

		if (TR_LOAD(cell->slice) != slice)
			tr_cell_turn(thread, cell, slice);
		TR_STORE(cell->failures, cell->failures + 1);
	}
	tr_note_rename(thread, key, now);
	tr_note_record(thread, node->site, now, 0, "");
}

void tr_scope_count(struct tr_thread *thread, uint32_t off, void *handle)
{
	struct tr_node *node = tr_node_at(thread, off);
	uint64_t aside = TR_LOAD(tr_frame_of(handle)->aside);

	tare_slot_add_(&node->untimed, 1);
	if (TR_UNLIKELY(aside & TR_FRAME_FAILED))
		count_failure(thread, node, aside & ~TR_FRAME_FAILED);
	else if (TR_UNLIKELY(thread->note_bytes))
		tr_note_drop(thread, aside);
}

bool tr_scope_end_untimed(void *handle)
{
	struct tr_thread *thread = tr_this_thread();
	struct tr_track *track = thread->track;
	struct tr_frame *frame = tr_frame_of(handle);
	uint32_t node;

	if (handle == frame || !track || thread->top != frame ||
	    !tr_frame_is_untimed(frame))
		return false;
	node = TR_LOAD(track->current);
	if (TR_LIKELY(!(TR_LOAD(frame->aside) & TR_FRAME_FAILED) &&
		      !thread->note_bytes)) {
		/*
		 * Not busy: as at a begin, a handler in between restores the
		 * stack, and the count is one instruction.
		 */
		TR_STORE(track->current, tr_node_at(thread, node)->parent);
		TR_FENCE();
		thread->top = frame - 1;
		tare_slot_add_(&tr_node_at(thread, node)->untimed, 1);
		return true;
	}
	/* As tr_thread_enter(); `busy`, since a record may need a drain. */
	thread->track = NULL;
	TR_FENCE();
	thread->busy = true;
	TR_FENCE();
	TR_STORE(track->current, tr_node_at(thread, node)->parent);
	thread->top = frame - 1;
	tr_scope_count(thread, node, handle);
	TR_FENCE();
	__atomic_store_n(&thread->busy, false, TR_OWNER_ORDER);
	tr_thread_set_track(thread, track);
	return true;
}
