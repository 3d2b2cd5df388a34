/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers: a thread's open scopes, saved and restored.
 *
 * words: [0] depth, [1] node, [2..] frames' starts. Bit 63 of a start: the
 * frame has notes; bit 62: it failed. Its notes stay in the note buffer, found
 * by start. The start of a function without a time is 0.
 */
#include "record/probe.h"

#define TR_NOTED (UINT64_C(1) << 63)
#define TR_FIBER_FRAMES 64u

static uint64_t word_of(const struct tr_frame *f, bool is_function)
{
	uint64_t start = TR_LOAD(f->start), aside = TR_LOAD(f->aside);

	if (is_function)
		return aside & TR_CALL_TIMED ? start : 0;
	return start == TR_FRAME_ASIDE ? aside | TR_NOTED : start;
}

/* Innermost first, the order of the nodes' parents. */
static void save_frames(const struct tr_thread *thread, uint64_t *words)
{
	uint32_t off = (uint32_t)words[1];

	for (uint64_t i = words[0]; i > 0; i--) {
		const struct tr_node *node = tr_node_at(thread, off);

		words[1 + i] = word_of(&thread->frames[i],
				       tr_node_is_function(node));
		off = node->parent;
	}
}

static void save(struct tr_thread *thread, uint64_t *words)
{
	struct tr_track *track = thread->own_track;
	uint64_t depth;

	words[0] = 0;
	if (thread->own_track)
		tr_trial_settle(thread);
	if (thread->top == thread->frames || !tr_thread_enter(thread))
		return;
	if (thread->deep)
		tr_calls_drop(thread);
	if (thread->top > thread->frames + TR_FIBER_FRAMES)
		tr_scope_repair(thread, thread->frames + TR_FIBER_FRAMES);
	depth = (uint64_t)(thread->top - thread->frames);
	words[0] = depth;
	words[1] = track->current;
	save_frames(thread, words);
	TR_STORE(track->current, track->root);
	thread->top = thread->frames;
	tr_thread_leave(thread);
}

/* A node of this track, at that depth? Another thread's node is refused. */
static bool is_ours(const struct tr_thread *thread, const uint64_t *words)
{
	uint32_t off = (uint32_t)words[1];

	if (words[0] > TR_FIBER_FRAMES || words[1] % TR_LINE ||
	    words[1] >= tr_ledger->map_bytes - 2 * TR_LINE)
		return false;
	for (uint64_t depth = words[0]; depth > 0; depth--) {
		if (tr_node_at(thread, off)->depth != depth)
			return false;
		off = tr_node_at(thread, off)->parent;
	}
	return off == thread->own_track->root;
}

/* The future stack address is unknown: use one further out than any. */
static void put_function(struct tr_frame *f, uint64_t start)
{
	TR_STORE(f->aside, ~(uint64_t)TR_CALL_FLAGS |
				   (start ? TR_CALL_TIMED : 0));
	TR_STORE(f->start, start);
}

static void put_back(struct tr_thread *thread, const uint64_t *words)
{
	uint32_t off = (uint32_t)words[1];

	for (uint64_t i = words[0]; i > 0; i--) {
		const struct tr_node *node = tr_node_at(thread, off);
		struct tr_frame *f = &thread->frames[i];
		uint64_t start = words[1 + i];

		off = node->parent;
		if (tr_node_is_function(node)) {
			put_function(f, start);
			continue;
		}
		TR_STORE(f->aside, start & ~TR_NOTED);
		TR_STORE(f->start, start & TR_NOTED ? TR_FRAME_ASIDE : start);
	}
	TR_STORE(thread->own_track->current, (uint32_t)words[1]);
	thread->top = thread->frames + words[0];
}

static void restore(struct tr_thread *thread, uint64_t *words)
{
	struct tr_losses *lost = &thread->own_track->lost;

	if (!words[0] || !tr_thread_enter(thread))
		return;
	/* Scopes opened since would be below the fiber's frames. */
	tr_scope_repair(thread, thread->frames);
	if (is_ours(thread, words))
		put_back(thread, words);
	else
		TR_STORE(lost->no_space, lost->no_space + words[0]);
	words[0] = 0; /* restore only once */
	tr_thread_leave(thread);
}

void tr_own_fiber(tare_fiber *fiber, bool back)
{
	struct tr_thread *thread = tr_this_thread();

	TR_FORWARD(fiber, fiber, back);
	if (!thread->own_track) {
		if (!back)
			fiber->private_[0] = 0;
		return;
	}
	if (back)
		restore(thread, fiber->private_);
	else
		save(thread, fiber->private_);
}

TARE_API void tare_fiber_save(tare_fiber *fiber)
{
	tr_own_fiber(fiber, false);
}

TARE_API void tare_fiber_restore(tare_fiber *fiber)
{
	tr_own_fiber(fiber, true);
}
