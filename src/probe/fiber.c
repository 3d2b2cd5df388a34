/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers: a thread's open scopes, taken off and put back.
 *
 * words: [0] depth, [1] node, [2..] frames' starts. Bit 63 of a start says
 * that the frame has notes; they stay on the hand's stage, found by start.
 */
#include "probe/probe.h"

#define TR_NOTED (UINT64_C(1) << 63)
#define TR_FIBER_FRAMES 64u

static void save(struct tr_hand *hand, uint64_t *words)
{
	struct tr_track *track = hand->held;
	uint64_t depth = (uint64_t)(hand->top - hand->frames);

	words[0] = 0;
	if (!depth || !tr_hand_enter(hand))
		return;
	if (depth <= TR_FIBER_FRAMES) {
		words[0] = depth;
		words[1] = track->current;
		for (uint64_t i = 1; i <= depth; i++) {
			const struct tr_frame *f = &hand->frames[i];

			words[1 + i] = f->start ? f->start :
						  f->aside | TR_NOTED;
		}
	} else {
		TR_STORE(track->lost.repairs, track->lost.repairs + depth);
	}
	TR_STORE(track->current, track->root);
	hand->top = hand->frames;
	tr_hand_leave(hand);
}

static bool is_plausible(const struct tr_hand *hand, const uint64_t *words)
{
	return words[0] && words[0] <= TR_FIBER_FRAMES &&
	       words[1] < tr_ledger->map_bytes && words[1] % TR_LINE == 0 &&
	       tr_node_at(hand, (uint32_t)words[1])->depth == words[0];
}

static void restore(struct tr_hand *hand, const uint64_t *words)
{
	struct tr_track *track = hand->held;

	if (!is_plausible(hand, words) || !tr_hand_enter(hand))
		return;
	for (uint64_t i = 1; i <= words[0]; i++) {
		struct tr_frame *f = &hand->frames[i];
		bool noted = words[1 + i] & TR_NOTED;

		TR_STORE(f->start, noted ? 0 : words[1 + i]);
		TR_STORE(f->aside, noted ? words[1 + i] & ~TR_NOTED : 0);
	}
	TR_STORE(track->current, (uint32_t)words[1]);
	hand->top = hand->frames + words[0];
	tr_hand_leave(hand);
}

void tr_probe_fiber(tare_fiber *fiber, bool put_back)
{
	struct tr_hand *hand = tr_hand();

	if (tr_probe_forward) {
		tr_probe_forward->fiber(fiber, put_back);
		return;
	}
	if (!hand->held) {
		if (!put_back)
			fiber->private_[0] = 0;
		return;
	}
	if (put_back)
		restore(hand, fiber->private_);
	else
		save(hand, fiber->private_);
}

TARE_API void tare_fiber_save(tare_fiber *fiber)
{
	tr_probe_fiber(fiber, false);
}

TARE_API void tare_fiber_restore(tare_fiber *fiber)
{
	tr_probe_fiber(fiber, true);
}
