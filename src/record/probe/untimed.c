/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Untimed: scopes of sites that the governor allows a time only now and then.
 *
 * Such a call keeps its place in the call tree and its count, and costs no
 * look at the clock. Its frame looks like one with notes, with a number where
 * the time would be; its handle is marked, so that the end knows before it
 * would read the clock. Which calls are timed is drawn: a fixed pattern might
 * meet one in the program.
 */
#include "record/probe.h"

TR_INLINE uint32_t draw(struct tr_hand *hand)
{
	uint32_t x = hand->random ? hand->random : hand->thread | 1;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	hand->random = x;
	return x;
}

/* One of 2^level, on average. */
TR_INLINE bool is_timed(struct tr_hand *hand, uint32_t id, uint64_t level)
{
	int32_t *left = &hand->skip[id % TR_SKIPS];

	if (level == TR_LEVEL_COUNTED || --*left > 0)
		return false;
	*left = (int32_t)(draw(hand) & ((2u << level) - 1)) + 1;
	return true;
}

/* The child of `parent` for this site, if there is one. */
TR_INLINE uint32_t find_child(const struct tr_hand *hand, uint32_t parent,
			      uint32_t id)
{
	uint32_t node = tr_node_at(hand, parent)->last, mask = hand->hash_mask;

	if (tr_node_at(hand, node)->site == id)
		return node;
	/* The mask first: a handler may put a larger hash there. */
	TR_FENCE();
	node = hand->hash[tr_tree_hash(parent, id) & mask];
	if (node & 1 || tr_node_at(hand, node)->site != id ||
	    tr_node_at(hand, node)->parent != parent)
		return 0;
	tr_node_at(hand, parent)->last = node;
	return node;
}

bool tr_scope_is_skipped(struct tr_hand *hand, const tare_site *site)
{
	uint64_t level = TR_LOAD(site->reserved[1]);

	return level && !is_timed(hand, TR_LOAD(site->id), level);
}

void *tr_frame_untimed(const struct tr_hand *hand, struct tr_frame *frame)
{
	TR_STORE(frame->aside,
		 TR_FRAME_UNTIMED | (uint64_t)(frame - hand->frames));
	TR_STORE(frame->start, TR_FRAME_ASIDE);
	return (char *)frame + 1;
}

void *tr_scope_begin_untimed(tare_site *site, uint32_t gate)
{
	struct tr_hand *hand = tr_hand();
	struct tr_track *track = hand->track;
	uint32_t id = TR_LOAD(site->id), node;
	struct tr_frame *frame;

	node = find_child(hand, TR_LOAD(track->current), id);
	if (!node)
		return tr_scope_begin_slow(site, gate);
	frame = tr_scope_push(hand, track, node);
	if (tr_scope_is_skipped(hand, site))
		return tr_frame_untimed(hand, frame);
	if (site->flags & TARE_SITE_OPERATION) {
		TR_STORE(frame->aside, tr_ledger_ticks());
		TR_STORE(frame->start, TR_FRAME_ASIDE);
	} else {
		TR_STORE(frame->start, tr_ledger_ticks());
	}
	return frame;
}

/* A failure is told all the same, with the time of its end. */
static void count_failure(struct tr_hand *hand, struct tr_node *node,
			  uint64_t key)
{
	uint32_t off = TR_LOAD(node->cell);
	struct tr_cell *cell = tr_cell_at(hand, off);
	uint64_t now = tr_ledger_ticks();

	TR_STORE(node->failures, node->failures + 1);
	if (off) {
		uint32_t slice = (uint32_t)(now >> hand->shift);

		if (TR_LOAD(cell->slice) != slice)
			tr_cell_turn(hand, cell, slice);
		TR_STORE(cell->failures, cell->failures + 1);
	}
	tr_note_rename(hand, key, now);
	tr_note_record(hand, node->site, now, 0, "");
}

void tr_scope_count(struct tr_hand *hand, uint32_t off,
		    const struct tr_frame *frame)
{
	struct tr_node *node = tr_node_at(hand, off);
	uint64_t aside = TR_LOAD(frame->aside);

	tare_slot_add_(&node->untimed, 1);
	if (TR_UNLIKELY(aside & TR_FRAME_FAILED))
		count_failure(hand, node, aside & ~TR_FRAME_FAILED);
	else if (TR_UNLIKELY(hand->staged))
		tr_note_drop(hand, aside);
}

bool tr_scope_end_untimed(void *handle)
{
	struct tr_hand *hand = tr_hand();
	struct tr_track *track = hand->track;
	struct tr_frame *frame = tr_frame_of(handle);
	uint32_t node;

	if (handle == frame || !track || hand->top != frame ||
	    !tr_frame_is_untimed(frame))
		return false;
	node = TR_LOAD(track->current);
	if (TR_LIKELY(!(TR_LOAD(frame->aside) & TR_FRAME_FAILED) &&
		      !hand->staged)) {
		/*
		 * Not busy: as at a begin, a handler in between leaves the
		 * stack as it found it, and the count is one instruction.
		 */
		TR_STORE(track->current, tr_node_at(hand, node)->parent);
		TR_FENCE();
		hand->top = frame - 1;
		tare_slot_add_(&tr_node_at(hand, node)->untimed, 1);
		return true;
	}
	/* As tr_hand_enter(); `busy`, since a record may need a drain. */
	hand->track = NULL;
	TR_FENCE();
	hand->busy = true;
	TR_FENCE();
	TR_STORE(track->current, tr_node_at(hand, node)->parent);
	hand->top = frame - 1;
	tr_scope_count(hand, node, frame);
	TR_FENCE();
	__atomic_store_n(&hand->busy, false, TR_HANDED_ON);
	tr_hand_free(hand, track);
	return true;
}
