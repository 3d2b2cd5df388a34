/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipelines as data: statistics of the stages of stage.h, in the order in which
 * records pass through them, and the bottleneck.
 *
 *	const tare_pipeline *lines;
 *	size_t n;
 *	if (tare_view_pipelines(view, 2, &lines, &n) == 0) ...
 *
 * Times are net of the cost of measuring.
 */
#ifndef TARE_READ_PIPELINE_H
#define TARE_READ_PIPELINE_H

#include <tare/api.h>
#include <tare/read/view.h>

TARE_BEGIN

/* Durations in ns. NAN if nothing was timed. */
typedef struct tare_latency {
	uint64_t n;
	double mean, p50, p95, p99, max;
} tare_latency;

/* One stage, over all threads. NAN if a figure is unknown. */
typedef struct tare_stage_stats {
	const char *name;
	const char *file;
	uint32_t line;
	uint32_t site;		/* id in this ledger */
	bool is_pull;		/* it is asked for records; else called */
	bool is_source;		/* no input: it creates its records */
	bool is_estimate;	/* the governor limited what was timed */
	bool is_bottleneck;
	uint32_t threads;	/* number of threads that it ran in */
	uint64_t calls;
	uint64_t failures;
	uint64_t in, out;
	uint64_t dropped;	/* in - out; 0 if more go out */
	double passed;		/* out / in */
	double total_ns;	/* own, other stages and waiting; for a pull
				 * stage also `downstream_ns` */
	double own_ns;
	double downstream_ns;	/* in the stages behind it */
	double upstream_ns;	/* in the stages before it */
	double waiting_ns;	/* TARE_STAGE_WAIT */
	double own_per_record;	/* own_ns / out, or / in if none went out */
	double throughput_rps;	/* out / total_ns; 0: none */
	double busy;		/* own time / time of its threads, 0..1 */
	double share;		/* own time / that of the pipeline, 0..1 */
	double gain;		/* of the pipeline's throughput, if this stage
				 * were `factor` times as fast: 0.5 is half as
				 * much again */
	double gain_most;	/* gain if the stage took no time */
	tare_latency latency;	/* of its calls */
	tare_latency recent;	/* of its last 100 calls */
	tare_latency downstream; /* from a record to the next request */
	tare_latency queue;	/* waiting in the queue in front of it */
	double depth_mean, depth_max, depth_now; /* of that queue */
} tare_stage_stats;
TARE_ARRAY_OF_(tare_stage_stats)

/* The stages of one TARE_PIPELINE. Strings and arrays belong to the view. */
typedef struct tare_pipeline {
	const char *name;	/* "" for stages without one */
	const tare_stage_stats *stages;
	size_t n_stages;
	size_t bottleneck;	/* index of a stage; n_stages: none */
	size_t next;		/* the bottleneck if that stage took no time */
	uint32_t threads;
	uint64_t in, out;	/* of its first and last stages */
	uint64_t failures;
	double own_ns;		/* of all stages */
	double wall_ns;		/* from the first record to the last */
	double throughput_rps;	/* out / wall_ns; 0: none */
	double factor;		/* the argument of the call */
} tare_pipeline;
TARE_ARRAY_OF_(tare_pipeline)

/*
 * In the order of their first record. `factor` (0: 2) is for `gain`. Threads
 * work in parallel, so the busiest one limits the pipeline. Gives an array that
 * belongs to the view and is valid until the next call.
 */
TARE_API TARE_MUST_CHECK int
tare_view_pipelines(tare_view *view, double factor,
		    const tare_pipeline **ret_pipelines, size_t *ret_n);

TARE_END
#endif
