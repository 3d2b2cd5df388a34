/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: a program that works in steps says so once a step, and gets a line
 * in its own log every metrics_log_interval steps, and a look for leaks
 * every memory_cleanup_check_interval.
 *
 *	for (int i = 0; i < n; i++) {
 *		train_one_batch();
 *		TARE_STEP();
 *	}
 *
 * A step is counted (steps), timed from the end of the one before it (step,
 * of which the first has no time) and, with items, a throughput. About 60 ns;
 * what takes longer is done rarely, and takes a thousandth of the time at
 * most. Any thread, also several at once; not for signal handlers.
 */
#ifndef TARE_STEP_H
#define TARE_STEP_H

#include <tare/api.h>
#include <tare/error.h>
#include <tare/probe.h>
#include <tare/train.h>

TARE_BEGIN

/*
 * Traces on a schedule: of a kind of steps, leave out `wait`, get ready for
 * `warm_up`, keep all events of `record`, write them as a Chrome trace to
 * FOLDER/<name>_step_<number>.json, and again. Steps without a name have the
 * program's. The file is written by the monitor's thread, so that the next
 * step does not wait. Only whole turns are written.
 *
 * Events are kept in a ring a thread (trace_events), which is made when the
 * first warm-up begins; of more than it holds the newest are in the file.
 */
typedef struct tare_trace_plan {
	uint32_t struct_size;	/* sizeof(tare_trace_plan) */
	const char *step;	/* name of the steps; NULL: all kinds, each */
	uint64_t wait, warm_up;
	uint64_t record;	/* at least 1 */
	uint64_t repeat;	/* files; 0: without end */
	const char *folder;	/* NULL: profiler_trace_dir */
	uint64_t keep;		/* newest files; 0: as profiler_keep says */
} tare_trace_plan;

TARE_END

#ifndef TARE_DISABLE

TARE_BEGIN

TARE_API void tare_step_done(uint64_t items);	/* items: samples, 0: none */
#define TARE_STEP() tare_step_done(0)
#define TARE_STEP_ITEMS(n) tare_step_done(n)

/*
 * The same of one kind, where a program has several: train, evaluate. Each of
 * up to 15 names (63 bytes) is counted by itself, and is a label of `step`.
 */
TARE_API void tare_step_named(const char *name, uint64_t items);
#define TARE_STEP_NAMED(name) tare_step_named(name, 0)

/*
 * From the next step on, over what the options say; one plan a name, eight in
 * all. Borrows the plan. NULL: no plan any more. Any thread, before and after
 * the start of measuring. 0, TARE_EINVAL, or TARE_EFULL.
 */
TARE_API TARE_MUST_CHECK int tare_trace_schedule(const tare_trace_plan *plan);

/*
 * What the leak check knows of one kind of memory. It is a leak if it goes on
 * growing: after the first third of the run, beyond noise, also at what the
 * program comes back to after each collection of garbage, and not by one or
 * two steps alone. Below 32 samples nothing is known and all numbers are 0.
 */
typedef struct tare_leak {
	const char *what;	/* "rss", "heap", "gpu0", the caller's name */
	uint64_t samples;
	double growth;		/* bytes a step (Theil-Sen) */
	double growth_low, growth_high; /* 95 % of the slopes */
	double confidence;	/* 0..1 that it grows at all */
	bool is_leak;
} tare_leak;

/*
 * Looks now, at the memory of the steps so far; how many kinds there are,
 * filling at most `size`. 0 without steps, or while measuring is off.
 */
TARE_API size_t tare_leak_check(tare_leak *ret_leaks, size_t size);

/*
 * The check alone, for any series of numbers of one's own, whether measuring
 * is on or not. 16 KiB each, however many are added. One thread at a time.
 */
typedef struct tare_leak_series tare_leak_series;
/* NULL: no memory. Free with tare_leak_series_free(). */
TARE_API tare_leak_series *tare_leak_series_new(const char *what);
TARE_API void tare_leak_series_free(tare_leak_series *series);
TARE_API void tare_leak_series_add(tare_leak_series *series, double bytes);
/* 0 or TARE_EINVAL. `what` belongs to the series. */
TARE_API int tare_leak_series_look(const tare_leak_series *series,
				   tare_leak *ret_leak);

TARE_END
#endif

#endif
