/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/jobs/: the ranks of an MPI program side by side, and how long
 * each waits for the others; the stages of an application of Spark.
 *
 * Comes in: views of all ranks; rows of statistics. Goes out: a tare_job, the
 * cost of communication; a tr_spark. Called by: read/judge, render/timeline,
 * render/report, cli.
 */
#ifndef TR_READ_JOBS_H
#define TR_READ_JOBS_H

#include <tare/read/communication.h>

#include "read/view.h"

/* ---- arrivals.c -------------------------------------------------------- */

/*
 * Seconds that each rank of the job waited in the collective `name` for the
 * last one to arrive, from the ranks' events. False: a rank has not kept all
 * of its calls, or they do not match; then nothing is filled.
 */
bool tr_arrivals_find(const tare_job *job, tare_view *const *views,
		      const char *name, uint64_t calls, double *ret_seconds);

/* ---- spark.c ----------------------------------------------------------- */

#define TR_SPARK_STAGES_MOST 256u
#define TR_SPARK_ACTIONS_MOST 256u

/* Parts of a task's time. CPU and GC are within RUN, as are FETCH and WRITE. */
enum tr_spark_part {
	TR_SPARK_RUN,
	TR_SPARK_CPU,
	TR_SPARK_GC,
	TR_SPARK_DESERIALIZE, /* of the task's code */
	TR_SPARK_SERIALIZE,   /* of its result */
	TR_SPARK_RESULT,      /* fetched by the driver, if it is large */
	TR_SPARK_FETCH,	      /* waiting for rows of other executors */
	TR_SPARK_WRITE,	      /* rows for other tasks */
	TR_SPARK_SCHEDULER,
	TR_SPARK_PARTS
};

enum tr_spark_bytes {
	TR_SPARK_SHUFFLE_READ,
	TR_SPARK_SHUFFLE_WRITE,
	TR_SPARK_RESULT_BYTES,
	TR_SPARK_INPUT,
	TR_SPARK_OUTPUT,
	TR_SPARK_SPILLED,
	TR_SPARK_BYTES
};

/* All attempts of the stages with one call site, for one action. */
struct tr_spark_stage {
	const char *name, *labels; /* of the rows */
	char action[256];
	uint64_t tasks, failed, attempts;
	double wall_s, task_s;
	double median_s, slowest_s; /* tasks of all attempts */
	double skew; /* slowest over median task of the worst attempt; 0: not
		      * known */
	double part_s[TR_SPARK_PARTS];
	double bytes[TR_SPARK_BYTES];
};

struct tr_spark_action {
	const char *name; /* of the row */
	uint64_t jobs, failed;
	double wall_s;
};

/* Texts borrow from the rows. Longest first. */
struct tr_spark {
	uint64_t n_apps; /* 0: only what a driver noted itself */
	char name[256], app[256], version[64];
	double elapsed_s, in_jobs_s;
	/* Counts, from gauges. */
	double ended, executors, cores, jobs, jobs_failed;
	double stages, stages_retried, stages_failed;
	double tasks, tasks_failed, tasks_killed, tasks_retried;
	double tasks_speculative, executors_lost, fetch_failed;
	double lost_lines, damaged_files, is_cut;
	double broadcast_s, broadcast_bytes;
	uint64_t broadcasts;
	double task_s, part_s[TR_SPARK_PARTS];
	size_t n_stages, n_actions;
	struct tr_spark_stage stage[TR_SPARK_STAGES_MOST];
	struct tr_spark_action action[TR_SPARK_ACTIONS_MOST];
};

/* Gives; free() it. NULL in `ret`: there is no application in these rows. */
int tr_spark_find(const tare_stats *rows, size_t n, struct tr_spark **ret);

/* Of a task's parts: they add up to its time, but for rounding. */
double tr_spark_compute(const double *part_s);
double tr_spark_communication(const double *part_s);
double tr_spark_overhead(const double *part_s);

#endif
