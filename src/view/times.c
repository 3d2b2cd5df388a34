/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times: own and net time of paths and sites.
 *
 * Own time is what a path's total leaves over its children's; scopes still
 * open count with the time they have run, so that a parent under way never
 * has less than its children. Net takes off the calibrated cost of every
 * call: its inside part from the scope itself, its outside part from the one
 * around it.
 */
#include "view/times.h"

#include <math.h>
#include <stdlib.h>

static bool has_ancestor(const struct tr_gather *g, uint32_t index)
{
	uint32_t site = g->path[index].site;

	for (uint32_t i = g->path[index].parent; i; i = g->path[i].parent)
		if (g->path[i].site == site)
			return true;
	return false;
}

/* Post order by index: children have larger indices than their parents. */
void tr_path_times(const struct tr_gather *g, const struct tr_header *h,
		       struct tr_times *out)
{
	for (uint32_t i = 0; i < g->n_paths; i++) {
		out[i].own = g->path[i].sum + g->path[i].open_ticks;
		out[i].total = g->path[i].sum;
		out[i].net_own = out[i].own -
				 (double)g->path[i].calls * h->inside_ticks;
		out[i].net_total = 0;
	}
	for (uint32_t i = g->n_paths; i-- > 1;) {
		const struct tr_path *p = &g->path[i];
		struct tr_times *above = &out[p->parent];
		double mine = p->sum + p->open_ticks;

		above->own -= mine;
		above->net_own -= mine + (double)p->calls * h->outside_ticks;
	}
	for (uint32_t i = g->n_paths; i-- > 1;) {
		out[i].own = tr_most(out[i].own, 0);
		out[i].net_own = tr_most(out[i].net_own, 0);
		out[i].net_total += out[i].net_own;
		out[g->path[i].parent].net_total += out[i].net_total;
	}
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
	tr_path_times(g, (const void *)view->image.base, paths);
	for (uint32_t i = 1; i < g->n_paths; i++) {
		struct tr_times *s = &sites[g->path[i].site];

		s->own += paths[i].own;
		s->net_own += paths[i].net_own;
		if (has_ancestor(g, i))
			continue;
		s->total += paths[i].total;
		s->net_total += paths[i].net_total;
	}
	free(paths);
	return sites;
}
