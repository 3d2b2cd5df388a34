/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of view/: a ledger's content, added up.
 *
 *	image (bytes) -> gather (series and paths) -> stats, tree, health
 *
 * A series holds everything of one site over all tracks; a path is a node
 * of the merged call tree. Both only ever add, so that an earlier image (the
 * baseline of a clear) is taken off by adding it with the sign reversed.
 */
#ifndef TR_VIEW_H
#define TR_VIEW_H

#include <tare/view.h>

#include "ledger/ledger.h"

/* Not fmin() and fmax(): these need libm. */
TR_INLINE double tr_least(double a, double b)
{
	return b < a ? b : a;
}

TR_INLINE double tr_most(double a, double b)
{
	return b > a ? b : a;
}

/* Pages of counts, by page number, ascending. */
struct tr_pool {
	struct tr_pool_chunk *chunk; /* newest */
	char *at;
	size_t left;
};

struct tr_hist {
	struct tr_hist_page {
		uint32_t number;
		uint64_t count[TR_PAGE_BUCKETS];
	} *page;
	uint32_t n, cap;
	uint32_t next; /* a guess: the page asked for next */
	uint64_t zeros;
	uint64_t unbucketed;
};

/* Newest values of a series, over all tracks. */
struct tr_last {
	struct tr_last_value {
		uint64_t ticks;
		uint64_t value; /* ticks, or bits of a double */
	} *at;
	size_t n, cap;
};

struct tr_series {
	const struct tr_site *site;
	uint64_t calls;	   /* by nodes: exact */
	uint64_t untimed;
	uint64_t missed;   /* calls while it was paused, estimated */
	bool is_estimate;  /* the governor did not let all be measured */
	uint64_t failures;
	uint64_t items;
	double sum;	   /* ticks or the value's unit; all nodes */
	double min, max;
	struct tr_hist positive, negative;
	uint64_t not_finite;
	uint64_t counter, whole; /* counters; whole: of ratios */
	struct tr_last last;	 /* where span.last_values */
};

/* A node of the merged tree. Ticks. */
struct tr_path {
	uint32_t site;
	uint32_t parent;      /* index; 0 is the root */
	uint32_t first, next; /* children, next sibling */
	uint32_t depth;
	uint64_t calls, untimed, failures, items, open;
	double sum;
	double open_ticks; /* of scopes under way, so far */
};

/* What gather() is asked for. */
struct tr_span {
	uint64_t from, to;	/* ticks; 0 and UINT64_MAX: all time */
	uint64_t last_values;
	bool is_all;
	bool edges_only;	/* find first_slice and last_slice, no more */
	uint64_t exact_after;	/* slices up to this one have no extremes */
};

struct tr_gather {
	const struct tr_image *image;
	int sign;		/* -1: a baseline */
	uint64_t now;		/* ticks; open scopes run until then */
	struct tr_span span;
	struct tr_series *series; /* by site id */
	uint32_t n_series;
	struct tr_path *path;
	uint32_t n_paths, cap_paths;
	uint32_t *path_hash;
	uint32_t path_mask;
	uint64_t first_slice, last_slice; /* really covered */
	uint64_t horizon_slice;
	uint64_t skew;
	uint64_t events;	/* scopes, values, items */
	uint64_t redone, damaged, lost_unbucketed;
	uint64_t work;		/* steps taken; see tr_gather_spend() */
	uint64_t pages;		/* of histograms made */
	struct tr_pool pool;	/* these pages */
	bool failed;		/* out of memory */
};

struct tare_view {
	struct tr_image image, baseline;
	bool has_baseline;
	bool live;
	tare_run run;
	char meta[TR_META_BYTES];
	char id[64];
	int64_t cleared_ns;
	uint64_t cleared_ticks;
	uint64_t now_ticks;

	struct tr_gather all;	/* over all time: tree and health */
	struct tr_gather window; /* of the last tare_view_stats */
	const struct tr_gather *shown; /* the one its rows come from */
	tare_trend *trends;
	tare_window window_edges;
	tare_stats *stats;
	size_t n_stats;
	tare_node *nodes;
	size_t n_nodes;
	tare_health health;
	tare_record *records;
	size_t n_records;
	tare_record *chosen; /* those that a filter let through */
	tare_attr_value *attrs;
	char *texts;
	tare_event *events;
	size_t n_events;
};

/* ---- gather.c ---------------------------------------------------------- */

/* Adds an image to `gather` (zero-filled before the first). */
int tr_gather_add(struct tr_gather *gather, const struct tr_image *image,
		  int sign);
/* Finds the slices that the records in `span` really cover. */
/* Series of which the governor let only a part be measured. */
void tr_estimate(tare_view *view);
int tr_gather_edges(struct tr_gather *gather, const struct tr_image *image);
void tr_gather_release(struct tr_gather *gather);
/*
 * Counts steps of reading. A damaged ledger may send a reader round in
 * circles through valid places; a sound one never needs more steps than it
 * has room for content. False: stop, that was counted as damage.
 */
bool tr_gather_spend(struct tr_gather *gather, uint64_t steps);
/* Site of an image, or NULL. */
const struct tr_site *tr_image_site(const struct tr_image *image, uint32_t id);
uint32_t tr_image_sites(const struct tr_image *image);
/* Track i of an image, or NULL. */
const struct tr_track *tr_image_track(const struct tr_image *image,
				      uint32_t index);
uint32_t tr_image_tracks(const struct tr_image *image);

/* ---- path.c ------------------------------------------------------------ */

/* Child of a path for a site, made if needed; 0 when out of memory. */
uint32_t tr_path_child(struct tr_gather *gather, uint32_t parent,
		       uint32_t site);

/* ---- cells.c ----------------------------------------------------------- */

/* Adds all cells of a track to their series. */
void tr_gather_cells(struct tr_gather *gather, const struct tr_track *track);
/* Adds one time or value that is not in a cell yet. */
void tr_gather_time(struct tr_gather *gather, struct tr_series *series,
		    uint64_t start, uint64_t span, bool failed);
void tr_gather_value(struct tr_gather *gather, struct tr_series *series,
		     double value, uint32_t slice);

/* ---- filter.c ---------------------------------------------------------- */

/* NULL is: everything. */
bool tr_filter_is_valid(const tare_filter *filter);
/* Asks for neither a window nor for the last values. */
bool tr_filter_is_timeless(const tare_filter *filter);
bool tr_filter_has_site(const tare_filter *filter,
			const struct tr_image *image,
			const struct tr_site *site);
bool tr_filter_has_outcome(const tare_filter *filter, bool has_failed);
bool tr_filter_has_time(const tare_filter *filter, int64_t ns);

/* ---- last.c ------------------------------------------------------------ */

/* Notes a value as one of the newest. */
void tr_last_add(struct tr_gather *gather, struct tr_series *series,
		 uint64_t ticks, uint64_t value);
/* Those that a cell's ring holds. */
void tr_last_add_ring(struct tr_gather *gather, struct tr_series *series,
		      const struct tr_cell *cell);
/* The newest of all, into their series. */
void tr_last_settle(struct tr_gather *gather);

/* ---- stats.c ----------------------------------------------------------- */

/* Order of rows: most total time first, then by name. For qsort(). */
int tr_stats_order(const void *a, const void *b);
/* Of the calls that a row has; NAN if it has none. */
double tr_stats_success(const tare_stats *row);
/* Quantiles of a row whose `timed` and extremes are known. */
void tr_stats_quantiles(const struct tr_series *series, tare_stats *row);
/* Mean net of the measuring, of a row whose totals are known. */
double tr_stats_net_mean(const tare_stats *row);
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

/* ---- pool.c ------------------------------------------------------------ */

/* Aligned to 16 bytes; NULL if there is no more memory. */
void *tr_pool_take(struct tr_pool *pool, size_t bytes);
void tr_pool_release(struct tr_pool *pool);

/* ---- hist.c ------------------------------------------------------------ */

#define TR_PAGES_ALL 4096u /* pages of the positive doubles */

/* False: out of memory. */
bool tr_hist_add(struct tr_pool *pool, struct tr_hist *hist, uint32_t number,
		 const uint64_t *count, int sign);
/* The same with the counts of a cell's page. */
bool tr_hist_add_small(struct tr_pool *pool, struct tr_hist *hist,
		       uint32_t number, const uint32_t *count, int sign);
bool tr_hist_add_one(struct tr_pool *pool, struct tr_hist *hist, uint64_t bits,
		     int sign);
uint64_t tr_series_timed(const struct tr_series *series);
/* In the series' unit (times: seconds). NAN if empty. */
double tr_series_quantile(const struct tr_series *series, double q);
/* Several at once, ascending, at most TR_QUANTILES; of `timed` values. */
#define TR_QUANTILES 8
void tr_series_quantiles(const struct tr_series *series, uint64_t timed,
			 const double *q, double *value, size_t n);
size_t tr_series_buckets(const struct tr_series *series, tare_bucket *buckets,
			 size_t size, double scale);

/* ---- ladder.c ---------------------------------------------------------- */

/*
 * How many values are at or below each of n ascending bounds, in the unit of
 * the series (times: seconds). The fine bucket that holds a bound counts as
 * below it, so a value that equals a bound always does. Gives them all.
 */
uint64_t tr_series_cumulate(const struct tr_series *series,
			    const double *bound, uint64_t *below, size_t n);

/* ---- time.c ------------------------------------------------------------ */

/* Ticks of an image's clock to ns since 1970, and back. */
int64_t tr_time_real(const struct tr_image *image, uint64_t ticks);
uint64_t tr_time_ticks(const struct tr_image *image, int64_t real_ns);
/* Now, in the ticks of a live image. */
uint64_t tr_time_now(const struct tr_image *image);

/* ---- runs.c, sweep.c --------------------------------------------------- */

/* Folder and number of runs are this configuration's from now on. */
void tr_runs_use(const struct tr_config *config);
/* Puts some ledgers of the dead away, if there are any. */
void tr_runs_tidy(void);

/* ---- open.c ------------------------------------------------------------ */

int tr_view_open_image(struct tr_image *image, tare_view **ret_view);
double tr_view_ns(const tare_view *view, double ticks);
/* The same for a duration, whatever the file says it is. */
uint64_t tr_view_span_ns(const tare_view *view, uint64_t ticks);

#endif
