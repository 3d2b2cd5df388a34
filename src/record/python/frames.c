/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames: the Python functions that a thread is in.
 *
 * From 3.11 on a call from Python to Python does not call the evaluation loop
 * again: its frames form groups, one for each run of the loop. Where a group
 * begins, something of it is on the C stack: until 3.12 a struct that the
 * thread's state points to (cframe), from 3.12 on a frame without a function
 * (shim). In 3.10 each function has its own run of the loop.
 *
 * The sample may have come while the loop was being entered. 3.11 and 3.12
 * publish the cframe before its frame is stored in it. So the innermost group
 * is believed only if its outermost frame was called by the innermost one of
 * the group before; else the walk begins with that one.
 */
#include "record/python/python.h"

#define GROUP_MOST 8192u /* frames looked at in all, stored or not */
#define ENDS_3_14 UINT64_C(3) /* bits of a tagged reference */
#define NO_FRAME UINT64_MAX

struct walk {
	const struct tr_python_layout *layout;
	struct tr_python_pages pages;
	struct tr_unwind_frame *frames;
	uint32_t most, n;
	uint32_t steps;	  /* frames looked at */
	uint64_t shim;	  /* first one after a function; 0: none yet */
	bool is_bad;	  /* a frame is not readable, or no frame */
	struct tr_python_trail *trail; /* NULL: not wanted */
};

/* All frames that the walk passes, also those without a function. */
static void note_step(struct walk *w, uint64_t frame, uint64_t code,
		      uint64_t instr)
{
	struct tr_python_trail *trail = w->trail;

	if (!trail)
		return;
	if (trail->n < trail->most)
		trail->step[trail->n] =
			(struct tr_python_step){ frame, code, instr };
	trail->n++;
}

static void store(struct walk *w, uint32_t row, uint64_t offset)
{
	if (w->n < w->most) {
		w->frames[w->n].pc = (uint64_t)row << 32 | offset;
		w->frames[w->n].module = TR_UNWIND_PYTHON;
	}
	w->n++;
}

/* Offset of the instruction in its code, in bytes. */
static bool find_offset(struct walk *w, uint64_t word, uint64_t code,
			uint64_t *ret_offset)
{
	uint64_t first = code + w->layout->code_instr;

	if (!w->layout->code_instr) /* 3.10: an index */
		*ret_offset = (int32_t)word < 0 ? 0 : (uint32_t)word * 2u;
	else /* one before the first: it has not begun */
		*ret_offset = word < first ? 0 : word - first;
	return *ret_offset < UINT32_MAX;
}

/* The caller's frame; NO_FRAME: this is not a frame. */
static uint64_t walk_frame(struct walk *w, uint64_t frame)
{
	const struct tr_python_layout *layout = w->layout;
	uint64_t code, previous, owner, owner_at = frame + layout->frame_owner;
	uint64_t instr, offset;
	uint32_t row;

	if (!tr_python_load(&w->pages, frame + layout->frame_code, &code) ||
	    !tr_python_load(&w->pages, frame + layout->frame_previous,
			    &previous) ||
	    !tr_python_load(&w->pages, frame + layout->frame_instr, &instr) ||
	    !tr_python_load(&w->pages, owner_at & ~UINT64_C(7), &owner))
		return NO_FRAME;
	note_step(w, frame, code, instr);
	owner = owner >> (owner_at & 7) * 8 & 255;
	if (layout->owner_shim <= owner && layout->owner_shim != 255) {
		if (!w->shim && w->n)
			w->shim = frame;
		return previous;
	}
	code &= ~ENDS_3_14;
	row = tr_python_code(&w->pages, code);
	if (!row || !find_offset(w, instr, code, &offset))
		return NO_FRAME;
	store(w, row, offset);
	return previous;
}

/* Does a group begin with this frame: is it one's outermost? */
static bool is_entry(struct walk *w, uint64_t frame)
{
	uint64_t at = frame + w->layout->frame_owner, word;

	if (w->layout->minor == 10)
		return true;
	if (!tr_python_load(&w->pages, at & ~UINT64_C(7), &word))
		return false;
	word = word >> (at & 7) * 8 & 255;
	return w->layout->minor == 11 ? word == 1 :
					word >= w->layout->owner_shim;
}

/*
 * From `frame` through the end of its group. The frame of the next group;
 * NO_FRAME: something in it is not a frame.
 */
static uint64_t walk_group(struct walk *w, uint64_t frame)
{
	while (frame && w->steps++ < GROUP_MOST) {
		bool is_last = is_entry(w, frame);

		frame = walk_frame(w, frame);
		if (is_last || frame == NO_FRAME)
			return frame;
	}
	return frame ? NO_FRAME : 0;
}

/* All that is left. */
static void walk_rest(struct walk *w, uint64_t frame)
{
	while (frame && w->steps++ < GROUP_MOST && w->n <= w->most) {
		frame = walk_frame(w, frame);
		if (frame == NO_FRAME) {
			w->is_bad = true;
			return;
		}
	}
	w->is_bad = frame != 0;
}

/* ---- where it begins --------------------------------------------------- */

/* 3.11, 3.12. True: `*cframe` is that of the stored group. */
static bool walk_first(struct walk *w, uint64_t *cframe, uint64_t *ret_next)
{
	const struct tr_python_layout *layout = w->layout;

	for (int i = 0; i < 2; i++) {
		uint64_t frame, before, expected = 0;

		w->n = w->steps = 0;
		w->shim = 0;
		if (w->trail)
			w->trail->n = 0;
		if (!tr_python_load(&w->pages, *cframe + layout->cframe_frame,
				    &frame) ||
		    !tr_python_load(&w->pages,
				    *cframe + layout->cframe_previous,
				    &before))
			return false;
		if (before &&
		    !tr_python_load(&w->pages, before + layout->cframe_frame,
				    &expected))
			return false;
		*ret_next = walk_group(w, frame);
		if (*ret_next == expected)
			return true;
		*cframe = before;
	}
	w->n = 0;
	if (w->trail)
		w->trail->n = 0;
	return false;
}

static void walk_by_cframe(struct walk *w, uint64_t state,
			   struct tr_python_walk *ret)
{
	uint64_t cframe, next = 0;

	if (!tr_python_load(&w->pages, state + w->layout->state_at, &cframe))
		return;
	if (w->layout->minor == 10) {
		if (!tr_python_load(&w->pages, state + 24, &next))
			return;
	} else if (!walk_first(w, &cframe, &next)) {
		w->is_bad = true;
		return;
	}
	/* A group without a function: the loop is being left. */
	if (!w->n && next && w->layout->minor != 10)
		(void)tr_python_load(&w->pages,
				     cframe + w->layout->cframe_previous,
				     &cframe);
	ret->loop_at = cframe;
	walk_rest(w, next);
}

static void walk_by_frame(struct walk *w, uint64_t state,
			  struct tr_python_walk *ret)
{
	uint64_t frame;

	if (!tr_python_load(&w->pages, state + w->layout->state_at, &frame))
		return;
	walk_rest(w, frame);
	ret->loop_at = w->shim;
}

static void walk_thread(struct walk *w, struct tr_python_walk *ret_walk)
{
	uint64_t state;

	*ret_walk = (struct tr_python_walk){ .n = 0 };
	if (!w->layout || !tr_python_enter())
		return;
	state = (uint64_t)(uintptr_t)tr_python.state();
	if (state && w->layout->has_cframe)
		walk_by_cframe(w, state, ret_walk);
	else if (state)
		walk_by_frame(w, state, ret_walk);
	tr_python_leave();
	ret_walk->is_whole = !w->is_bad && w->n <= w->most;
	ret_walk->n = w->n < w->most ? w->n : w->most;
}

/* Below the thread's first function, if it has a name. */
static void add_title(struct walk *w, struct tr_python_walk *walk)
{
	uint32_t (*title_row)(void) = TR_LOAD(tr_python.title_row);
	uint32_t row;

	if (!title_row || !walk->n || !walk->is_whole || w->n >= w->most)
		return;
	row = title_row();
	if (!row || row == TR_CODE_OTHER)
		return;
	store(w, row, 0);
	walk->n++;
}

void tr_python_walk(struct tr_unwind_frame *frames, uint32_t most,
		    struct tr_python_walk *ret_walk)
{
	struct walk w = { .layout = TR_ACQUIRE(tr_python.layout),
			  .frames = frames, .most = most };
	struct tr_python_state *counts = &tr_ledger->header->python;

	walk_thread(&w, ret_walk);
	add_title(&w, ret_walk);
	if (w.n)
		(void)TR_ADD(counts->samples, 1);
	else if (w.is_bad)
		(void)TR_ADD(counts->unread, 1);
}

void tr_python_walk_with_trail(struct tr_unwind_frame *frames, uint32_t most,
			       struct tr_python_walk *ret_walk,
			       struct tr_python_trail *trail)
{
	struct walk w = { .layout = TR_ACQUIRE(tr_python.layout),
			  .frames = frames, .most = most, .trail = trail };

	trail->n = 0;
	walk_thread(&w, ret_walk);
	trail->is_whole = ret_walk->is_whole;
	/* Frames of a walk that failed determine nothing. */
	if (w.is_bad && w.n <= most)
		trail->n = 0;
}
