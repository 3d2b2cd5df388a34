/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication: the time that a process of a parallel program spends on
 * communication, and all processes of a job side by side.
 *
 * `tare run` measures MPI calls in unmodified programs. A program can also mark
 * its communication itself, by scopes or phases named communication, broadcast
 * or gradient_aggregation. Workers of a training (tare/train.h) count as ranks
 * without MPI.
 */
#ifndef TARE_READ_COMMUNICATION_H
#define TARE_READ_COMMUNICATION_H

#include <tare/read/view.h>

TARE_BEGIN

/*
 * One process. Times are sums over its threads. MPI_Init, MPI_Finalize and the
 * creation of communicators and windows are setup, not communication. Strings
 * belong to the view.
 */
typedef struct tare_communication {
	uint32_t rank, ranks;	/* 0 of 1 if nothing is known */
	const char *job;	/* name, the same on all ranks; or "" */
	double comm_seconds;	/* in calls that communicate */
	double wait_seconds;	/* part of it in waits and blocking receives */
	uint64_t calls;
	uint64_t bytes;		/* that this process passed to MPI */
	double offset_s;	/* its wall clock minus that of rank 0 */
	double offset_error_s;	/* largest error of offset_s */
	double setup_seconds;
	uint64_t received_bytes; /* by blocking receives */
	bool is_mpi;		/* false: from scopes of these names; rank,
				 * ranks and job from a training */
	bool has_parts;		/* collectives of some of the ranks only */
	bool has_barriers;	/* mpi_barrier was on: arrivals were timed */
	bool is_estimate;	/* the governor limited what was timed */
	bool is_aborted;	/* this process called MPI_Abort */
	int abort_code;
} tare_communication;

/*
 * TARE_ENOENT: no known form of communication. Replaces the array and the
 * window of tare_view_stats().
 */
TARE_API TARE_MUST_CHECK int
tare_view_communication(tare_view *view, tare_communication *ret);

/*
 * Converts the times of a rank to rank 0's clock, so that runs of several hosts
 * can be put in order. Call it before any other query of the view: results that
 * were already returned are not changed. Does nothing for runs without ranks.
 */
TARE_API TARE_MUST_CHECK int tare_view_align(tare_view *view);

/* How the waiting in blocking collectives was determined. */
enum tare_waiting {
	TARE_WAITING_UNKNOWN = 0,  /* not determined, and left out */
	TARE_WAITING_ESTIMATE = 1, /* time beyond that of the rank with the
				    * least time in the same function: too low
				    * if ranks are late in turns */
	TARE_WAITING_TIMELINE = 2, /* from the arrivals of calls in a trace */
	TARE_WAITING_BARRIER = 3   /* timed by the option mpi_barrier */
};

/* A rank: one process of a job. */
typedef struct tare_job_rank {
	size_t view;		/* index of its view */
	tare_communication comm; /* wait_seconds includes collectives */
	double elapsed_seconds;
	double compute_seconds;	/* elapsed minus setup and communication */
	uint64_t peak_bytes;	/* of memory; 0: unknown */
	enum tare_run_state state;
	int64_t end_ns;		/* on rank 0's clock */
} tare_job_rank;
TARE_ARRAY_OF_(tare_job_rank)

/* One MPI function over all ranks. Strings belong to the views. */
typedef struct tare_job_call {
	const char *name;
	const char *source;	/* "mpi.collective" and so on */
	uint32_t n_ranks;	/* ranks that called it */
	uint64_t calls;
	uint64_t bytes;		/* sent; for receives: received */
	double seconds;		/* of all ranks */
	double wait_seconds;	/* part of it; NAN: unknown */
	double least_seconds;	/* of the rank with the least time in it */
	double most_seconds;
	bool is_estimate;
} tare_job_call;
TARE_ARRAY_OF_(tare_job_call)

typedef struct tare_job {
	const char *name;	/* of the job */
	uint32_t ranks;		/* of the job; above n_ranks: some missing */
	tare_job_rank *rank;	/* the ranks that were found, in order */
	size_t n_ranks;
	tare_job_call *call;	/* most time first */
	size_t n_calls;
	enum tare_waiting waiting;
	bool has_trace;		/* not used, because events were lost */
	double compute_imbalance; /* largest / mean - 1 */
	double comm_imbalance;
	double wait_imbalance;
	const tare_job_rank *died; /* first rank that was killed, or NULL */
} tare_job;

/*
 * Collects the ranks of one job: that of the first view that is a rank. Views
 * of other jobs, or without a rank, are ignored. Gives the job (free with
 * tare_job_close), which borrows from the views. TARE_ENOENT: no view is a
 * rank.
 */
TARE_API TARE_MUST_CHECK int tare_job_open(tare_view *const *views, size_t n,
					   tare_job **ret_job);
TARE_API void tare_job_close(tare_job *job);

TARE_END
#endif
