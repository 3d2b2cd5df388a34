/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trail: is a thread in the same Python functions, at the same instructions,
 * as at an earlier walk?
 *
 * Three loads for each frame, none of which asks the kernel: the innermost
 * frame is the thread's own, and each further one is the caller of a frame
 * that is the same as then. A walk takes ten times as long.
 */
#include "record/python/python.h"

#define STATE_FRAME_3_10 24u

bool tr_python_find_top(struct tr_python_top *ret_top)
{
	const struct tr_python_layout *layout = TR_ACQUIRE(tr_python.layout);
	uint64_t state, frame;

	if (!layout)
		return false;
	state = (uint64_t)(uintptr_t)tr_python.state();
	if (!state)
		return false;
	if (layout->minor == 10) {
		frame = tr_unwind_load(state + STATE_FRAME_3_10);
	} else {
		frame = tr_unwind_load(state + layout->state_at);
		if (layout->has_cframe && frame)
			frame = tr_unwind_load(frame + layout->cframe_frame);
	}
	if (!frame)
		return false;
	ret_top->frame = frame;
	ret_top->instr = tr_unwind_load(frame + layout->frame_instr);
	return true;
}

bool tr_python_is_there(const struct tr_python_trail *trail,
			const struct tr_python_top *top)
{
	const struct tr_python_layout *layout = tr_python.layout;
	const uint32_t code_at = layout->frame_code;
	const uint32_t instr_at = layout->frame_instr;
	const uint32_t previous_at = layout->frame_previous;
	const struct tr_python_step *step = trail->step;
	const struct tr_python_step *end = step + trail->n;
	uint64_t frame = top->frame;

	for (; step < end; step++) {
		if (frame != step->frame ||
		    tr_unwind_load(frame + instr_at) != step->instr ||
		    tr_unwind_load(frame + code_at) != step->code)
			return false;
		frame = tr_unwind_load(frame + previous_at);
	}
	return !frame || !trail->is_whole;
}
