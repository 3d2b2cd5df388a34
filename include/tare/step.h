/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: a program reports each step of its main loop. It gets a log line every
 * metrics_log_interval steps and a leak check every
 * memory_cleanup_check_interval.
 *
 *	for (int i = 0; i < n; i++) {
 *		train_one_batch();
 *		TARE_STEP();
 *	}
 *
 * A step is counted (series steps) and timed from the end of the previous one
 * (series step; the first step has no time). With items it also has a
 * throughput. A call takes about 60 ns; longer work is rare and takes at most a
 * thousandth of the time. Any thread, also several at once; not for signal
 * handlers.
 */
#ifndef TARE_STEP_H
#define TARE_STEP_H

#include <tare/api.h>
#include <tare/error.h>
#include <tare/probe.h>
#include <tare/train.h>

TARE_BEGIN

/*
 * Traces on a schedule, for one kind of steps: skip `wait` steps, prepare for
 * `warm_up` steps, record all events for `record` steps, write them as a Chrome
 * trace to FOLDER/<name>_step_<number>.json, and start again. Steps without a
 * name use the program's. The monitor thread writes the file, so that the next
 * step does not wait. Only complete turns are written.
 *
 * Events are kept in one ring per thread (trace_events), allocated when the
 * first warm-up begins. If there are more, the file has the newest.
 */
typedef struct tare_trace_plan {
	uint32_t struct_size;	/* sizeof(tare_trace_plan) */
	const char *step;	/* name of the steps; NULL: each kind */
	uint64_t wait, warm_up;
	uint64_t record;	/* at least 1 */
	uint64_t repeat;	/* number of files; 0: no limit */
	const char *folder;	/* NULL: profiler_trace_dir */
	uint64_t keep;		/* newest files that are kept; 0:
				 * profiler_keep */
} tare_trace_plan;

TARE_END

#ifndef TARE_DISABLE

TARE_BEGIN

TARE_API void tare_step_done(uint64_t items);	/* items: samples; 0: none */
#define TARE_STEP() tare_step_done(0)
#define TARE_STEP_ITEMS(n) tare_step_done(n)

/*
 * The same for named steps, if a program has several kinds: train, evaluate.
 * Each of up to 15 names (63 bytes) has counts of its own, as a label of
 * `step`.
 */
TARE_API void tare_step_named(const char *name, uint64_t items);
#define TARE_STEP_NAMED(name) tare_step_named(name, 0)

/*
 * Sets a plan from the next step on, instead of the options; one plan per name,
 * eight in all. Borrows the plan. NULL removes all plans. Any thread, before
 * and after the start of measuring. Returns 0, TARE_EINVAL, or TARE_EFULL.
 */
TARE_API TARE_MUST_CHECK int tare_trace_schedule(const tare_trace_plan *plan);

/*
 * Result of the leak check for one kind of memory. It is a leak if it keeps
 * growing: after the first third of the run, beyond noise, also at the level
 * after each garbage collection, and not because of one or two steps. Below 32
 * samples nothing is known and all numbers are 0.
 */
typedef struct tare_leak {
	const char *what;	/* "rss", "heap", "gpu0", the caller's name */
	uint64_t samples;
	double growth;		/* bytes per step (Theil-Sen) */
	double growth_low, growth_high; /* 95 % interval of the slope */
	double confidence;	/* probability of growth, 0..1 */
	bool is_leak;
} tare_leak;

/*
 * Checks the memory of the steps so far. Returns the number of kinds, and fills
 * at most `size`. 0 without steps, or while measuring is off.
 */
TARE_API size_t tare_leak_check(tare_leak *ret_leaks, size_t size);

/*
 * The leak check for any series of numbers, whether measuring is on or not. A
 * series takes 16 KiB for any count of numbers. One thread at a time.
 */
typedef struct tare_leak_series tare_leak_series;
/* NULL: out of memory. Free with tare_leak_series_free(). */
TARE_API tare_leak_series *tare_leak_series_new(const char *what);
TARE_API void tare_leak_series_free(tare_leak_series *series);
TARE_API void tare_leak_series_add(tare_leak_series *series, double bytes);
/* Returns 0 or TARE_EINVAL. `what` belongs to the series. */
TARE_API int tare_leak_series_look(const tare_leak_series *series,
				   tare_leak *ret_leak);

TARE_END
#endif

#endif
