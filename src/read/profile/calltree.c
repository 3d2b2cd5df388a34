/* SPDX-License-Identifier: Apache-2.0 */
/* Call tree: the call paths in the order of a report. */

#include <math.h>
#include <stdlib.h>

#include "read/profile.h"

struct tree {
	tare_view *view;
	const struct tr_times *times;
	struct tr_weighed *order; /* stack of nodes still to visit */
};

static void name_scope(tare_view *view, tare_node *node,
		       const struct tr_path *p)
{
	const struct tr_site *site = view->all.series[p->site].site;

	node->name = tr_image_string(&view->image, site->name);
	node->source = tr_image_string(&view->image, site->source);
	node->site = p->site;
	node->module = TARE_NO_MODULE;
	node->file = tr_image_string(&view->image, site->file);
	node->line = site->line;
}

static void name_function(tare_view *view, tare_node *node,
			  const struct tr_path *p)
{
	tare_place place;

	tr_call_place(view, p->address, &place, &node->module);
	node->name = place.function;
	node->source = "";
	node->file = place.file;
	node->line = place.line;
	node->address = p->address;
	node->is_function = true;
}

/*
 * Paths of a site share its uncounted calls in proportion to the others. A
 * damaged ledger may hold any numbers.
 */
static void find_bounds(const tare_view *view, const struct tr_path *p,
			tare_node *node)
{
	const struct tr_series *s;
	double calls = (double)node->calls, seen, missed;

	node->calls_low = node->calls_high = node->calls;
	if (tr_path_is_function(p) || p->site >= view->all.n_series)
		return;
	s = &view->all.series[p->site];
	missed = (double)s->missed;
	seen = (double)s->calls + (double)s->untimed;
	if (!s->missed)
		return;
	node->calls_low = (uint64_t)(calls * (seen + (double)s->missed_low) /
				     (seen + missed));
	node->calls_high = (uint64_t)tr_least(
		calls * (seen + (double)s->missed_high) / (seen + missed),
		1e19);
}

static void fill_node(const struct tree *tree, uint32_t index, double whole)
{
	tare_view *view = tree->view;
	const struct tr_path *p = &view->all.path[index];
	const struct tr_times *t = &tree->times[index];
	tare_node *node = &view->nodes[view->n_nodes++];
	/* The total of an estimate covers all calls. */
	double seen = (double)p->calls, mean;

	if (tr_path_is_function(p))
		name_function(view, node, p);
	else
		name_scope(view, node, p);
	if (tr_path_is_sampled(p))
		seen += (double)p->untimed;
	mean = p->calls ? p->sum / seen : 0;
	node->depth = p->depth;
	node->calls = p->calls + p->untimed;
	find_bounds(view, p, node);
	node->timed = p->calls;
	node->open = p->open;
	node->failures = p->failures;
	node->is_estimate = tr_path_is_estimate(&view->all, index);
	node->own_is_estimate = tr_path_own_is_estimate(&view->all, index);
	node->repaired = node->is_estimate || tr_path_is_function(p) ?
				 0 :
				 p->untimed - p->tried;
	node->total_ns = tr_view_ns(view, p->sum + p->open_ticks);
	node->own_ns = tr_view_ns(view, t->own);
	node->net_own_ns = tr_view_ns(view, t->net_own);
	node->net_total_ns = tr_least(tr_view_ns(view, t->net_total),
				  node->total_ns);
	node->share = whole > 0 ? t->net_total / whole : 0;
	node->below_resolution =
		p->calls && mean < 3 * tr_view_header(view)->resolution_ticks;
}

/* Pushes the children of `parent`, most time first; returns their number. */
static uint32_t push_children(const struct tree *tree, uint32_t parent,
			      struct tr_weighed *top)
{
	const struct tr_path *path = tree->view->all.path;
	uint32_t n = 0;

	for (uint32_t i = path[parent].first; i; i = path[i].next)
		top[n++] = (struct tr_weighed){
			tree->times[i].net_total,
			(double)(path[i].calls + path[i].untimed), i
		};
	tr_weighed_sort(top, n);
	return n;
}

/* A step includes the time of the scopes in it, which counts once. */
static double whole_time(const struct tree *tree)
{
	const struct tr_gather *g = &tree->view->all;
	double whole = tree->times[0].net_total;

	for (uint32_t i = g->n_paths ? g->path[0].first : 0; i;
	     i = g->path[i].next)
		if (!tr_path_is_function(&g->path[i]) &&
		    g->series[g->path[i].site].site->flags &
			    TR_SITE_OVERLAP &&
		    g->path[g->path[0].first].next)
			whole -= tree->times[i].net_total;
	return tr_most(whole, 0);
}

/* Depth first without recursion: the order array is the stack. */
static void fill_tree(struct tree *tree)
{
	const struct tr_gather *g = &tree->view->all;
	double whole = whole_time(tree);
	uint32_t top = push_children(tree, 0, tree->order);

	while (top > 0) {
		uint32_t index = tree->order[--top].number;

		if (g->path[index].calls || g->path[index].untimed ||
		    g->path[index].open ||
		    tr_path_is_function(&g->path[index]))
			fill_node(tree, index, whole);
		top += push_children(tree, index, tree->order + top);
	}
}

TARE_API int tare_view_tree(tare_view *view, const tare_node **ret_nodes,
			    size_t *ret_n)
{
	struct tree tree = { .view = view };
	struct tr_times *times;

	if (!view || !ret_nodes || !ret_n)
		return TARE_EINVAL;
	free(view->nodes);
	view->n_nodes = 0;
	view->nodes = calloc(view->all.n_paths + 1, sizeof(*view->nodes));
	times = calloc(view->all.n_paths + 1, sizeof(*times));
	tree.order = calloc(view->all.n_paths + 1, sizeof(*tree.order));
	if (!view->nodes || !times || !tree.order) {
		free(times);
		free(tree.order);
		return TARE_ENOMEM;
	}
	if (view->all.n_paths) {
		tr_path_times(&view->all, tr_view_header(view), times);
		tree.times = times;
		fill_tree(&tree);
	}
	free(times);
	free(tree.order);
	*ret_nodes = view->nodes;
	*ret_n = view->n_nodes;
	return 0;
}
