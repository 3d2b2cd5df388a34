/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times: own and net time of paths and sites.
 *
 * Own time is a path's total minus that of its children. Open scopes count with
 * the time they have run, so an open parent never has less than its children.
 * Net time subtracts the cost of every call (costs.c): the inside part from
 * the scope itself, the outside part from the scope around it. How a cost is
 * divided is calibrated, and differs in the program: where a scope has less own
 * time than the cost of the calls in it, the rest is in the times of these
 * calls, and is subtracted there. So net totals are right where the costs are.
 *
 * Counters and values have no path. Their cost is subtracted from all scopes as
 * from their own times: shares stay as they are, and the sum is right.
 */

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "read/view.h"

bool tr_path_recurs(const struct tr_gather *g, uint32_t index)
{
	const struct tr_path *p = &g->path[index];

	assert(index < g->n_paths);
	for (uint32_t i = p->parent; i; i = g->path[i].parent)
		if (g->path[i].site == p->site &&
		    g->path[i].address == p->address)
			return true;
	return false;
}

/*
 * Cost of a function's calls outside of their own interval. Times of functions
 * are scaled to all calls, so they include an inside cost of untimed calls that
 * is not in the caller's time.
 */
static double function_outside(const struct tr_path *p,
			       const struct tr_header *h)
{
	double untimed = h->added_untimed.ticks[0];

	if (tr_path_is_sampled(p))
		untimed -= h->inside_ticks;
	return (double)p->calls * h->outside_ticks +
	       (double)p->untimed * untimed;
}

static double cost_outside(const struct tr_gather *g, const struct tr_path *p,
			   const struct tr_header *h)
{
	struct tr_cost cost;

	if (tr_path_is_function(p))
		return function_outside(p, h);
	cost = tr_cost_of(g, h, p->site);
	return (double)p->calls * cost.outside +
	       (double)p->untimed * cost.untimed;
}

static double cost_inside(const struct tr_gather *g, const struct tr_path *p,
			  const struct tr_header *h)
{
	double calls = (double)p->calls;

	if (!tr_path_is_function(p))
		return calls * tr_cost_of(g, h, p->site).inside;
	if (tr_path_is_sampled(p))
		calls += (double)p->untimed;
	return calls * h->inside_ticks;
}

/* Beyond this part of the lifetime, scopes are where counters are, too. */
#define COVERED 0.5

static void take_off_counting(const struct tr_gather *g, struct tr_times *out)
{
	double busy = 0, part, cost = g->counting;

	for (uint32_t i = 1; i < g->n_paths; i++)
		busy += tr_most(out[i].own, 0);
	if (!(cost > 0) || !(busy > 0))
		return;
	part = busy / (COVERED * tr_most(g->lifetime, busy));
	cost = tr_least(cost * tr_least(part, 1), busy);
	for (uint32_t i = 1; i < g->n_paths; i++)
		out[i].net_own -= cost * tr_most(out[i].own, 0) / busy;
}

/* Rounding. */
#define LITTLE 1e-6

/*
 * Net totals. `scale`: what remains of the children of a path that has less own
 * time than they cost. Not of a path without a time of its own, such as the one
 * that stands for a thread.
 */
static void add_up_net(const struct tr_gather *g, struct tr_times *out)
{
	out[0].scale = 1;
	for (uint32_t i = g->n_paths; i-- > 1;) {
		double children = out[i].net_total, own;
		bool has_time = out[i].own >= -LITTLE * children;

		out[i].own = tr_most(out[i].own, 0);
		/* Estimates that were already limited need no more. */
		own = tr_least(out[i].net_own, out[i].own);
		out[i].scale = 1;
		if (has_time && own < 0 && children > 0)
			out[i].scale = tr_most(1 + own / children, 0);
		out[i].net_own = tr_most(own, 0);
		out[i].net_total = out[i].net_own + out[i].scale * children;
		out[g->path[i].parent].net_total += out[i].net_total;
	}
}

static void scale_down_net(const struct tr_gather *g, struct tr_times *out)
{
	for (uint32_t i = 1; i < g->n_paths; i++) {
		double scale = out[g->path[i].parent].scale;

		out[i].net_own *= scale;
		out[i].net_total *= scale;
		out[i].scale *= scale;
	}
}

/* Post order by index: children have larger indices than their parents. */
void tr_path_times(const struct tr_gather *g, const struct tr_header *h,
		       struct tr_times *out)
{
	for (uint32_t i = 0; i < g->n_paths; i++) {
		out[i].own = g->path[i].sum + g->path[i].open_ticks;
		out[i].total = g->path[i].sum;
		out[i].net_own = out[i].own - cost_inside(g, &g->path[i], h);
		out[i].net_total = 0;
	}
	for (uint32_t i = g->n_paths; i-- > 1;) {
		const struct tr_path *p = &g->path[i];
		struct tr_times *above = &out[p->parent];
		double mine = p->sum + p->open_ticks;

		above->own -= mine;
		above->net_own -= mine + cost_outside(g, p, h);
	}
	take_off_counting(g, out);
	add_up_net(g, out);
	scale_down_net(g, out);
}

/* By site; recursion counts once in a total. */
struct tr_times *tr_site_times(const tare_view *view)
{
	const struct tr_gather *g = &view->all;
	struct tr_times *paths = calloc(g->n_paths + 1, sizeof(*paths));
	struct tr_times *sites = calloc(g->n_series + 1, sizeof(*sites));

	if (!paths || !sites) {
		free(paths);
		free(sites);
		return NULL;
	}
	tr_path_times(g, tr_view_header(view), paths);
	for (uint32_t i = 1; i < g->n_paths; i++) {
		struct tr_times *s;

		if (tr_path_is_function(&g->path[i]))
			continue;
		s = &sites[g->path[i].site];
		s->own += paths[i].own;
		s->net_own += paths[i].net_own;
		if (tr_path_recurs(g, i))
			continue;
		s->total += paths[i].total;
		s->net_total += paths[i].net_total;
	}
	free(paths);
	return sites;
}
