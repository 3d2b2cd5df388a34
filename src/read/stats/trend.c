/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trend: the last window against the one before it.
 *
 * A window is widened to whole slices. So the edges of the later window are
 * determined first, and the earlier window ends there: no event is in both.
 */
#include "read/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Much less than a time slice, and more than the rounding error of a time. */
#define TR_EDGE_NS 1000

struct sides {
	tare_stats *now;
	size_t n_now, n_before;
	const tare_stats *before;
	uint32_t *at; /* by site: index of its trend + 1 */
};

/* 0 would mean the beginning, not a time. */
static int64_t earlier(int64_t ns, int64_t by)
{
	int64_t result;

	if (__builtin_sub_overflow(ns, by, &result) || result < 1)
		return 1;
	return result;
}

/* The names of a row, with all counts 0. */
static tare_stats nothing_of(const tare_stats *row)
{
	tare_stats none = *row;

	none.count = none.timed = none.failures = none.items = 0;
	none.total = none.net_total = 0;
	none.own = none.net_own = NAN;
	tr_stats_none(&none);
	none.items_per_s = none.success_rate = NAN;
	none.below_resolution = false;
	return none;
}

static double change_of(const tare_trend *trend)
{
	if (!trend->now->count || !trend->before->count ||
	    trend->before->mean == 0)
		return NAN;
	return trend->now->mean / trend->before->mean - 1;
}

static size_t pair(tare_view *view, const struct sides *s)
{
	tare_stats (*pairs)[2] = (tare_stats (*)[2])view->trend_stats;
	size_t n = s->n_now;

	for (size_t i = 0; i < s->n_now; i++) {
		pairs[i][0] = s->now[i];
		pairs[i][1] = nothing_of(&s->now[i]);
		s->at[s->now[i].site] = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < s->n_before; i++) {
		const tare_stats *row = &s->before[i];
		uint32_t at = s->at[row->site];

		if (!at) {
			pairs[n][0] = nothing_of(row);
			at = (uint32_t)++n;
		}
		pairs[at - 1][1] = *row;
	}
	return n;
}

static size_t choose(tare_view *view, const tare_filter *filter, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		const tare_stats *now = &view->trend_stats[2 * i];
		tare_trend trend = { .now = now, .before = now + 1 };

		if (!tr_filter_has_outcome(filter, now[0].failures ||
							   now[1].failures))
			continue;
		trend.change = change_of(&trend);
		view->trends[kept++] = trend;
	}
	return kept;
}

static int copy_now(tare_view *view, const tare_filter *filter,
		    struct sides *s)
{
	const tare_stats *rows;
	int err = tare_view_stats(view, filter, &rows, &s->n_now);

	if (err)
		return err;
	s->now = calloc(s->n_now + 1, sizeof(*s->now));
	s->at = calloc(view->window.n_series + 1u, sizeof(*s->at));
	if (!s->now || !s->at)
		return TARE_ENOMEM;
	memcpy(s->now, rows, s->n_now * sizeof(*rows));
	return 0;
}

static int look(tare_view *view, tare_filter *filter, int64_t window_ns,
		struct sides *s)
{
	int64_t end = filter->to_ns ? filter->to_ns : view->run.end_ns;
	tare_window edges;
	int err;

	filter->from_ns = earlier(end, window_ns);
	err = copy_now(view, filter, s);
	edges = view->window_edges;
	if (err || edges.from_ns <= view->run.start_ns)
		return err;
	filter->to_ns = earlier(edges.from_ns, TR_EDGE_NS);
	filter->from_ns = earlier(edges.from_ns, window_ns);
	err = tare_view_stats(view, filter, &s->before, &s->n_before);
	view->window_edges = edges;
	return err;
}

static int make_room(tare_view *view, size_t n)
{
	free(view->trends);
	free(view->trend_stats);
	view->trends = calloc(n, sizeof(*view->trends));
	view->trend_stats = calloc(n, 2 * sizeof(*view->trend_stats));
	return view->trends && view->trend_stats ? 0 : TARE_ENOMEM;
}

TARE_API int tare_view_trend(tare_view *view, const tare_filter *filter,
			     int64_t window_ns, const tare_trend **ret_trends,
			     size_t *ret_n)
{
	tare_filter any = { .struct_size = sizeof(any) }, own;
	struct sides s = { 0 };
	int err;

	if (!view || !ret_trends || !ret_n || window_ns <= 0 ||
	    !tr_filter_take(&filter, &own) || (filter && filter->last_values))
		return TARE_EINVAL;
	if (filter)
		any = *filter;
	any.outcome = TARE_OUTCOME_ANY;
	err = look(view, &any, window_ns, &s);
	if (!err)
		err = make_room(view, s.n_now + s.n_before + 1);
	if (!err) {
		*ret_n = choose(view, filter, pair(view, &s));
		*ret_trends = view->trends;
	}
	free(s.now);
	free(s.at);
	view->n_stats = 0;
	return err;
}
