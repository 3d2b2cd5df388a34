/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/view/: the content of one or more ledgers, added up.
 *
 * Comes in: images of ledgers. Goes out: series and call paths. Called by: all
 * other rooms of read/, most of render/, cli, server.
 *
 *	image (bytes) -> gather (series and paths) -> stats, tree, health
 *
 * A series holds everything of one site over all tracks; a path is a node of
 * the merged call tree. Both only add, so an earlier image (the baseline of a
 * clear) is subtracted by adding it with the sign reversed.
 */
#ifndef TR_READ_VIEW_H
#define TR_READ_VIEW_H

#include <tare/read/alloc.h>
#include <tare/read/profile.h>
#include <tare/read/view.h>

#include "base/config.h"
#include "ledger/read.h"

/* Not fmin() and fmax(): these need libm. */
TR_INLINE double tr_least(double a, double b)
{
	return b < a ? b : a;
}

TR_INLINE double tr_most(double a, double b)
{
	return b > a ? b : a;
}

/* What qsort() asks of two numbers: the smaller one first. */
#define TR_ORDER(a, b) (((a) > (b)) - ((a) < (b)))

/* The name that a number has in a table, which may have gaps. */
#define TR_NAME_OF(names, number, other) \
	((size_t)(number) < sizeof(names) / sizeof(*(names)) && \
			 (names)[number] ? \
		 (names)[number] : \
		 (other))

/* Elements of an array, found by a hash; see lookup.c. */
struct tr_lookup {
	struct tr_lookup_slot {
		uint32_t hash;
		uint32_t number; /* + 1; 0: free */
	} *slot;
	uint32_t mask, n;
};

struct tr_pool {
	struct tr_pool_chunk *chunk; /* newest */
	char *at;
	size_t left;
};

/* Pages of counts, by page number, ascending. */
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
struct tr_last_values {
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
	uint64_t missed_low, missed_high; /* in 95 % of cases */
	bool is_estimate;  /* the governor did not let all be measured */
	uint64_t failures;
	uint64_t items;
	double sum;	   /* ticks or the value's unit; all nodes */
	double min, max;
	double clear_min, clear_max; /* of the slice of a clear, before
				      * and after it together */
	struct tr_hist positive, negative;
	uint64_t not_finite;
	uint64_t counter, whole; /* counters; whole: of ratios */
	double real_counter; /* of doubles */
	struct tr_last_values last;	 /* where range.last_values */
	uint64_t newest;	 /* ticks of the last of these */
};

/* A node of the merged tree. Ticks. */
struct tr_path {
	uint32_t site;	      /* TR_NODE_FUNCTION: a function */
	uint64_t address;     /* of a function */
	uint32_t parent;      /* index; 0 is the root */
	uint32_t first, next; /* children, next sibling */
	uint32_t depth;
	uint64_t calls, untimed, failures, items, open;
	uint64_t tried; /* part of `untimed`: to find the cost of timing */
	double sum;
	double open_ticks; /* of scopes under way, so far */
	double least;	   /* of an estimate: timed calls below it took this */
};

TR_INLINE bool tr_path_is_function(const struct tr_path *path)
{
	return path->site == TR_NODE_FUNCTION;
}

/* Of a function: have all calls that ended a time? */
TR_INLINE bool tr_path_is_sampled(const struct tr_path *path)
{
	return tr_path_is_function(path) && path->calls && path->untimed;
}

#define TR_PATH_TRACK 0x40000000u /* no site */

/* What gather() is asked for. */
struct tr_time_range {
	uint64_t from, to;	/* ticks; 0 and UINT64_MAX: all time */
	uint64_t last_values;
	bool is_all;
	bool edges_only;	/* find first_slice and last_slice, no more */
	bool by_track;		/* paths alone, each track's under one of its
				 * own: TR_PATH_TRACK | its index */
	uint64_t exact_after;	/* that of a clear: slices up to it do not know
				 * the extremes of what came after */
};

struct tr_gather {
	const struct tr_image *image;
	int sign;		/* -1: a baseline */
	uint64_t now;		/* ticks; open scopes run until then */
	struct tr_time_range range;
	struct tr_series *series; /* by site id */
	uint32_t n_series;
	struct tr_path *path;
	uint32_t n_paths;
	size_t cap_paths;
	struct tr_lookup by_parent; /* paths */
	uint64_t first_slice, last_slice; /* really covered */
	uint64_t horizon_slice;
	uint64_t skew;
	uint64_t events;	/* scopes, values, items */
	uint64_t redone, damaged, lost_unbucketed;
	uint64_t work;		/* steps taken; see tr_gather_spend() */
	uint64_t cells, values;	/* seen in the image: no more than fit */
	uint64_t pages;		/* of histograms made */
	struct tr_pool pool;	/* these pages */
	bool failed;		/* out of memory */
	const struct tr_cost *cost; /* by series, or NULL: see tr_cost_of() */
	uint32_t n_costs;
	double counting; /* what counters and values cost the program, ticks */
	double lifetime; /* of the program, ticks */
};

/* What a call of a scope cost the program, in ticks. */
struct tr_cost {
	double inside, outside; /* a timed call: within its own time, and not */
	double untimed;		/* a call that was only counted */
	double error, untimed_error; /* of a timed call, of a counted one */
	uint64_t tried; /* calls counted only to measure this */
	bool is_measured; /* by trials; else from the calibration */
};

/* Allocations. */
struct tr_allocs {
	bool is_read;
	tare_heap heap;
	tare_alloc *at;
	size_t n;
	tare_alloc_mark *marks;
	size_t n_marks;
	tare_alloc *copies; /* of all snapshots */
	size_t n_copies;
};

void tr_allocs_release(struct tr_allocs *allocs);

/* Samples of a part of the run, of those that are kept with their times. */
struct tr_sample_window {
	int64_t from_ns, to_ns; /* both 0: the window is off */
	int64_t kept_ns;	/* all samples since then are kept; 0: all */
	uint64_t samples, whole; /* in the window; with a complete stack */
	double weight_ns;
};

/* Code without probes, as far as somebody asked for it. */
struct tr_profile {
	tare_module *modules;
	size_t n_modules;
	uint32_t *module_index; /* by the ledger's number */
	uint32_t n_module_numbers;
	uint32_t python_module; /* of Python functions, or TARE_NO_MODULE */
	tare_stack *stacks;
	size_t n_stacks;
	double square_ns2; /* sum of squared weights of all samples */
	double own_ns;	   /* of samples in code of tare */
	uint32_t *stack_index; /* by the ledger's number */
	uint32_t n_stack_numbers;
	tare_sample *samples;
	size_t n_samples;
	tare_sampling sampling;
	tare_name_fn name;
	void *name_arg;
	struct tr_named *named; /* places of addresses */
	size_t n_named, cap_named;
	struct tr_lookup by_address; /* these */
	tare_frame *frames;
	tare_function *functions;
	size_t n_functions;
	tare_function *folded; /* without inlined functions */
	size_t n_folded;
	struct tr_pool texts;	/* of modules */
	struct tr_pool places;	/* since the last tare_view_name_with() */
	struct tr_allocs allocs;
	uint64_t damaged;
	struct tr_sample_window window;
	struct tare_view **joined; /* other processes; see profile/joined.c */
	size_t n_joined, cap_joined;
	char joined_name[64]; /* of all */
};

struct tare_view {
	struct tr_image image, baseline;
	bool has_baseline;
	bool live;
	bool is_in_programs; /* a report of all its processes is made, too */
	tare_run run;
	char damage[200]; /* parts with other bytes than were written */
	char meta[TR_META_BYTES];
	char id[64];
	int64_t cleared_ns;
	uint64_t cleared_ticks;
	uint64_t now_ticks;

	struct tr_cost *costs;	/* by series */
	struct tr_gather all;	/* over all time: tree and health */
	struct tr_gather window; /* of the last tare_view_stats */
	const struct tr_gather *shown; /* the one its rows come from */
	tare_trend *trends;
	tare_stats *trend_stats; /* of trend i: 2 * i now, then before */
	tare_record *readings;
	tare_attr_value *reading_attrs;
	tare_window window_edges;
	tare_stats *stats;
	size_t n_stats;
	tare_node *nodes;
	size_t n_nodes;
	tare_call *calls;
	struct tare_pipeline *pipelines;
	struct tare_stage_stats *stages; /* of all of them */
	tare_health health;
	tare_record *records; /* operations and such, and kept values */
	size_t n_records;
	tare_record *newest; /* of these, what the history is to have */
	size_t n_newest;
	tare_record *chosen; /* those that a filter let through */
	tare_attr_value *attrs;
	char *texts;
	tare_event *events;
	size_t n_events;
	tare_thread *threads;
	size_t n_threads;
	struct tr_profile profile;
	struct tr_trainings *trainings; /* NULL: not read yet */
	void (*release_trainings)(tare_view *view); /* by the room that reads */
	char job[48];	/* of tare_view_communication() */
	bool is_aligned; /* by tare_view_align() */
};

TR_INLINE const struct tr_header *tr_view_header(const tare_view *view)
{
	return tr_image_header(&view->image);
}

/* ---- gather.c ---------------------------------------------------------- */

/* Adds an image to `gather` (zero-filled before the first). */
int tr_gather_add(struct tr_gather *gather, const struct tr_image *image,
		  int sign);
/* ---- costs.c ----------------------------------------------------------- */

/* Fills view->costs; without memory, costs are those of the calibration. */
void tr_view_find_costs(tare_view *view);
struct tr_cost tr_cost_of(const struct tr_gather *gather,
			  const struct tr_header *header, uint32_t site);
/*
 * Calls of a counter. Most add one; of the others, the first calls tell how
 * much a call adds.
 */
double tr_counter_calls(const struct tr_series *series);

/* ---- estimate.c -------------------------------------------------------- */

/* Series of which the governor let only a part be measured. */
void tr_estimate(tare_view *view);
/* Paths of `gather`, by the series of view->all. */
void tr_estimate_paths(struct tr_gather *gather, const struct tr_gather *all);
/* Finds the slices that the records in `range` really cover. */
int tr_gather_edges(struct tr_gather *gather, const struct tr_image *image);
void tr_gather_release(struct tr_gather *gather);
/*
 * Counts steps of reading. A damaged ledger may send a reader round in
 * circles through valid places; a sound one never needs more steps than it
 * has room for content. False: stop, that was counted as damage.
 */
bool tr_gather_spend(struct tr_gather *gather, uint64_t steps);
/* Adds both images of a view: all that came since its last clear. */
int tr_gather_view(struct tr_gather *gather, const tare_view *view);

/* ---- image.c ----------------------------------------------------------- */

/*
 * Rows of `size` bytes of a region, and how many there are: none where they
 * do not lie in the file, which counts as damage.
 */
const void *tr_image_rows(const struct tr_image *image, unsigned region,
			  size_t size, uint64_t *ret_n, uint64_t *damaged);
/* Site of an image, or NULL. */
const struct tr_site *tr_image_site(const struct tr_image *image, uint32_t id);
uint32_t tr_image_sites(const struct tr_image *image);
/* Track i of an image, or NULL. */
const struct tr_track *tr_image_track(const struct tr_image *image,
				      uint32_t index);
uint32_t tr_image_tracks(const struct tr_image *image);
uint32_t tr_image_track_off(const struct tr_image *image, uint32_t index);
/* The next one that is sound, from *index on, which moves behind it. */
const struct tr_track *tr_image_next_track(const struct tr_image *image,
					   uint32_t *index);
/* The next one, of which *at is 0 before the first, or NULL. */
const struct tr_block *tr_image_next_block(const struct tr_image *image,
					   uint64_t *at);

/* A number with the sign of what is added. */
TR_INLINE uint64_t tr_gather_sign(const struct tr_gather *gather, uint64_t n)
{
	return gather->sign < 0 ? -n : n;
}

/* ---- path.c ------------------------------------------------------------ */

/* Child of a path for a site, made if needed; 0 when out of memory. */
uint32_t tr_path_child(struct tr_gather *gather, uint32_t parent,
		       uint32_t site);
/* The same for a function. */
uint32_t tr_path_function(struct tr_gather *gather, uint32_t parent,
			  uint64_t address);
/* Is its time that of some calls, scaled to all? */
bool tr_path_is_estimate(const struct tr_gather *gather, uint32_t index);
/* Is its own time what estimates of its children leave? */
bool tr_path_own_is_estimate(const struct tr_gather *gather, uint32_t index);

/* ---- cells.c ----------------------------------------------------------- */

/* Adds all cells of a track to their series. */
void tr_gather_cells(struct tr_gather *gather, const struct tr_track *track);
/* Adds one time or value that is not in a cell yet. */
void tr_gather_time(struct tr_gather *gather, struct tr_series *series,
		    uint64_t start, uint64_t duration, bool failed);
void tr_gather_value(struct tr_gather *gather, struct tr_series *series,
		     double value, uint32_t slice);

/* ---- filter.c ---------------------------------------------------------- */

/*
 * A caller's filter, of whatever version, becomes `own`; NULL is everything
 * and stays so. False: it is none.
 */
bool tr_filter_take(const tare_filter **filter, tare_filter *own);
/* Asks for neither a window nor for the last values. */
bool tr_filter_is_timeless(const tare_filter *filter);
bool tr_filter_has_site(const tare_filter *filter,
			const struct tr_image *image,
			const struct tr_site *site);
bool tr_filter_has_outcome(const tare_filter *filter, bool has_failed);
bool tr_filter_has_time(const tare_filter *filter, int64_t ns);
/* Does one of the globs match? No glob lets all through. */
bool tr_filter_matches(const char *const *globs, size_t n, const char *text);

/* ---- last_values.c ----------------------------------------------------- */

/* Notes a value as one of the newest. */
void tr_last_values_add(struct tr_gather *gather, struct tr_series *series,
			uint64_t ticks, uint64_t value);
/*
 * The ring of a cell and how many of its newest values there are to see; NULL
 * if it has none.
 */
const struct tr_values *tr_last_values_ring(const struct tr_image *image,
					    const struct tr_cell *cell,
					    uint64_t *ret_n);
/* Those that a cell's ring holds. */
void tr_last_values_add_ring(struct tr_gather *gather, struct tr_series *series,
			     const struct tr_cell *cell);
/* The newest of all, into their series. */
void tr_last_values_sort(struct tr_gather *gather);

/* ---- lookup.c ---------------------------------------------------------- */

#define TR_LOOKUP_NONE UINT32_MAX
#define TR_HASH_FIRST 2166136261u

/*
 * The next element with this hash, of which the caller sees whether it is the
 * one; *step is 0 before the first. TR_LOOKUP_NONE: there are no more.
 */
uint32_t tr_lookup_next(const struct tr_lookup *lookup, uint32_t hash,
			uint32_t *step);
/* False: out of memory. */
bool tr_lookup_add(struct tr_lookup *lookup, uint32_t hash, uint32_t number);
void tr_lookup_release(struct tr_lookup *lookup);
/* A hash with a text added, and with two numbers. */
uint32_t tr_hash_text(uint32_t hash, const char *text);
uint32_t tr_hash_pair(uint64_t a, uint64_t b);

/* ---- pool.c ------------------------------------------------------------ */

/* Aligned to 16 bytes; NULL if there is no more memory. */
void *tr_pool_take(struct tr_pool *pool, size_t bytes);
/* A copy; NULL likewise. */
const char *tr_pool_text(struct tr_pool *pool, const char *text);
void tr_pool_release(struct tr_pool *pool);

/* ---- hist.c ------------------------------------------------------------ */

#define TR_PAGES_ALL 4096u /* pages of the positive doubles */

/* A page, made if needed; NULL: out of memory. */
struct tr_hist_page *tr_hist_page(struct tr_pool *pool, struct tr_hist *hist,
				  uint32_t number);
/* False: out of memory. */
bool tr_hist_merge(struct tr_pool *pool, struct tr_hist *to,
		   const struct tr_hist *from);
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

/* ---- time.c ------------------------------------------------------------ */

/* Ticks of an image's clock to ns since 1970, and back. */
int64_t tr_time_real(const struct tr_image *image, uint64_t ticks);
uint64_t tr_time_ticks(const struct tr_image *image, int64_t real_ns);
/* Now, in the ticks of a live image. */
uint64_t tr_time_now(const struct tr_image *image);

/* ---- open.c ------------------------------------------------------------ */

/* "live", "finished", "killed" */
const char *tr_run_state_name(enum tare_run_state state);
int tr_view_open_image(struct tr_image *image, tare_view **ret_view);
double tr_view_ns(const tare_view *view, double ticks);
/* What the process said about itself by this name; "": nothing. */
const char *tr_view_meta(tare_view *view, const char *name);
/* The same for a duration, whatever the file says it is; to the nearest. */
uint64_t tr_view_duration_ns(const tare_view *view, uint64_t ticks);

/* ---- times.c ----------------------------------------------------------- */

struct tr_times {
	double own, total, net_own, net_total; /* ticks */
	double scale; /* for net times of what is inside */
};

/* Of every path of `g`, by index; [0] is the whole. */
void tr_path_times(const struct tr_gather *g, const struct tr_header *h,
		   struct tr_times *out);
/* Is a path of the same site or function above it? */
bool tr_path_recurs(const struct tr_gather *g, uint32_t index);
/* Of every site; recursion counts once in a total. Gives (free). */
struct tr_times *tr_site_times(const tare_view *view);

/* ---- pending.c --------------------------------------------------------- */

/*
 * The next entry that is in the log but not in its cells yet. *position is
 * 0 before the first. False at the end.
 */
bool tr_pending(const struct tr_image *image, const struct tr_track *track,
		uint64_t *position, const struct tr_entry **ret_entry);
/*
 * A track's open node at `off`, which is track->current first and then
 * tr_open_outer() of the one before; NULL: there are no more. *n counts.
 */
const struct tr_node *tr_open_node(const struct tr_image *image,
				   const struct tr_track *track, uint32_t off,
				   uint32_t *n);
uint32_t tr_open_outer(const struct tr_node *node);
/*
 * Ticks at which what is open there began; 0: it is not known. *ret_open is
 * false of a function that was left.
 */
uint64_t tr_open_since(const struct tr_image *image,
		       const struct tr_track *track,
		       const struct tr_node *node, bool *ret_open);

/* ---- find.c ------------------------------------------------------------ */

/* Path of the ledger meant by `which`. */
int tr_runs_find(const char *which, char *path, size_t size);
/* Ledger mapped by a live process, seen from here; suffix ".tare". */
int tr_runs_of_process(int64_t pid, const char *suffix, char *path,
		       size_t size);

#endif
