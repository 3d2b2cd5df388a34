/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Costs: what a call of each scope cost the program.
 *
 * From the trials in the program (record/price.h), where the site had any. Any
 * other site gets the mean of those that had, by calls: code of the same
 * program. Without trials there were few calls, far apart: the calibration has
 * a cost for that.
 */
#include <stdlib.h>

#include "read/view.h"

static double calibrated(const struct tr_header *header)
{
	double apart = header->added_scope.ticks[TR_WORKS - 1];

	return apart > 0 ? apart : header->inside_ticks + header->outside_ticks;
}

/* Part of a scope's cost that is in its own time. */
static double inside_part(const struct tr_header *header)
{
	double all = header->inside_ticks + header->outside_ticks;

	return all > 0 ? header->inside_ticks / all : 0;
}

static struct tr_cost cost_from(const struct tr_header *header, double timed,
				double untimed)
{
	double inside = timed * inside_part(header);

	return (struct tr_cost){ .inside = inside,
				 .outside = timed - inside,
				 .untimed = untimed,
				 .error = timed,
				 .untimed_error = untimed };
}

/* Were scopes closed without an end? These have no time either. */
static bool has_repairs(const tare_view *view)
{
	const struct tr_track *t;

	for (uint32_t i = 0;
	     (t = tr_image_next_track(&view->image, &i)) != NULL;)
		if (t->lost.repairs)
			return true;
	return false;
}

/*
 * A row is older than the calls of a trial under way, so without repairs all
 * calls without a time are those of trials.
 */
static uint64_t tried_of(const tare_view *view, const struct tr_price *row)
{
	uint64_t untimed = view->all.series[row->site].untimed;

	return row->untimed < untimed && has_repairs(view) ? row->untimed :
							     untimed;
}

static void take_row(tare_view *view, const struct tr_price *row)
{
	const struct tr_header *header = tr_view_header(view);
	struct tr_price_figures f;
	struct tr_cost *cost;

	if (!row->site || row->site >= view->all.n_series)
		return;
	cost = &view->costs[row->site];
	cost->tried = tried_of(view, row);
	if (!tr_price_figures(row, header->counted_ticks, &f))
		return;
	*cost = cost_from(header, f.timed, f.counted);
	cost->untimed_error = f.counted_error;
	cost->error = f.timed_error;
	cost->is_measured = true;
	cost->tried = tried_of(view, row);
}

/* Mean over the series that have trials, by calls. */
static struct tr_cost mean_cost(const tare_view *view)
{
	const struct tr_header *header = tr_view_header(view);
	double timed = 0, untimed = 0, calls = 0;

	for (uint32_t id = 1; id < view->all.n_series; id++) {
		const struct tr_cost *cost = &view->costs[id];
		double n = (double)view->all.series[id].calls;

		if (!cost->is_measured)
			continue;
		timed += n * (cost->inside + cost->outside);
		untimed += n * cost->untimed;
		calls += n;
	}
	if (!(calls > 0))
		return cost_from(header, calibrated(header),
				 header->added_untimed.ticks[0]);
	return cost_from(header, timed / calls, untimed / calls);
}

double tr_counter_calls(const struct tr_series *s)
{
	uint64_t first = s->site->missed;
	double calls = (double)(first >> TR_COUNTER_CALLS_SHIFT);
	double sum = (double)(first & TR_COUNTER_SUM);

	return sum > 0 ? (double)s->counter * calls / sum : calls;
}

/* Of counters and values, whose call paths nobody stores. */
static double cost_of_counting(const tare_view *view)
{
	const struct tr_header *header = tr_view_header(view);
	double ticks = 0;

	for (uint32_t id = 1; id < view->all.n_series; id++) {
		const struct tr_series *s = &view->all.series[id];

		if (!s->site || s->site->flags & TR_SITE_INTERNAL)
			continue;
		if (s->site->kind == TARE_KIND_COUNTER)
			ticks += tr_counter_calls(s) * header->counter_ticks;
		else if (s->site->kind == TARE_KIND_VALUE)
			ticks += (double)tr_series_timed(s) *
				 header->value_ticks;
	}
	return ticks;
}

static double lifetime_of(const tare_view *view)
{
	uint64_t from = view->has_baseline ? view->cleared_ticks :
					     tr_view_header(view)->start.ticks;

	return view->now_ticks > from ? (double)(view->now_ticks - from) : 0;
}

void tr_view_find_costs(tare_view *view)
{
	const struct tr_price *row;
	struct tr_cost mean;
	uint64_t n = 0;

	view->all.counting = cost_of_counting(view);
	view->all.lifetime = lifetime_of(view);
	view->costs = calloc(view->all.n_series + 1, sizeof(*view->costs));
	if (!view->costs)
		return;
	row = tr_image_rows(&view->image, TR_REGION_PRICES, sizeof(*row), &n,
			    &view->all.damaged);
	for (uint64_t i = 0; row && i < n && i < TR_PRICE_ROWS; i++)
		take_row(view, &row[i]);
	mean = mean_cost(view);
	for (uint32_t id = 0; id < view->all.n_series; id++)
		if (!view->costs[id].is_measured) {
			mean.tried = view->costs[id].tried;
			view->costs[id] = mean;
		}
	view->all.cost = view->costs;
	view->all.n_costs = view->all.n_series;
}

struct tr_cost tr_cost_of(const struct tr_gather *gather,
			  const struct tr_header *header, uint32_t site)
{
	if (gather->cost && site < gather->n_costs)
		return gather->cost[site];
	return cost_from(header, calibrated(header),
			 header->added_untimed.ticks[0]);
}
