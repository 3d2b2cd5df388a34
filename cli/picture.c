/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/platform.h"
#include "read/stats.h"
#include "runs.h"

#define TREND_NS INT64_C(60000000000)

static int compare_places(const void *a, const void *b)
{
	uint32_t x = ((const struct place *)a)->site;
	uint32_t y = ((const struct place *)b)->site;

	return (x > y) - (x < y);
}

static bool has_monitor(const struct moment *moment)
{
	for (size_t i = 0; i < moment->n_stats; i++)
		if (tare_stats_is_monitor(&moment->stats[i]))
			return true;
	return false;
}

static void add_changes(struct moment *moment, const tare_trend *trends,
			size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct place wanted = { .site = trends[i].now->site };
		struct place *place = bsearch(&wanted, moment->places,
					      moment->n_stats, sizeof(wanted),
					      compare_places);

		if (place)
			place->change = trends[i].change;
	}
}

/*
 * A trend replaces the view's statistics, so they are read again after it. The
 * order is the same, as the view does not change.
 */
static int read_changes(struct moment *moment)
{
	static const char *const sources[] = { "process", "system", "gpu" };
	tare_filter filter = { .struct_size = sizeof(filter),
			       .sources = sources,
			       .n_sources = 3 };
	const tare_trend *trends;
	size_t n;
	int err;

	if (!has_monitor(moment))
		return 0;
	err = tare_view_trend(moment->view, &filter, TREND_NS, &trends, &n);
	if (err)
		return err;
	add_changes(moment, trends, n);
	return tare_view_stats(moment->view, NULL, &moment->stats,
			       &moment->n_stats);
}

static int read_stats(struct moment *moment)
{
	int err = tare_view_stats(moment->view, NULL, &moment->stats,
				  &moment->n_stats);

	if (err)
		return err;
	moment->places = calloc(moment->n_stats + 1, sizeof(*moment->places));
	if (!moment->places)
		return TARE_ENOMEM;
	for (size_t i = 0; i < moment->n_stats; i++)
		moment->places[i] = (struct place){ moment->stats[i].site, i,
						    NAN };
	qsort(moment->places, moment->n_stats, sizeof(*moment->places),
	      compare_places);
	return read_changes(moment);
}

int moment_take(struct moment *moment, const char *which)
{
	struct moment taken = { .view = NULL };
	int err;

	err = tare_view_open(which, &taken.view);
	if (err)
		return err;

	taken.taken_ns = (uint64_t)tr_monotonic_ns();
	if (tare_view_sampling(taken.view)->samples)
		names_attach(taken.view);
	err = read_stats(&taken);
	if (err) {
		moment_release(&taken);
		return err;
	}
	*moment = taken;
	return 0;
}

void moment_release(struct moment *moment)
{
	free(moment->places);
	tare_view_close(moment->view);
	*moment = (struct moment){ .view = NULL };
}

/* The place of a site's series in a moment, or NULL. */
static const struct place *place_of(const struct moment *moment, uint32_t site)
{
	struct place wanted = { .site = site };

	return bsearch(&wanted, moment->places, moment->n_stats,
		       sizeof(*moment->places), compare_places);
}

/* A series' earlier statistics; NULL if it is new or was cleared. */
static const tare_stats *stats_before(const struct moment *before,
				      const tare_stats *now)
{
	const struct place *place = before ? place_of(before, now->site)
					   : NULL;

	if (!place || before->stats[place->index].count > now->count)
		return NULL;
	return &before->stats[place->index];
}

static double rise(double now, double before)
{
	return now > before ? now - before : 0;
}

/* Quantiles of the time between the two; without `a` of all time. */
static int fill_row(struct picture_row *row, const struct moment *before,
		    const tare_stats *a, const struct moment *now,
		    double seconds)
{
	static const tare_stats nothing;
	const tare_stats *b = row->stats;
	tare_stats fresh = *b;
	int err = a ? tr_stats_between(before->view, a, now->view, &fresh) : 0;
	bool is_scope = b->kind == TARE_KIND_SCOPE;
	double net;

	a = a ? a : &nothing;
	net = rise(b->net_total, a->net_total);
	row->calls = b->count - a->count;
	row->failures = rise((double)b->failures, (double)a->failures) > 0
				? b->failures - a->failures
				: 0;
	row->total = rise(b->total, a->total);
	row->per_s = (b->kind == TARE_KIND_COUNTER ? row->total
						   : (double)row->calls) /
		     seconds;
	row->time_share = is_scope ? net / 1e9 / seconds : NAN;
	row->own_ns = is_scope ? rise(b->net_own, a->net_own) : 0;
	row->mean = !row->calls ? NAN
				: (is_scope ? net : row->total) /
					  (double)row->calls;
	row->p50 = fresh.p50;
	row->p99 = fresh.p99;
	row->max = fresh.max;
	return err;
}

static int make_rows(struct picture *picture, const struct moment *before,
		     const struct moment *now)
{
	double own = 0;
	int err = 0;

	for (size_t i = 0; i < now->n_stats && !err; i++) {
		struct picture_row *row = &picture->rows[i];

		row->stats = &now->stats[i];
		err = fill_row(row, before, stats_before(before, row->stats),
			       now, picture->seconds);
		row->change = place_of(now, row->stats->site)->change;
		own += row->own_ns;
	}
	picture->n_rows = now->n_stats;
	for (size_t i = 0; i < picture->n_rows; i++)
		picture->rows[i].own_share =
			own > 0 ? picture->rows[i].own_ns / own : NAN;
	return err;
}

/* A site may be open on several paths. Rows are in the order of the stats. */
static int add_open(struct picture *picture, const struct moment *now)
{
	const struct place *place;
	const tare_node *nodes;
	size_t n;
	int err = tare_view_tree(now->view, &nodes, &n);

	if (err)
		return err;
	for (size_t i = 0; i < n; i++) {
		place = place_of(now, nodes[i].site);
		if (place)
			picture->rows[place->index].open += nodes[i].open;
	}
	return 0;
}

static void fill_header(struct picture *picture, const struct moment *before,
			const struct moment *now)
{
	static const tare_health nothing;
	const tare_health *a = before ? tare_view_health(before->view)
				      : &nothing;
	const tare_health *b = picture->health;
	int64_t since = picture->run->cleared_ns ? picture->run->cleared_ns
						 : picture->run->start_ns;

	picture->seconds =
		before ? (double)(now->taken_ns - before->taken_ns) / 1e9
		       : (double)(picture->run->end_ns - since) / 1e9;
	/* The clock may have been set back; prevents division by 0. */
	if (!(picture->seconds > 1e-6))
		picture->seconds = 1e-6;
	picture->is_whole = before == NULL;
	picture->events_per_s = rise((double)b->events, (double)a->events) /
				picture->seconds;
	picture->cost_share = rise(b->measuring_ns, a->measuring_ns) / 1e9 /
			      picture->seconds;
	picture->lost = b->lost > a->lost ? b->lost - a->lost : 0;
}

/* A moment before a clear cannot be compared with one after it. */
static bool is_base(const struct moment *before, const struct moment *now)
{
	return before->view && before->taken_ns < now->taken_ns &&
	       tare_view_run(before->view)->cleared_ns ==
		       tare_view_run(now->view)->cleared_ns;
}

int picture_make(struct picture *picture, const struct moment *before,
		 const struct moment *now)
{
	struct picture made = { .run = tare_view_run(now->view),
				.health = tare_view_health(now->view) };
	int err;

	if (!is_base(before, now))
		before = NULL;
	made.rows = calloc(now->n_stats + 1, sizeof(*made.rows));
	if (!made.rows)
		return TARE_ENOMEM;

	fill_header(&made, before, now);
	err = make_rows(&made, before, now);
	if (!err)
		err = add_open(&made, now);
	made.is_sampled = tare_view_sampling(now->view)->samples > 0;
	if (!err && made.is_sampled)
		err = tr_functions_between(before ? before->view : NULL,
					   now->view, &made.functions);
	if (err) {
		picture_release(&made);
		return err;
	}
	*picture = made;
	return 0;
}

void picture_release(struct picture *picture)
{
	free(picture->rows);
	free(picture->functions.rows);
	*picture = (struct picture){ .rows = NULL };
}

/* The name of each order, and its figure except for name and failures. */
static const struct {
	const char *name;
	size_t offset; /* of a double in the row */
} sorts[] = {
	[SORT_TIME] = { "time", offsetof(struct picture_row, time_share) },
	[SORT_OWN] = { "own", offsetof(struct picture_row, own_ns) },
	[SORT_CALLS] = { "calls", offsetof(struct picture_row, per_s) },
	[SORT_MEAN] = { "mean", offsetof(struct picture_row, mean) },
	[SORT_P99] = { "p99", offsetof(struct picture_row, p99) },
	[SORT_MAX] = { "max", offsetof(struct picture_row, max) },
	[SORT_FAILURES] = { "failures", 0 },
	[SORT_NAME] = { "name", 0 },
};

/* For the comparison function of qsort(), which has no argument for it. */
static enum picture_sort sort_key;

static double sort_value(const struct picture_row *row)
{
	double value;

	if (sort_key == SORT_NAME)
		return 0;
	if (sort_key == SORT_FAILURES)
		return (double)row->failures;
	value = *(const double *)(const void *)((const char *)row +
						sorts[sort_key].offset);
	return isnan(value) ? -1 : value;
}

/* Largest first; equal rows are ordered by name. */
static int compare(const void *a, const void *b)
{
	const struct picture_row *x = a, *y = b;
	double vx = sort_value(x), vy = sort_value(y);
	int order;

	if (vx != vy)
		return vx > vy ? -1 : 1;
	order = strcmp(x->stats->name, y->stats->name);
	return order ? order : strcmp(x->stats->labels, y->stats->labels);
}

void picture_sort(struct picture *picture, enum picture_sort sort)
{
	sort_key = sort;
	qsort(picture->rows, picture->n_rows, sizeof(*picture->rows), compare);
}

const char *picture_sort_name(enum picture_sort sort)
{
	return sorts[sort].name;
}
