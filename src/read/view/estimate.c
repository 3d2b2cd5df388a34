/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Estimates: series of which not every call was timed.
 *
 * The governor times some calls of a hot site, chosen at random, and counts the
 * others: the total is that of the timed calls, scaled to all. A site that it
 * paused has calls that were not counted. The governor estimates their number,
 * and they are distributed over the site's paths in proportion to the counted
 * calls. Distributions stay those of the timed calls. Functions, too, have
 * calls without a time, depending on the mode of their hooks.
 */
#include "base/maths.h"
#include "read/view.h"

/* Calls while the site was paused. */
struct missed {
	double likely, low, high, variance;
};

/* Ledgers before 3.2 have no bounds, nor has a site without room for a row. */
#define OFF_BY 3.0

static struct missed missed_in(const struct tr_image *image, uint32_t id)
{
	const struct tr_site *site = tr_image_site(image, id);
	double n = site ? (double)site->missed : 0;
	uint64_t rows = 0;
	const struct tr_price *row = tr_image_rows(image, TR_REGION_PRICES,
						   sizeof(*row), &rows, NULL);

	for (uint64_t i = 0; i < rows && i < TR_PRICE_ROWS; i++)
		if (row[i].site == id && row[i].missed_low > 0)
			return (struct missed){ n, row[i].missed_low,
						row[i].missed_high,
						row[i].missed_variance };
	return (struct missed){ n, n / OFF_BY, n * OFF_BY, 0 };
}

/* Of a damaged ledger, or one that was cleared in the middle of an update. */
static uint64_t whole(double calls, double least, double most)
{
	if (!(calls > least))
		calls = least;
	return (uint64_t)(tr_least(tr_most(calls, 0), tr_least(most, 1e19)));
}

static void estimate_series(const tare_view *view, struct tr_series *s,
			    uint32_t id)
{
	struct missed now = missed_in(&view->image, id), before = { 0 };
	double error;

	if (view->has_baseline)
		before = missed_in(&view->baseline, id);
	s->is_estimate = true;
	s->missed = whole(now.likely - before.likely, 0, now.likely);
	error = 2 * tr_maths_sqrt(tr_most(now.variance - before.variance, 0));
	s->missed_low = whole(now.low - before.low - error, 0,
			      (double)s->missed);
	s->missed_high = whole(now.high - before.high + error,
			       (double)s->missed, 1e19);
	if (!s->missed)
		s->missed_low = s->missed_high = 0;
}

/* Calls per counted call. */
static double seen_factor(const struct tr_series *s)
{
	double seen = (double)s->calls + (double)s->untimed;

	return seen > 0 ? (seen + (double)s->missed) / seen : 1;
}

static uint64_t scaled(uint64_t n, double factor)
{
	double m = (double)n * factor;

	return m < 1.8e19 ? (uint64_t)(m + 0.5) : n;
}

static void estimate_path(struct tr_path *p, const struct tr_series *s)
{
	double factor = seen_factor(s);

	if (p->calls)
		p->sum *= factor * ((double)p->calls + (double)p->untimed) /
			  (double)p->calls;
	p->untimed += scaled(p->calls + p->untimed, factor) -
		      (p->calls + p->untimed);
}

/* Calls that trials counted, instead of timing them: as long as the others. */
static void estimate_tried(struct tr_path *p, const struct tr_series *s,
			   uint64_t tried)
{
	if (!s->untimed || !p->calls)
		return;
	p->tried = scaled(p->untimed, (double)tried / (double)s->untimed);
	p->sum *= (double)(p->calls + p->tried) / (double)p->calls;
}

/* Calls that are still open have no time in the sum. */
static void estimate_function(struct tr_path *p)
{
	uint64_t ended = p->calls + p->untimed;

	ended -= p->open < ended ? p->open : ended;
	if (p->calls && ended > p->calls)
		p->sum *= (double)ended / (double)p->calls;
}

/* Time of all threads that have scopes, from the start to now. */
static double most_ticks(const tare_view *view)
{
	const struct tr_header *header = tr_view_header(view);
	uint64_t from = view->has_baseline ? view->cleared_ticks :
					     header->start.ticks;
	const struct tr_track *t;
	double threads = 0;

	for (uint32_t i = 0;
	     (t = tr_image_next_track(&view->image, &i)) != NULL;)
		threads += t->nodes != 0;
	return view->now_ticks > from ?
		       (double)(view->now_ticks - from) * threads :
		       0;
}

/* Is its sum scaled to calls without a time? */
static bool is_scaled(const struct tr_gather *g, uint32_t path)
{
	return g->path[path].tried || tr_path_is_estimate(g, path);
}

/* Time of the children that no estimate can change. */
static double sure_below(const struct tr_gather *g, uint32_t path)
{
	double sure = 0;

	for (uint32_t i = g->path[path].first; i; i = g->path[i].next)
		sure += is_scaled(g, i) ?
				g->path[i].least :
				g->path[i].sum + g->path[i].open_ticks;
	return sure;
}

/*
 * A rare long call, or a time without a processor, may be in a call that has
 * no time, while the functions below it are timed at each call: then the
 * estimate is less than these took.
 */
static void raise_to_children(struct tr_gather *g)
{
	for (uint32_t i = g->n_paths; i-- > 1;) {
		struct tr_path *p = &g->path[i];

		if (!is_scaled(g, i))
			continue;
		p->least = tr_most(sure_below(g, i) - p->open_ticks, 0);
		p->sum = tr_most(p->sum, p->least);
	}
}

/*
 * An estimate from few calls may exceed what is possible. Limits it to the
 * time that the enclosing scope has left, and at the top to that of the
 * threads. What is sure to be in it stays.
 */
static void cap_children(tare_view *view, uint32_t parent)
{
	struct tr_gather *g = &view->all;
	double room = parent ? g->path[parent].sum +
				       g->path[parent].open_ticks :
			       most_ticks(view);
	double above = 0; /* what is sure */

	for (uint32_t i = g->path[parent].first; i; i = g->path[i].next) {
		const struct tr_path *p = &g->path[i];

		room -= is_scaled(g, i) ? p->least : p->sum + p->open_ticks;
		if (is_scaled(g, i))
			above += p->sum - p->least;
	}
	room = tr_most(room, 0);
	if (above <= room)
		return;
	for (uint32_t i = g->path[parent].first; i; i = g->path[i].next) {
		struct tr_path *p = &g->path[i];

		if (is_scaled(g, i))
			p->sum = p->least +
				 (p->sum - p->least) * (room / above);
	}
}

void tr_estimate_paths(struct tr_gather *g, const struct tr_gather *all)
{
	for (uint32_t i = 1; i < g->n_paths; i++) {
		struct tr_path *p = &g->path[i];

		if (tr_path_is_function(p))
			estimate_function(p);
		else if (p->site < all->n_series &&
			 all->series[p->site].is_estimate)
			estimate_path(p, &all->series[p->site]);
		else if (all->cost && p->site < all->n_costs &&
			 all->cost[p->site].tried)
			estimate_tried(p, &all->series[p->site],
				       all->cost[p->site].tried);
	}
}

void tr_estimate(tare_view *view)
{
	struct tr_gather *g = &view->all;

	tr_view_find_costs(view);
	for (uint32_t id = 1; id < g->n_series; id++)
		if (g->series[id].site && g->series[id].site->worst)
			estimate_series(view, &g->series[id], id);
	tr_estimate_paths(g, g);
	raise_to_children(g);
	/* Parents come before their children. */
	for (uint32_t i = 0; i < g->n_paths; i++)
		cap_children(view, i);
}
