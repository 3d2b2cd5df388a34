/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compare: training runs side by side, one process against many.
 *
 *	tare_comparison *c;
 *	const tare_compared *result;
 *
 *	tare_comparison_new(&c);
 *	tare_comparison_add_file(c, "results/sequential_metrics.csv", NULL);
 *	tare_comparison_add_file(c, "results/mpi_4_metrics.csv", NULL);
 *	if (tare_compare(c, NULL, &result) == 0)
 *		... result->configs[1].speedup.mean ...
 *	tare_comparison_write(c, TARE_COMPARED_HTML, write, arg);
 *	tare_comparison_free(c);
 *
 * Runs of one configuration are repeats: their figures are means with a 95 %
 * confidence interval (Student's t). docs/formats/compare.md explains how each
 * figure is computed. One thread at a time for each object; not for signal
 * handlers.
 */
#ifndef TARE_READ_COMPARE_H
#define TARE_READ_COMPARE_H

#include <tare/api.h>
#include <tare/error.h>
#include <tare/read/run_file.h>
#include <tare/read/view.h>

TARE_BEGIN

/* ---- single figures ---------------------------------------------------- */

/*
 * sequential / parallel, for two times in the same unit. NAN: one of them is
 * not a number above 0.
 */
TARE_API double tare_speedup(double sequential_time, double parallel_time);
/* Percent of the total time. NAN: no total, or an impossible time. */
TARE_API double tare_communication_cost(double comm_time, double total_time);

/* ---- input ------------------------------------------------------------- */

typedef struct tare_comparison tare_comparison;

/* Gives the comparison (free with tare_comparison_free). */
TARE_API TARE_MUST_CHECK int
tare_comparison_new(tare_comparison **ret_comparison);
TARE_API void tare_comparison_free(tare_comparison *comparison);

/*
 * Adds a run CSV file. The configuration comes from its comments, else from its
 * name. A file that was already added is not added again, nor is the file of a
 * training that was. On an error nothing is added; TARE_EFORMAT: ret_problem
 * (may be NULL) says why.
 */
TARE_API TARE_MUST_CHECK int
tare_comparison_add_file(tare_comparison *comparison, const char *path,
			 tare_run_problem *ret_problem);

/*
 * Adds a measured run: the trainings in it, or without any, one row with a
 * duration. Of the workers of one training only the first that is added counts,
 * because each has the rows of all. Borrows the view during the call.
 */
TARE_API TARE_MUST_CHECK int
tare_comparison_add_view(tare_comparison *comparison, tare_view *view);

/*
 * Adds the ranks of a job, see tare_job_open(), as one run: their training, or
 * one row if they have none. TARE_ENOENT: no view is a rank.
 */
TARE_API TARE_MUST_CHECK int
tare_comparison_add_job(tare_comparison *comparison, tare_view *const *views,
			size_t n);

/* A run from another source. Everything is copied. */
typedef struct tare_compare_source {
	uint32_t struct_size;	/* sizeof(tare_compare_source) */
	uint32_t workers;	/* 0: the number at the end of `config`, or 1 */
	const char *config;
	const char *origin;	/* origin as text for people; NULL: "" */
	const tare_run_row *rows;
	size_t n_rows;
	uint64_t n_epochs;	/* if rows are only the newest; 0: all */
	uint32_t columns;	/* as in tare_run_table */
	bool is_cut;		/* killed, or still running */
	double total_training_time; /* 0: the sum of all rows */
	double comm_share;	/* 0..1, if there are no rows; NAN: unknown */
	double peak_memory_mb;	/* if there are no rows; 0: unknown */
	const char *const *pairs; /* configuration: each key, then its value */
	size_t n_pairs;
} tare_compare_source;

TARE_API TARE_MUST_CHECK int
tare_comparison_add(tare_comparison *comparison,
		    const tare_compare_source *source);

/* ---- options ----------------------------------------------------------- */

enum tare_compare_by {
	TARE_COMPARE_BY_ANY = 0,   /* total, or epoch if their numbers differ */
	TARE_COMPARE_BY_TOTAL = 1, /* total training time */
	TARE_COMPARE_BY_EPOCH = 2,
	TARE_COMPARE_BY_PHASE = 3  /* like epoch, and phases are shown */
};

typedef struct tare_compare_options {
	uint32_t struct_size;	/* sizeof(tare_compare_options) */
	uint32_t by;		/* enum tare_compare_by */
	const char *baseline;	/* a configuration; NULL: "sequential" on one
				 * worker, else the one with fewest workers */
	double target_loss;	/* 0: none */
	double target_f1;	/* 0: none */
	const char *title;	/* of the page; NULL: a default */
} tare_compare_options;

/* ---- results ----------------------------------------------------------- */

/* NAN if unknown; low and high are also NAN for a single run. */
typedef struct tare_estimate {
	double mean;
	double low, high;	/* 95 % interval */
	uint32_t n;		/* number of runs */
} tare_estimate;

/* Seconds: of a run, and of an epoch and its phases. */
enum tare_compared_time {
	TARE_TIME_TOTAL,
	TARE_TIME_EPOCH,
	TARE_TIME_FORWARD,
	TARE_TIME_BACKWARD,
	TARE_TIME_COMM,
	TARE_TIME_UPDATE,
	TARE_TIME_OTHER,	/* of an epoch, outside of phases */
	TARE_TIMES
};

/* All runs of one configuration. */
typedef struct tare_compared_config {
	const char *name;
	const char *family;	/* the name without its number of workers */
	uint32_t workers;
	uint32_t n_runs;
	uint64_t epochs_least, epochs_most;
	bool is_baseline;
	bool is_cut;		/* a run was killed or is still running */
	tare_estimate time[TARE_TIMES];
	tare_estimate speedup_of[TARE_TIMES]; /* baseline / this one */
	tare_estimate speedup;	  /* of the time given by `by` */
	tare_estimate efficiency; /* speedup / workers */
	tare_estimate serial;	  /* Karp-Flatt: serial fraction */
	tare_estimate comm_share; /* of the training time, 0..1 */
	tare_estimate to_loss;	  /* seconds until target_loss, */
	tare_estimate to_f1;	  /* target_f1; n: runs that reached it */
	tare_estimate peak_memory_mb; /* of the largest worker */
	tare_estimate loss, train_acc, val_f1, test_f1; /* of the last epoch */
	tare_estimate worker_memory_mb; /* mean of the workers' peaks; n is 0
					 * without a file of each worker */
} tare_compared_config;
TARE_ARRAY_OF_(tare_compared_config)

/* Amdahl's law fitted to the speedups of a family: 1/S = f + (1 - f)/p */
typedef struct tare_compared_fit {
	const char *family;
	uint32_t n_points;	/* configurations with more workers */
	double serial;		/* f */
	double error;		/* its standard error; NAN: one point */
	double residual;	/* root mean square of 1/S minus the law's */
	double most;		/* speedup with unlimited workers: 1/f; infinite
				 * if f is not above 0 */
} tare_compared_fit;
TARE_ARRAY_OF_(tare_compared_fit)

typedef struct tare_compared {
	const tare_compared_config *configs; /* by workers, then as added */
	size_t n_configs;
	size_t baseline;	/* index; n_configs: there is none */
	uint32_t by;		/* the time that speedups are of; never ANY */
	const tare_compared_fit *fits;
	size_t n_fits;
	const char *const *notes; /* remarks on the figures for the reader */
	size_t n_notes;
	const char *summary;	/* the meaning of the figures in sentences */
	bool has_common;	/* at least two have a time in common */
} tare_compared;

/*
 * Compares all runs that were added. `options` may be NULL. The result belongs
 * to the comparison and is valid until the next call. TARE_ENOENT: nothing was
 * added, or there is no such baseline.
 */
TARE_API TARE_MUST_CHECK int tare_compare(tare_comparison *comparison,
					  const tare_compare_options *options,
					  const tare_compared **ret_compared);

enum tare_compared_format {
	TARE_COMPARED_CSV = 1,	/* one row per configuration */
	TARE_COMPARED_JSON = 2,
	TARE_COMPARED_HTML = 3	/* one self-contained page */
};

/* Writes the result of the last tare_compare(). TARE_EIO: `write` stopped. */
TARE_API TARE_MUST_CHECK int
tare_comparison_write(tare_comparison *comparison, uint32_t format,
		      tare_write_fn write, void *arg);

TARE_END
#endif
