/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/stats/: figures of series: statistics over all time, a window
 * or the last values, trends, several runs merged.
 *
 * Comes in: what a view has added up. Goes out: rows for users. Called by: the
 * other rooms of read/, render/, cli, server.
 */
#ifndef TR_READ_STATS_H
#define TR_READ_STATS_H

#include "read/view.h"

/* ---- monitored.c ------------------------------------------------------- */

/* The monitor's sources, in the order of reports. */
#define TR_MONITOR_SOURCES 3
extern const char *const tr_monitor_sources[TR_MONITOR_SOURCES];
/* Place of a source in that order; of others TR_MONITOR_SOURCES. */
size_t tr_stats_monitor_source(const tare_stats *stats);

/* ---- stats.c ----------------------------------------------------------- */

/* Order of rows: most total time first, then by name. For qsort(). */
int tr_stats_order(const void *a, const void *b);
/*
 * What "slowest" means everywhere: most mean time net of the measuring first;
 * rows without a time last; then by name. For qsort() of tare_stats.
 */
int tr_stats_order_slowest(const void *a, const void *b);
/* A row without a value: extremes, means and quantiles are NAN. */
void tr_stats_none(tare_stats *row);
/* Of the calls that a row has; NAN if it has none. */
double tr_stats_success(const tare_stats *row);
/* Quantiles of a row whose `timed` and extremes are known. */
void tr_stats_quantiles(const struct tr_series *series, tare_stats *row);
/* Mean net of the measuring, of a row whose totals are known. */
double tr_stats_net_mean(const tare_stats *row);
/*
 * One call's time, less what the measuring added to it: its own probe, and of
 * the scopes within it the same share as in the mean. NAN stays.
 */
double tr_stats_net(const tare_stats *row, double ns, double inside_ns);
/* A quantile of the row's series, in its unit. */
double tr_stats_quantile(const struct tr_series *series, const tare_stats *row,
			 double q);
/* The distribution's sum, in the row's unit. */
double tr_stats_sum(const tare_view *view, const struct tr_series *series);

/* A gauge's value now. */
double tr_gauge_now(const tare_view *view, const struct tr_site *site);

/* ---- window.c ---------------------------------------------------------- */

/* Fills view->window with what the filter's window holds. */
int tr_window_gather(tare_view *view, const tare_filter *filter);
/* The real edges of what is shown. */
void tr_window_fill(tare_view *view);

/* ---- between.c --------------------------------------------------------- */

/*
 * Turns `row`, a copy of one of the last tare_view_stats() of `now`, into what
 * came in since `then`, the row of the same series in `before`: timed, the
 * quantiles and max, which are NAN if nothing came. 0 or TARE_ENOMEM.
 */
int tr_stats_between(const tare_view *before, const tare_stats *then,
		     const tare_view *now, tare_stats *row);

/* ---- ladder.c ---------------------------------------------------------- */

/*
 * How many values are at or below each of n ascending bounds, in the unit of
 * the series (times: seconds). The fine bucket that holds a bound counts as
 * below it, so a value that equals a bound always does. Gives them all.
 */
uint64_t tr_series_cumulate(const struct tr_series *series,
			    const double *bound, uint64_t *below, size_t n);

/* ---- merge.c ----------------------------------------------------------- */

/*
 * All series of times of a merge as one row, without names: counts and totals
 * added, what is derived from them derived again. 0 or TARE_ENOMEM.
 */
int tr_merge_times(tare_merge *merge, tare_stats *ret_row);

/*
 * tare_merge_open() in steps, for many runs, not all open at once: new (NULL:
 * out of memory), a view after the other, which is needed no longer, finish.
 * The filter is the same in all. 0 or an error, after which the merge can only
 * be closed.
 */
tare_merge *tr_merge_new(void);
int tr_merge_add(tare_merge *merge, tare_view *view, const tare_filter *filter);
int tr_merge_finish(tare_merge *merge, const tare_filter *filter);
/* Adds one merge to another, neither of them finished: the same result as if
 * its runs had been added. 0 or TARE_ENOMEM. */
int tr_merge_join(tare_merge *to, const tare_merge *from);
/* How many processes have values of row `index` of tare_merge_stats(). */
uint64_t tr_merge_processes(const tare_merge *merge, size_t index);

/* ---- summary.c --------------------------------------------------------- */

/*
 * Adds the summary whose text this is; it ends with a NUL at text[len] and is
 * changed. 0, TARE_EFORMAT, TARE_EVERSION or TARE_ENOMEM; after an error the
 * merge can only be closed.
 */
int tr_merge_read(tare_merge *merge, char *text, size_t len);

#endif
