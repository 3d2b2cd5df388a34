/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sample window: the profile of a part of a run.
 *
 * The table of stacks has sums over the whole run. The ring of samples has the
 * newest ones with their times; stacks.c counts these instead while a window is
 * set. What the ring has lost of the window is told by tr_profile_covered().
 */
#include "read/profile.h"

#include <stdlib.h>

/* What was made from the stacks. */
static void forget(struct tr_profile *p)
{
	free(p->stacks);
	free(p->stack_index);
	free(p->samples);
	free(p->frames);
	free(p->functions);
	free(p->folded);
	p->stacks = NULL;
	p->stack_index = NULL;
	p->samples = NULL;
	p->frames = NULL;
	p->functions = NULL;
	p->folded = NULL;
	p->n_stacks = p->n_stack_numbers = 0;
	p->n_samples = p->n_functions = p->n_folded = 0;
}

void tr_profile_window(tare_view *view, int64_t from_ns, int64_t to_ns)
{
	struct tr_sample_window *w = &view->profile.window;

	if (w->from_ns == from_ns && w->to_ns == to_ns)
		return;
	forget(&view->profile);
	*w = (struct tr_sample_window){ .from_ns = from_ns, .to_ns = to_ns };
}

bool tr_profile_has_window(const tare_view *view)
{
	return view->profile.window.from_ns || view->profile.window.to_ns;
}

bool tr_profile_in_window(const tare_view *view, int64_t at_ns)
{
	const struct tr_sample_window *w = &view->profile.window;

	return at_ns >= w->from_ns && (!w->to_ns || at_ns < w->to_ns);
}

double tr_profile_covered(tare_view *view)
{
	const struct tr_sample_window *w = &view->profile.window;
	int64_t from = w->from_ns, to = w->to_ns;

	if (from < view->run.start_ns)
		from = view->run.start_ns;
	if (!to || to > view->run.end_ns)
		to = view->run.end_ns;
	if (tr_profile_stacks(view) || w->kept_ns <= from || to <= from)
		return 1;
	if (w->kept_ns >= to)
		return 0;
	return (double)(to - w->kept_ns) / (double)(to - from);
}
