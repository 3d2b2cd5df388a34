/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Window: the measurements between two times, and the real edges.
 *
 * Measurements are stored by time slices; older slices are merged. So a window
 * is widened until no stored slice crosses its edges. Then it has every event
 * of every series between the reported edges. Slices of different series nest,
 * so a few rounds are enough. If they do not nest (there was no memory to close
 * a slice), the window stays as requested, and a series may have some events
 * outside of the reported edges.
 */
#include "read/view.h"
#include "read/stats.h"

#include <assert.h>
#include <string.h>

#define TR_ROUNDS 8 /* tiers, the oldest slice, and one round to verify */

/* First and last tick of the slices that a range touches. */
static void align(const tare_view *view, struct tr_time_range *range)
{
	uint64_t rest = (UINT64_C(1) << tr_view_header(view)->slice_shift) - 1;

	assert(range->from <= range->to);
	range->from &= ~rest;
	range->to |= rest;
}

static bool is_wider(struct tr_time_range *range, const struct tr_gather *g,
		     unsigned shift)
{
	uint64_t from, to;

	if (g->first_slice > g->last_slice)
		return false;
	from = g->first_slice << shift;
	to = ((g->last_slice + 1) << shift) - 1;
	if (from >= range->from && to <= range->to)
		return false;
	if (from < range->from)
		range->from = from;
	if (to > range->to)
		range->to = to;
	return true;
}

/* The range in which no slice crosses an edge; false: there is none. */
static int widen(tare_view *view, struct tr_time_range *range, bool *ret_exact)
{
	struct tr_gather g = { .range = *range };
	int err = 0;

	*ret_exact = false;
	for (int i = 0; i < TR_ROUNDS && !err && !*ret_exact; i++) {
		g.range.edges_only = true;
		g.first_slice = UINT64_MAX;
		g.last_slice = 0;
		err = tr_gather_edges(&g, &view->image);
		*ret_exact = !is_wider(&g.range, &g,
				       tr_view_header(view)->slice_shift);
	}
	range->from = g.range.from;
	range->to = g.range.to;
	tr_gather_release(&g);
	return err;
}

static struct tr_time_range range_of(const tare_view *view,
				     const tare_filter *filter)
{
	struct tr_time_range range = {
		.to = UINT64_MAX,
		.last_values = filter->last_values,
	};

	if (filter->from_ns)
		range.from = tr_time_ticks(&view->image, filter->from_ns);
	if (filter->to_ns)
		range.to = tr_time_ticks(&view->image, filter->to_ns);
	if (view->has_baseline && view->cleared_ticks > range.from)
		range.from = view->cleared_ticks;
	if (range.to < range.from)
		range.to = range.from;
	return range;
}

int tr_window_gather(tare_view *view, const tare_filter *filter)
{
	struct tr_gather *g = &view->window;
	struct tr_time_range range = range_of(view, filter), wide;
	bool exact;
	int err = 0;

	tr_gather_release(g);
	if (!range.last_values) {
		align(view, &range);
		wide = range;
		err = widen(view, &wide, &exact);
		if (!err && exact)
			range = wide;
	}
	g->range = range;
	g->now = view->now_ticks;
	if (view->has_baseline && !range.last_values)
		g->range.exact_after = view->cleared_ticks >>
				       tr_view_header(view)->slice_shift;
	if (err)
		return err;
	return range.last_values ? tr_gather_add(g, &view->image, 1) :
				   tr_gather_view(g, view);
}

static int64_t slice_start(const tare_view *view, uint64_t slice)
{
	return tr_time_real(&view->image,
			    slice << tr_view_header(view)->slice_shift);
}

static int64_t within(const tare_run *run, int64_t ns)
{
	if (ns < run->start_ns)
		return run->start_ns;
	return ns > run->end_ns ? run->end_ns : ns;
}

void tr_window_fill(tare_view *view)
{
	const struct tr_gather *g = view->shown;
	tare_window *w = &view->window_edges;
	const tare_run *run = &view->run;
	unsigned shift = tr_view_header(view)->slice_shift;

	memset(w, 0, sizeof(*w));
	w->from_ns = run->start_ns;
	w->to_ns = run->end_ns;
	if (!g->range.is_all) {
		uint64_t first = g->range.from >> shift;
		uint64_t last = g->range.to >> shift;

		if (g->first_slice < first)
			first = g->first_slice;
		if (g->last_slice > last)
			last = g->last_slice;
		if (first)
			w->from_ns = within(run, slice_start(view, first));
		if (g->range.to != UINT64_MAX)
			w->to_ns = within(run, slice_start(view, last + 1));
	}
	w->horizon_ns = g->horizon_slice ?
				slice_start(view, g->horizon_slice + 1) :
				run->start_ns;
	w->skew = g->skew;
}
