/* SPDX-License-Identifier: Apache-2.0 */
/*
 * View: measurements as data. Works for this process, for other live processes,
 * and for finished or killed runs. It trusts no byte of them.
 *
 *	tare_view *view;
 *	if (tare_view_open("12345", &view) == 0) {
 *		... tare_view_stats(view, NULL, &stats, &n) ...
 *		tare_view_close(view);
 *	}
 *
 * A view is a copy of one moment; open a new one to see more. One thread at a
 * time may use a view. Not for signal handlers.
 */
#ifndef TARE_READ_VIEW_H
#define TARE_READ_VIEW_H

#include <tare/api.h>
#include <tare/error.h>
#include <tare/kind.h>

TARE_BEGIN

typedef struct tare_view tare_view;

/*
 * Opens a run: a path of a ledger, which has a slash, a process id, a run id or
 * its beginning as printed by `tare ls`, the name of a program for its newest
 * run, "last" for the newest run (for those of one `tare run`, the run that it
 * reported), or "self". "last~1" and "prog~1" are the runs before, and so on.
 * TARE_EAMBIGUOUS: several runs are meant. Gives the view (free with
 * tare_view_close).
 */
TARE_API TARE_MUST_CHECK int tare_view_open(const char *which,
					    tare_view **ret_view);
TARE_API void tare_view_close(tare_view *view);

enum tare_run_state {
	TARE_RUN_LIVE = 1,     /* its process is running */
	TARE_RUN_FINISHED = 2, /* closed by its process */
	TARE_RUN_KILLED = 3    /* its process ended without closing it */
};

/* Strings belong to the view. Times are ns since 1970, UTC. */
typedef struct tare_run {
	const char *id;
	const char *path;
	const char *command;	/* arguments separated by spaces */
	const char *program;	/* name without its folder */
	const char *host;
	const char *cpu;
	const char *git;	/* revision of the working folder, or "" */
	const char *folder;	/* working folder at the start */
	const char *config;	/* options that differ from their defaults */
	const char *version;	/* of the library that wrote the ledger */
	const char *group;	/* TARE_GROUP: set by `tare run`, or "" */
	enum tare_run_state state;
	int64_t pid;
	uint32_t n_tracks;
	uint32_t n_sites;
	int64_t start_ns;
	int64_t end_ns;		/* now, for a live run */
	int64_t cleared_ns;	/* time of the last clear, or 0 */
	const char *clock;	/* "tsc", "cntvct" or "monotonic" */
	double resolution_ns;	/* smallest step of the clock */
	double inside_ns;	/* part of a scope's cost inside its interval */
	double outside_ns;	/* part of a scope's cost outside of it */
	uint64_t ledger_bytes;	/* memory used for measuring */
	uint64_t ledger_limit;
	uint64_t rss_start;	/* bytes of the process; 0: unknown, as for
				 * children of what `tare run` starts */
	uint64_t rss_end;	/* of a finished run */
	uint64_t rss_peak;	/* when last read */
	const char *damage;	/* parts with a wrong checksum, or "" */
	int64_t parent;		/* process id of its parent; 0: unknown */
} tare_run;

TARE_API const tare_run *tare_view_run(const tare_view *view);

/*
 * Outcome of a call. For statistics: FAILED selects series with failures, OK
 * series without.
 */
enum tare_outcome {
	TARE_OUTCOME_ANY = 0,
	TARE_OUTCOME_OK = 1,
	TARE_OUTCOME_FAILED = 2
};

/*
 * What to select. Zero-filled: everything, over all time. Several patterns of
 * one kind are alternatives; different kinds must all match. Globs: * ? [a-z]
 * and \ to escape.
 */
typedef struct tare_filter {
	uint32_t struct_size;	/* sizeof(tare_filter) */
	uint32_t types;		/* bits 1u << enum tare_type; 0: all */
	const char *const *names;
	size_t n_names;
	const char *const *sources;
	size_t n_sources;
	int64_t from_ns;	/* ns since 1970; 0: the beginning */
	int64_t to_ns;		/* 0: now */
	uint64_t last_values;	/* >0: only the last N values of each site */
	uint32_t outcome;	/* enum tare_outcome */
	uint64_t most_records;	/* >0: only the newest N records */
	uint32_t record_kinds;	/* bits 1u << enum tare_record_kind; 0: all */
} tare_filter;

/* The window that a result really covers. */
typedef struct tare_window {
	int64_t from_ns;
	int64_t to_ns;
	int64_t horizon_ns;	/* slices before this are merged into one */
	uint64_t skew;		/* events stored while a live run was read */
} tare_window;

/*
 * Statistics of one series. Durations in ns; values in their own unit. Raw as
 * measured; net_* minus the cost of measuring, never negative. NAN if there is
 * no figure (no timed call, a counter's mean).
 */
typedef struct tare_stats {
	const char *name;
	const char *source;
	const char *unit;
	const char *labels;	/* "" or k="v",... */
	const char *file;
	uint32_t line;
	uint32_t site;		/* id in this ledger */
	enum tare_kind kind;
	enum tare_type type;
	uint64_t count;		/* calls, exact */
	uint64_t timed;		/* calls of these in the distribution */
	uint64_t failures;
	uint64_t items;
	double total;
	double own;		/* scopes: without the scopes inside */
	double mean;
	double min;		/* min and max are exact; at most 1.1 % off if
				 * in the time slice of a clear */
	double max;
	double p50, p90, p95, p99, p999;
	double net_total;
	double net_own;
	double net_mean;
	double items_per_s;	/* over the calls that have a time */
	double last;		/* gauges: current value; ratios: the ratio */
	bool below_resolution;	/* mean below 3 x the clock's step */
	double success_rate;	/* scopes: 0..1; NAN without calls */
	bool is_estimate;	/* the governor limited what was measured: total
				 * and, once paused, count are scaled to all
				 * calls */
	uint64_t missed;	/* calls while paused, part of `count`: an
				 * estimate */
	uint64_t count_low, count_high; /* `count` is between these in 95 % of
				 * cases; where it is exact, both are it */
} tare_stats;
TARE_ARRAY_OF_(tare_stats)

/*
 * One row per series, most total time first, then by name. Gives an array that
 * belongs to the view and is valid until the next call.
 */
TARE_API TARE_MUST_CHECK int tare_view_stats(tare_view *view,
					     const tare_filter *filter,
					     const tare_stats **ret_stats,
					     size_t *ret_n);

/* Is this a series of the monitor: a gauge of source system, process or gpu? */
TARE_API bool tare_stats_is_monitor(const tare_stats *stats);

/* The window of the last tare_view_stats(). */
TARE_API const tare_window *tare_view_window(const tare_view *view);

/* Quantile 0..1 of series `index` of the last tare_view_stats(). */
TARE_API double tare_view_quantile(const tare_view *view, size_t index,
				   double q);

/*
 * Buckets of series `index`: counts of (lower, upper], ascending. Fills at most
 * `size` and returns how many there are.
 */
typedef struct tare_bucket {
	double lower, upper;
	uint64_t count;
} tare_bucket;

TARE_API size_t tare_view_buckets(const tare_view *view, size_t index,
				  tare_bucket *buckets, size_t size);

/* A series in one window and in the window before it. */
typedef struct tare_trend {
	const tare_stats *now, *before; /* never NULL */
	double change; /* now->mean / before->mean - 1; NAN: unknown */
} tare_trend;
TARE_ARRAY_OF_(tare_trend)

/*
 * The last `window_ns` of the run (or before the filter's to_ns) against the
 * `window_ns` before that; the filter's from_ns is not used. The windows never
 * overlap, although each is widened to whole time slices. A series that is
 * missing in a window has a count of 0 there. Covers scopes and values, in the
 * order of tare_view_stats(). Replaces the array and window of that call (the
 * window is the later one). The array belongs to the view until the next call.
 */
TARE_API TARE_MUST_CHECK int tare_view_trend(tare_view *view,
					     const tare_filter *filter,
					     int64_t window_ns,
					     const tare_trend **ret_trends,
					     size_t *ret_n);

/*
 * Statistics of several runs together. Series with the same name, source,
 * labels, kind and unit are one. Counts, sums, extremes and buckets are exact
 * over all runs; quantiles are within the histogram's error. `last` of a ratio
 * is over all runs, `last` of a gauge is from the run that ended last; `site`
 * is 0. The filter's last_values applies to each run.
 */
typedef struct tare_merge tare_merge;

/*
 * Gives the merge (free with tare_merge_close), which no longer needs the
 * views. Calls tare_view_stats() for each view; rows are in the order of that
 * call.
 */
TARE_API TARE_MUST_CHECK int tare_merge_open(tare_view *const *views, size_t n,
					     const tare_filter *filter,
					     tare_merge **ret_merge);
/*
 * The same for many runs, such as all ranks of a large job: paths of ledgers,
 * and of summaries. They are opened one after another, by as many threads as
 * there are processors: memory grows with the number of series, not of runs.
 * What cannot be read is left out and counted.
 */
TARE_API TARE_MUST_CHECK int tare_merge_files(const char *const *paths,
					      size_t n,
					      const tare_filter *filter,
					      tare_merge **ret_merge);
/* How many runs are in it, and how many could not be read (may be NULL). */
TARE_API uint64_t tare_merge_runs(const tare_merge *merge,
				  uint64_t *ret_unreadable);
/*
 * Writes a summary: a file that tare_merge_files() takes, with the result that
 * the runs themselves would give. One for each host, then one of those.
 */
TARE_API TARE_MUST_CHECK int tare_merge_save(const tare_merge *merge,
					     const char *path);
TARE_API const tare_stats *tare_merge_stats(const tare_merge *merge,
					    size_t *ret_n);
TARE_API double tare_merge_quantile(const tare_merge *merge, size_t index,
				    double q);
TARE_API size_t tare_merge_buckets(const tare_merge *merge, size_t index,
				   tare_bucket *buckets, size_t size);
TARE_API void tare_merge_close(tare_merge *merge);

/*
 * A node of the call tree over all threads: a scope or a function. Children
 * follow, depth first.
 */
typedef struct tare_node {
	const char *name;
	const char *source;
	uint32_t site;
	uint32_t depth;		/* 0: called with no scope open */
	uint64_t calls;
	uint64_t open;		/* calls not finished when the view was taken */
	uint64_t failures;
	uint64_t repaired;	/* left without an end (longjmp, imbalance) */
	double total_ns, own_ns;
	double net_total_ns, net_own_ns;
	double share;		/* of the whole net time, 0..1 */
	bool below_resolution;
	bool is_estimate;	/* as in tare_stats */
	bool is_function;	/* of -finstrument-functions, not a scope: calls
				 * are those that began */
	uint64_t timed;		/* calls with a time; 0: no times are known */
	uint64_t address;	/* of a function; 0: beyond the limit */
	uint32_t module;	/* index in tare_view_modules() */
	uint32_t line;		/* 0 if unknown */
	const char *file;	/* "" if unknown */
	uint64_t calls_low, calls_high; /* as count_low, count_high of
				 * tare_stats */
	bool own_is_estimate;	/* own time is what estimates of what it called
				 * leave; the total may be exact */
} tare_node;
TARE_ARRAY_OF_(tare_node)

TARE_API TARE_MUST_CHECK int tare_view_tree(tare_view *view,
					    const tare_node **ret_nodes,
					    size_t *ret_n);

/* Everything that could make a report incomplete, and the cost of measuring. */
typedef struct tare_health {
	uint64_t events;	 /* measurements stored, all kinds */
	uint64_t lost;		 /* sum of the next four */
	uint64_t lost_no_track;	 /* no room for a thread */
	uint64_t lost_no_space;	 /* no room for a series of a thread */
	uint64_t lost_busy;	 /* signal handlers nested too deeply */
	uint64_t lost_damage;	 /* times the ledger was truncated */
	uint64_t lost_records;	 /* records with no block for them */
	uint64_t cleared;	 /* measurements removed by the last clear */
	uint64_t overflow_sites; /* names beyond max_sites */
	uint64_t overflow_calls; /* calls that went to the overflow series */
	uint64_t overflow_nodes; /* paths beyond max_nodes */
	uint64_t repairs;	 /* scopes closed without their end */
	uint64_t stray_ends;	 /* ends without a scope */
	uint64_t clock_steps;	 /* negative or absurd durations, set to 0 */
	uint64_t unbucketed;	 /* counted, but without a bucket */
	uint64_t redone;	 /* updates cut short by a kill, completed */
	uint64_t records;	 /* kept now: operations, samples, and single
				  * measurements */
	uint64_t records_trimmed; /* operations dropped for newer ones */
	uint64_t history_room;	 /* about how many operations fit, if the
				  * ledger's limit allows fewer than
				  * max_history_size; else 0 */
	uint64_t trace_events;	 /* in the rings now */
	uint64_t trace_dropped;	 /* overwritten or discarded */
	uint64_t threads;	 /* that ever measured */
	uint64_t damaged;	 /* inconsistencies that the reader skipped */
	double measuring_ns;	 /* cost: calls x cost of a call, monitor_ns
				  * and sampling_ns */
	double monitor_ns;	 /* CPU time of the monitor thread */
	double measuring_share;	 /* of the CPU time, if it was read; else of the
				  * recorded time of all threads, 0..1 */
	double measuring_limit;	 /* performance_threshold; 0: none */
	double measuring_now;	 /* share at the governor's last check */
	double measuring_thread; /* and of the thread with the highest share */
	uint64_t governed;	 /* sites not measured in full now */
	uint64_t governed_ever;	 /* and at any time so far */
	uint64_t governor_actions; /* changes of a site's level */
	uint64_t missed;	 /* calls while paused, estimated */
	double sampling_ns;	 /* taking stack samples */
	double measuring_low_ns; /* measuring_ns is in this interval, with a */
	double measuring_high_ns; /* probability of about 95 % */
	uint64_t tried;		 /* calls counted without a time, to measure
				  * what timing costs: at most 1 % */
	const char *measuring_by; /* what the cost of probes is known by:
				  * "trials", "samples" or "calibration" */
	double measuring_calls_ns; /* by calls x the cost of a call */
	double measuring_samples_ns; /* by samples in tare's code; NAN: there
				  * are none. Both without monitor_ns and
				  * sampling_ns */
} tare_health;

TARE_API const tare_health *tare_view_health(const tare_view *view);

typedef struct tare_attr_value {
	const char *key;
	enum tare_attr_type type;
	int64_t i;
	double d;
	const char *s;
} tare_attr_value;

/* What a record is. Stored in ledgers: numbers are never reused. */
enum tare_record_kind {
	TARE_RECORD_OPERATION = 1, /* a call of an operation */
	TARE_RECORD_MEMORY = 2,	   /* memory at one moment */
	TARE_RECORD_GPU = 3,	   /* the GPU at one moment */
	TARE_RECORD_GOVERNOR = 4,  /* a site is measured less, or in full */
	/* Single measurements; which kinds are kept: option `keep_kinds`. */
	TARE_RECORD_VALUE = 5,
	TARE_RECORD_GAUGE = 6,	   /* the value set, or after an addition */
	TARE_RECORD_COUNTER = 7,   /* the number added */
	TARE_RECORD_RATIO = 8,	   /* part / whole */
	TARE_RECORD_SCOPE = 9	   /* a call of a scope, not an operation */
};

#define TARE_RECORD_KINDS 10 /* larger than all of them */

/*
 * One record. Strings belong to the view. Values and gauges have the time of
 * their thread's last clock read: usually right to a millisecond, but after a
 * pause up to 63 values may have the time before it. Their order within a
 * thread is right.
 */
typedef struct tare_record {
	const char *name;
	const char *source;
	uint32_t site;
	int64_t thread;
	int64_t start_ns;	/* ns since 1970 */
	uint64_t duration_ns;
	bool ok;
	bool truncated;		/* some attributes or text did not fit */
	const char *error;	/* "" if none */
	const tare_attr_value *attrs;
	size_t n_attrs;
	enum tare_record_kind kind;
	enum tare_type type;
	double value;		/* in `unit`; a duration in ns; NAN: none */
	const char *unit;	/* "" if none */
	const char *labels;	/* "" or k="v",... */
} tare_record;
TARE_ARRAY_OF_(tare_record)

/* "operation", "memory", "gpu", "governor", "value", "gauge", ... */
TARE_API const char *tare_record_kind_name(enum tare_record_kind kind);
/* "time", "throughput", "memory", "counter", "ratio", "percentage", ... */
TARE_API const char *tare_type_name(enum tare_type type);

/*
 * Oldest first: at most max_history_size records of operations, memory and
 * GPUs, and single measurements; without a filter, at most twice
 * max_history_size in all. `filter` (NULL: all) selects by names, sources,
 * types, outcome and start in [from_ns, to_ns), and then the newest
 * most_records. Gives an array that belongs to the view and is valid until the
 * next call with a filter.
 */
TARE_API TARE_MUST_CHECK int tare_view_records(tare_view *view,
					       const tare_filter *filter,
					       const tare_record **ret_records,
					       size_t *ret_n);

/* A thread that measured. The name is the kernel's, or "". */
typedef struct tare_thread {
	int64_t id;
	char name[16];
} tare_thread;
TARE_ARRAY_OF_(tare_thread)

/* Threads that have a track now. The array belongs to the view. */
TARE_API TARE_MUST_CHECK int tare_view_threads(tare_view *view,
					       const tare_thread **ret_threads,
					       size_t *ret_n);

/*
 * One event of the trace rings, if tracing is on. Two events of a thread are
 * nested or disjoint, to the nanosecond, unless one `overlaps`: a step, or a
 * scope of a fiber.
 */
typedef struct tare_event {
	const char *name;
	uint32_t site;
	uint32_t depth;
	int64_t thread;
	int64_t start_ns;
	uint64_t duration_ns;
	bool ok;
	uint64_t address;	/* of a function; 0: a scope */
	uint32_t module;	/* index in tare_view_modules() */
	bool overlaps;
} tare_event;
TARE_ARRAY_OF_(tare_event)

/* In order of their start. */
TARE_API TARE_MUST_CHECK int tare_view_events(tare_view *view,
					      const tare_event **ret_events,
					      size_t *ret_n);

/* Text report, and the same report as one JSON document. */
enum tare_report_parts {
	TARE_REPORT_HEAD = 1 << 0,
	TARE_REPORT_TREE = 1 << 1,
	TARE_REPORT_FLAT = 1 << 2,
	TARE_REPORT_HEALTH = 1 << 3,
	TARE_REPORT_PROFILE = 1 << 4, /* sampled stacks, by function */
	TARE_REPORT_STAGES = 1 << 5,  /* pipelines, see pipeline.h */
	TARE_REPORT_ALLOCS = 1 << 6,  /* see alloc.h */
	TARE_REPORT_TRAININGS = 1 << 8, /* see train.h */
	TARE_REPORT_ALL = 33151,
	TARE_REPORT_FRAMES = 1 << 7,  /* sampled stacks, as a tree */
	/* The most important of all parts, in about 40 lines. */
	TARE_REPORT_ANSWER = 1 << 9,
	/* The tables of TARE_REPORT_FLAT alone. */
	TARE_REPORT_SCOPES = 1 << 10,
	TARE_REPORT_VALUES = 1 << 11,
	TARE_REPORT_COUNTERS = 1 << 12,
	TARE_REPORT_MONITOR = 1 << 13,
	TARE_REPORT_RECORDS = 1 << 14,
	TARE_REPORT_GPU = 1 << 15 /* kernels and copies, see gpu.h */
};

typedef struct tare_report_options {
	uint32_t struct_size;
	uint32_t parts;		/* 0: the answer; as JSON: all */
	const tare_filter *filter;
	const char *sort;	/* total own calls mean max p99 failures name
				 * samples; cumtime and cumulative mean
				 * total, tottime and time mean own, ncalls
				 * means calls */
	size_t top;		/* rows of the flat table; 0: all */
	unsigned width;		/* columns of the terminal; 0: 100 */
	bool color;
	bool raw;		/* do not subtract the cost of measuring */
	double factor;		/* pipelines: speedup to assume; 0: 2 */
	double min_share;	/* trees: leave out rows below; 0: all */
	uint32_t max_depth;	/* trees: levels; 0: all */
	const char *focus;	/* trees: a glob; only what is at and below
				 * rows of that name; NULL: all */
	bool inlined;		/* inlined functions in rows of their own */
} tare_report_options;

TARE_API TARE_MUST_CHECK int
tare_view_report(tare_view *view, const tare_report_options *options,
		 tare_write_fn write, void *arg);
TARE_API TARE_MUST_CHECK int
tare_view_json(tare_view *view, const tare_report_options *options,
	       tare_write_fn write, void *arg);

/* Checks a ledger's structure. Calls `problem` for each; returns how many. */
TARE_API TARE_MUST_CHECK int
tare_verify(const char *path, void (*problem)(void *arg, const char *text),
	    void *arg);

/* Runs of this user on this host, newest first. Free with tare_runs_free. */
typedef struct tare_run_entry {
	char id[48];
	char path[512];
	char program[64];
	char group[48];
	enum tare_run_state state;
	int64_t pid;
	int64_t start_ns;
	int64_t end_ns;
	uint64_t bytes;
	bool has_trainings; /* tare_view_trainings() has some */
} tare_run_entry;
TARE_ARRAY_OF_(tare_run_entry)

TARE_API TARE_MUST_CHECK int tare_runs_list(tare_run_entry **ret_runs,
					    size_t *ret_n);
/*
 * The same, from the heads of the files only: the end of a killed run is 0,
 * because only its whole ledger shows it.
 */
TARE_API TARE_MUST_CHECK int tare_runs_scan(tare_run_entry **ret_runs,
					    size_t *ret_n);
TARE_API void tare_runs_free(tare_run_entry *runs);

/*
 * Moves ledgers of ended processes to the folder of runs and applies the
 * `keep_runs` policy there. Returns how many were moved or removed.
 */
TARE_API int tare_runs_sweep(void);

/*
 * Another process, by id: switch it on or off, set a live option, clear. Needs
 * no thread in that process. TARE_EOFF: it has no control page and cannot be
 * reached; TARE_EDEAD: it has ended.
 */
TARE_API TARE_MUST_CHECK int tare_remote_enable(int64_t pid, bool on);
TARE_API TARE_MUST_CHECK int
tare_remote_set(int64_t pid, const char *name, const char *value);
TARE_API TARE_MUST_CHECK int tare_remote_clear(int64_t pid);
/*
 * Starts and stops only the background samples of the process: memory and GPUs
 * by the options memory_sample_interval, enable_memory_tracking and
 * enable_gpu_tracking, and the parts of its option `monitor`. A process without
 * a monitor thread creates it at its next probe. TARE_EOFF also if measuring is
 * switched off.
 */
TARE_API TARE_MUST_CHECK int tare_remote_monitor(int64_t pid, bool on);

/* Is it on; and the current value of an option there, as text (its length). */
TARE_API TARE_MUST_CHECK int tare_remote_is_enabled(int64_t pid, bool *ret_on);
TARE_API TARE_MUST_CHECK int
tare_remote_get(int64_t pid, const char *name, char *value, size_t size);

TARE_END
#endif
