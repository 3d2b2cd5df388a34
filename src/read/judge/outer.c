/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outer functions: those that contain the whole program, such as main().
 *
 * By total time they come first, and say nothing about what to change.
 * A function is left out if it has 95 % of the time or more, and spends less
 * than half of it itself or in libraries that it calls.
 */
#include "read/judge.h"
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

#define WHOLE 0.95
#define ITSELF 0.5

struct tr_outer {
	const char *program; /* name of the program's module */
	const tare_frame *frame;
	size_t n;
	double *paid; /* of each frame, without calls of the program's code */
	double whole;
};

static bool is_programs(const struct tr_outer *outer, const tare_frame *frame)
{
	return strcmp(frame->module, outer->program) == 0;
}

struct tr_outer *tr_outer_new(tare_view *view)
{
	struct tr_outer *outer = calloc(1, sizeof(*outer));

	if (!outer)
		return NULL;
	outer->program = tare_view_run(view)->program;
	if (tare_view_frames(view, TARE_FRAMES_SAMPLES, &outer->frame,
			     &outer->n))
		outer->n = 0;
	outer->paid = calloc(outer->n + 1, sizeof(*outer->paid));
	if (!outer->paid) {
		free(outer);
		return NULL;
	}
	if (outer->n)
		outer->whole = outer->frame[0].all_weight;
	/* Parents come first. */
	for (size_t i = outer->n; i-- > 0;) {
		const tare_frame *frame = &outer->frame[i];

		outer->paid[i] += frame->weight;
		if (frame->parent < i && !is_programs(outer, frame))
			outer->paid[frame->parent] += outer->paid[i];
	}
	return outer;
}

void tr_outer_free(struct tr_outer *outer)
{
	if (outer)
		free(outer->paid);
	free(outer);
}

bool tr_outer_has(const struct tr_outer *outer, const tare_function *function)
{
	double paid = 0;

	if (function->all_weight_ns < WHOLE * outer->whole)
		return false;
	for (size_t i = 0; i < outer->n; i++)
		if (strcmp(outer->frame[i].function, function->function) ==
			    0 &&
		    strcmp(outer->frame[i].module, function->module) == 0)
			paid += outer->paid[i];
	return paid < ITSELF * function->all_weight_ns;
}
