/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor's series, separate from the program's own: with a trend, in the
 * order of the monitor's tables.
 */
#include "render/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read/stats.h"

#define MINUTE_NS INT64_C(60000000000)

/* By source, then in the order in which the monitor registered them. */
static int compare(const void *a, const void *b)
{
	const struct tr_monitored *x = a, *y = b;
	size_t rx = tr_stats_monitor_source(&x->stats);
	size_t ry = tr_stats_monitor_source(&y->stats);

	if (rx != ry)
		return rx < ry ? -1 : 1;
	return (x->stats.site > y->stats.site) -
	       (x->stats.site < y->stats.site);
}

/* A minute, or half of the measured time. */
static int64_t trend_window(const tare_view *view)
{
	const tare_window *w = tare_view_window(view);
	int64_t half = (w->to_ns - w->from_ns) / 2;

	return half > MINUTE_NS ? MINUTE_NS : half;
}

static void fill_change(struct tr_monitored *row, const tare_trend *trends,
			size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (trends[i].now->site == row->stats.site)
			row->change = trends[i].change;
}

static int add_trend(tare_view *view, const tare_filter *filter,
		     struct tr_monitored *rows, size_t n)
{
	tare_filter mine = { .struct_size = sizeof(mine) };
	int64_t window_ns = trend_window(view);
	const tare_trend *trends;
	size_t n_trends;
	int err;

	if (filter)
		mine = *filter;
	if (!mine.n_sources) {
		mine.sources = tr_monitor_sources;
		mine.n_sources = TR_MONITOR_SOURCES;
	}
	if (window_ns <= 0 || mine.last_values)
		return 0;
	err = tare_view_trend(view, &mine, window_ns, &trends, &n_trends);
	for (size_t i = 0; !err && i < n; i++)
		if (rows[i].stats.type != TARE_TYPE_COUNTER)
			fill_change(&rows[i], trends, n_trends);
	return err;
}

int tr_monitored_take(tare_view *view, const tare_filter *filter,
		      const tare_stats *stats, size_t n,
		      struct tr_monitored **ret_rows, size_t *ret_n)
{
	const tare_window *w = tare_view_window(view);
	/* In a damaged ledger they may be any numbers. */
	double seconds = (double)(int64_t)((uint64_t)w->to_ns -
					   (uint64_t)w->from_ns) / 1e9;
	struct tr_monitored *rows = calloc(n + 1, sizeof(*rows));
	size_t kept = 0;
	int err;

	if (!rows)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (!tare_stats_is_monitor(&stats[i]))
			continue;
		rows[kept].stats = stats[i];
		rows[kept].change = NAN;
		rows[kept++].per_s = seconds > 0 && stats[i].timed > 1 ?
					     (stats[i].max - stats[i].min) /
						     seconds :
					     (double)NAN;
	}
	err = kept ? add_trend(view, filter, rows, kept) : 0;
	if (err) {
		free(rows);
		return err;
	}
	qsort(rows, kept, sizeof(*rows), compare);
	*ret_rows = rows;
	*ret_n = kept;
	return 0;
}
