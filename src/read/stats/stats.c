/* SPDX-License-Identifier: Apache-2.0 */
/* Stats: one row per series, over all time, a window, or the last values. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read/stats.h"

/* ---- a row ------------------------------------------------------------- */

static void fill_names(const tare_view *view, const struct tr_site *site,
		       tare_stats *row)
{
	const struct tr_image *image = &view->image;

	row->name = tr_image_string(image, site->name);
	row->source = tr_image_string(image, site->source);
	row->labels = tr_image_string(image, site->labels);
	row->file = tr_image_string(image, site->file);
	row->unit = tr_image_string(image, site->unit);
	if (!row->unit[0] && site->kind == TARE_KIND_SCOPE)
		row->unit = "ns";
	row->line = site->line;
	row->kind = (enum tare_kind)site->kind;
	row->type = (enum tare_type)site->type;
}

static bool is_in_bucket(double value, double bucket)
{
	double width = 0.011 * (bucket < 0 ? -bucket : bucket); /* half */

	return value >= bucket - width && value <= bucket + width;
}

/*
 * An extreme after a baseline is subtracted. Slices after the clear have exact
 * extremes. For the slice of the clear only the buckets since then are known.
 * If the slice's own extreme is in the outermost bucket, it was measured after
 * the clear, or is at most half a bucket off.
 */
static double extreme_of(const struct tr_series *s, double q, double exact,
			 double of_clear)
{
	double bucket = tr_series_quantile(s, q);

	if (is_in_bucket(exact, bucket))
		return exact;
	return is_in_bucket(of_clear, bucket) ? of_clear : bucket;
}

static double in_unit(const tare_view *view, const struct tr_series *s,
		      double ticks)
{
	return s->site->kind == TARE_KIND_SCOPE ? tr_view_ns(view, ticks) :
						  ticks;
}

double tr_stats_sum(const tare_view *view, const struct tr_series *series)
{
	return in_unit(view, series, series->sum);
}

/* Buckets of times are in seconds, whatever the unit of the clock. */
static double scale_of(const tare_stats *row)
{
	return row->kind == TARE_KIND_SCOPE ? 1e9 : 1;
}

void tr_stats_quantiles(const struct tr_series *s, tare_stats *row)
{
	static const double q[5] = { .5, .9, .95, .99, .999 };
	double scale = scale_of(row);
	double *to[5] = { &row->p50, &row->p90, &row->p95, &row->p99,
			  &row->p999 };
	double value[5];

	tr_series_quantiles(s, row->timed, q, value, 5);
	/* An estimate from a bucket must stay within the exact bounds. */
	for (int i = 0; i < 5; i++)
		*to[i] = tr_most(tr_least(value[i] * scale, row->max),
				 row->min);
}

static void fill_distribution(const tare_view *view, const struct tr_series *s,
			      tare_stats *row, bool has_baseline)
{
	double scale = scale_of(row);
	double unit = s->site->kind == TARE_KIND_SCOPE ?
			      tr_view_header(view)->sec_per_tick :
			      1;

	row->total = tr_stats_sum(view, s);
	row->mean = row->total /
		    (double)(row->timed + s->positive.unbucketed);
	row->min = in_unit(view, s, s->min);
	row->max = in_unit(view, s, s->max);
	if (has_baseline) {
		row->min = extreme_of(s, 0, s->min * unit,
				      s->clear_min * unit) * scale;
		row->max = extreme_of(s, 1, s->max * unit,
				      s->clear_max * unit) * scale;
	}
	tr_stats_quantiles(s, row);
}

void tr_stats_none(tare_stats *row)
{
	row->mean = row->min = row->max = NAN;
	row->p50 = row->p90 = row->p95 = row->p99 = row->p999 = NAN;
	row->net_mean = NAN;
}

double tr_gauge_now(const tare_view *view, const struct tr_site *site)
{
	const struct tr_region *gauges =
		&tr_view_header(view)->region[TR_REGION_GAUGES];
	const double *value = tr_image_at(&view->image,
					  gauges->off +
						  (uint64_t)site->slot * 8,
					  8, 8);

	return value && (uint64_t)site->slot * 8 < gauges->used ? *value : NAN;
}

static void fill_counter(const struct tr_series *s, tare_stats *row)
{
	tr_stats_none(row);
	row->count = s->counter;
	row->total = (double)s->counter;
	if (s->site->flags & TARE_SITE_DOUBLE) {
		row->total = s->real_counter > 0 ? s->real_counter : 0;
		row->count = row->total < 0x1p63 ? (uint64_t)row->total :
						   UINT64_MAX;
	}
	if (s->site->kind == TARE_KIND_RATIO) {
		row->count = s->whole;
		row->last = s->whole ? (double)s->counter / (double)s->whole :
				       NAN;
	}
}

double tr_stats_success(const tare_stats *row)
{
	if (!row->count)
		return NAN;
	return row->failures < row->count ?
		       (double)(row->count - row->failures) /
			       (double)row->count :
		       0;
}

/* Scaled like the total, in which recursion counts once. */
double tr_stats_net(const tare_stats *row, double ns, double inside_ns)
{
	double mean = row->mean - inside_ns;
	double share = mean > row->net_mean ? row->net_mean / mean : 1;

	if (isnan(ns))
		return ns;
	return ns > inside_ns ? (ns - inside_ns) * share : 0;
}

double tr_stats_net_mean(const tare_stats *row)
{
	return row->total > 0 ? row->mean * (row->net_total / row->total) :
				row->mean;
}

/*
 * Items of the calls whose time is in `total`: the first step has no time.
 * Items of untimed calls are not stored separately, so all calls count equally.
 */
static double timed_items(const struct tr_series *s)
{
	double calls = (double)s->calls;

	return s->is_estimate || !s->untimed ?
		       (double)s->items :
		       (double)s->items * calls / (calls + (double)s->untimed);
}

static uint32_t id_of(const tare_view *view, const struct tr_series *s)
{
	return (uint32_t)(s - view->shown->series);
}

/*
 * Calls that trials counted have no slice: a window gets its share of them.
 * They are one of a hundred at most.
 */
static void add_tried(const tare_view *view, const struct tr_series *s,
		      const struct tr_cost *cost, tare_stats *row)
{
	uint64_t timed = view->all.series[id_of(view, s)].calls;
	double part = timed ? (double)cost->tried / (double)timed : 0;

	if (view->shown->range.last_values)
		return;
	row->count += (uint64_t)((double)row->count * part + 0.5);
	row->total *= 1 + part;
}

static void fill_time(const tare_view *view, const struct tr_series *s,
		      const struct tr_times *extra, bool is_all,
		      tare_stats *row)
{
	const struct tr_header *h = tr_view_header(view);
	struct tr_cost each = tr_cost_of(&view->all, h, id_of(view, s));
	double cost = (double)row->timed * tr_view_ns(view, each.inside);

	if (is_all) {
		row->count = s->calls + s->untimed + s->missed;
		row->total = tr_view_ns(view, extra->total);
		row->own = tr_view_ns(view, extra->own);
		row->net_own = tr_view_ns(view, extra->net_own);
		row->net_total = tr_least(tr_view_ns(view, extra->net_total),
				      row->total);
	} else {
		row->own = row->net_own = NAN;
		add_tried(view, s, &each, row);
		row->net_total = tr_most(row->total - cost, 0);
	}
	row->net_mean = tr_stats_net_mean(row);
	if (!view->shown->range.last_values)
		row->success_rate = tr_stats_success(row);
	row->below_resolution = row->mean <
				3 * tr_view_ns(view, h->resolution_ticks);
	row->items_per_s = !is_all			  ? NAN :
			   row->items && row->total > 0 ? timed_items(s) /
						  (row->total * 1e-9) :
							  0;
}

static void fill_value(const struct tr_series *s, bool is_all, tare_stats *row)
{
	double seen = (double)row->count;

	if (is_all && s->missed && seen > 0) {
		row->total *= (seen + (double)s->missed) / seen;
		row->count += s->missed;
	}
	row->net_total = row->total;
}

static void fill_row(const tare_view *view, const struct tr_series *s,
		     const struct tr_times *extra, bool is_all, tare_stats *row)
{
	bool subtracted = view->has_baseline && !view->shown->range.last_values;

	memset(row, 0, sizeof(*row));
	fill_names(view, s->site, row);
	row->last = row->success_rate = NAN;
	if ((s->site->kind == TARE_KIND_COUNTER ||
	     s->site->kind == TARE_KIND_RATIO) &&
	    !(view->shown->range.last_values && tr_series_timed(s))) {
		/* Counters have no time slices: unknown for a window. */
		if (is_all)
			fill_counter(s, row);
		row->count_low = row->count_high = row->count;
		return;
	}
	row->timed = tr_series_timed(s);
	row->count = row->timed + s->positive.unbucketed;
	row->failures = s->failures;
	if (is_all) {
		/* These have no slices either. */
		row->count += s->not_finite;
		row->items = s->items;
	}
	if (row->timed)
		fill_distribution(view, s, row, subtracted);
	else
		tr_stats_none(row);
	if (s->site->kind == TARE_KIND_SCOPE)
		fill_time(view, s, extra, is_all, row);
	else
		fill_value(s, is_all, row);
	/* Missed calls of a window or of the last values are unknown. */
	row->is_estimate = s->site->worst != 0;
	row->count_low = row->count_high = row->count;
	if (is_all && s->missed) {
		row->missed = s->missed;
		row->count_low -= s->missed - s->missed_low;
		row->count_high += s->missed_high - s->missed;
	}
	if (s->site->kind == TARE_KIND_GAUGE)
		row->last = tr_gauge_now(view, s->site);
}

/* ---- all rows ---------------------------------------------------------- */

/* Two rows of one view never compare equal: these fields define a series. */
static int by_name(const tare_stats *x, const tare_stats *y)
{
	int order = strcmp(x->name, y->name);

	if (!order)
		order = strcmp(x->labels, y->labels);
	if (!order)
		order = strcmp(x->source, y->source);
	if (!order)
		order = TR_ORDER(x->kind, y->kind);
	return order ? order : strcmp(x->unit, y->unit);
}

int tr_stats_order(const void *a, const void *b)
{
	const tare_stats *x = a, *y = b;
	bool is_time = x->kind == TARE_KIND_SCOPE;
	int order = (y->kind == TARE_KIND_SCOPE) - is_time;

	if (!order && is_time)
		order = TR_ORDER(y->total, x->total);
	return order ? order : by_name(x, y);
}

int tr_stats_order_slowest(const void *a, const void *b)
{
	const tare_stats *x = a, *y = b;
	int order = !!isnan(x->net_mean) - !!isnan(y->net_mean);

	if (!order)
		order = TR_ORDER(y->net_mean, x->net_mean);
	return order ? order : by_name(x, y);
}

/* Failures of single values are not stored: use those of all time. */
static bool has_failed(const tare_view *view, const tare_stats *row)
{
	if (view->shown->range.last_values)
		return view->all.series[row->site].failures > 0;
	return row->failures > 0;
}

static bool is_shown(const tare_view *view, const tare_filter *filter,
		     const tare_stats *row)
{
	if (!row->count && (row->kind != TARE_KIND_GAUGE ||
			    row->site < TR_SITE_FIRST))
		return false;
	return tr_filter_has_outcome(filter, has_failed(view, row));
}

static bool is_wanted(const tare_view *view, const tare_filter *filter,
		      const struct tr_site *site)
{
	return site && !(site->flags & TR_SITE_INTERNAL) &&
	       tr_filter_has_site(filter, &view->image, site);
}

static int fill_rows(tare_view *view, const tare_filter *filter, bool is_all)
{
	const struct tr_gather *g = view->shown;
	struct tr_times *extra = tr_site_times(view);
	size_t n = 0;

	free(view->stats);
	view->n_stats = 0;
	view->stats = calloc(g->n_series + 1, sizeof(*view->stats));
	if (!view->stats || !extra) {
		free(extra);
		return TARE_ENOMEM;
	}
	for (uint32_t id = 1; id < g->n_series; id++) {
		const struct tr_series *s = &g->series[id];
		tare_stats *row = &view->stats[n];

		if (!is_wanted(view, filter, s->site))
			continue;
		fill_row(view, s, &extra[id], is_all, row);
		row->site = id;
		if (is_shown(view, filter, row))
			n++;
	}
	free(extra);
	view->n_stats = n;
	qsort(view->stats, n, sizeof(*view->stats), tr_stats_order);
	return 0;
}

TARE_API int tare_view_stats(tare_view *view, const tare_filter *filter,
			     const tare_stats **ret_stats, size_t *ret_n)
{
	tare_filter own;
	bool is_all;
	int err = 0;

	if (!view || !ret_stats || !ret_n || !tr_filter_take(&filter, &own))
		return TARE_EINVAL;
	is_all = tr_filter_is_timeless(filter);
	view->shown = is_all ? &view->all : &view->window;
	if (!is_all)
		err = tr_window_gather(view, filter);
	if (!err)
		err = fill_rows(view, filter, is_all);
	if (err)
		return err;
	tr_window_fill(view);
	*ret_stats = view->stats;
	*ret_n = view->n_stats;
	return 0;
}

TARE_API const tare_window *tare_view_window(const tare_view *view)
{
	return &view->window_edges;
}

static const struct tr_series *series_of(const tare_view *view, size_t index)
{
	if (!view || index >= view->n_stats)
		return NULL;
	return &view->shown->series[view->stats[index].site];
}

double tr_stats_quantile(const struct tr_series *series, const tare_stats *row,
			 double q)
{
	double value = tr_series_quantile(series, q) * scale_of(row);

	return tr_most(tr_least(value, row->max), row->min);
}

TARE_API double tare_view_quantile(const tare_view *view, size_t index,
				   double q)
{
	const struct tr_series *s = series_of(view, index);

	if (!s)
		return NAN;
	return tr_stats_quantile(s, &view->stats[index], q);
}

TARE_API size_t tare_view_buckets(const tare_view *view, size_t index,
				  tare_bucket *buckets, size_t size)
{
	const struct tr_series *s = series_of(view, index);

	if (!s)
		return 0;
	return tr_series_buckets(s, buckets, buckets ? size : 0,
				 scale_of(&view->stats[index]));
}
