/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Communication: what a process of a parallel program spends on the others,
 * and all processes of a job side by side.
 *
 * `tare run` measures the calls of MPI without a change of the program; a
 * program may as well mark its communication itself, by scopes or phases
 * named communication, broadcast or gradient_aggregation. Workers of a
 * training (tare/train.h) are ranks without MPI, too.
 */
#ifndef TARE_READ_COMMUNICATION_H
#define TARE_READ_COMMUNICATION_H

#include <tare/read/view.h>

TARE_BEGIN

/*
 * One process. Times are of all its threads together. MPI_Init, MPI_Finalize
 * and the making of communicators and windows are setup, no communication.
 * The texts belong to the view.
 */
typedef struct tare_communication {
	uint32_t rank, ranks;	/* 0 of 1 where nothing is known */
	const char *job;	/* its name, the same on all ranks; or "" */
	double comm_seconds;	/* in calls that communicate */
	double wait_seconds;	/* of these: in waits and blocking receives */
	uint64_t calls;
	uint64_t bytes;		/* that this process gave to MPI */
	double offset_s;	/* its wall clock less that of rank 0 */
	double offset_error_s;	/* by which that may be wrong */
	double setup_seconds;
	uint64_t received_bytes; /* by blocking receives */
	bool is_mpi;		/* false: scopes of these names, and rank,
				 * ranks and job of a training */
	bool has_parts;		/* collectives of a part of the ranks */
	bool has_barriers;	/* mpi_barrier: arrivals were timed */
	bool is_estimate;	/* the governor let only a part be timed */
	bool is_aborted;	/* by a call of MPI_Abort here */
	int abort_code;
} tare_communication;

/*
 * TARE_ENOENT: it communicated by nothing that is known here. Replaces the
 * array and the window of tare_view_stats().
 */
TARE_API TARE_MUST_CHECK int
tare_view_communication(tare_view *view, tare_communication *ret);

/*
 * Puts the times of a rank on rank 0's clock, so that runs of several hosts
 * have one order. Before anything else is asked of the view: what it has
 * given already stays as it is. Of other runs, nothing is changed.
 */
TARE_API TARE_MUST_CHECK int tare_view_align(tare_view *view);

/* How the waiting in blocking collectives is known. */
enum tare_waiting {
	TARE_WAITING_UNKNOWN = 0,  /* not at all: it is left out */
	TARE_WAITING_ESTIMATE = 1, /* time beyond that of the rank that spent
				    * least in the same function: too low
				    * where ranks take turns in being late */
	TARE_WAITING_TIMELINE = 2, /* every call's arrivals, from a trace */
	TARE_WAITING_BARRIER = 3   /* timed by the option mpi_barrier */
};

/* A rank, that is a process. */
typedef struct tare_job_rank {
	size_t view;		/* index of its view */
	tare_communication comm; /* wait_seconds: with collectives */
	double elapsed_seconds;
	double compute_seconds;	/* elapsed less setup and communication */
	uint64_t peak_bytes;	/* of memory; 0: not known */
	enum tare_run_state state;
	int64_t end_ns;		/* on rank 0's clock */
} tare_job_rank;
TARE_ARRAY_OF_(tare_job_rank)

/* A function of MPI over all ranks. The texts belong to the views. */
typedef struct tare_job_call {
	const char *name;
	const char *source;	/* "mpi.collective" and so on */
	uint32_t n_ranks;	/* that called it */
	uint64_t calls;
	uint64_t bytes;		/* sent; of receives: received */
	double seconds;		/* of all ranks */
	double wait_seconds;	/* of these; NAN: not known */
	double least_seconds;	/* of the rank that spent least in it */
	double most_seconds;
	bool is_estimate;
} tare_job_call;
TARE_ARRAY_OF_(tare_job_call)

typedef struct tare_job {
	const char *name;	/* of the job */
	uint32_t ranks;		/* that it has; more than n_ranks: missing */
	tare_job_rank *rank;	/* those that were found, in order */
	size_t n_ranks;
	tare_job_call *call;	/* most time first */
	size_t n_calls;
	enum tare_waiting waiting;
	bool has_trace;		/* but events were lost: not used */
	double compute_imbalance; /* largest over mean, less 1 */
	double comm_imbalance;
	double wait_imbalance;
	const tare_job_rank *died; /* first rank that was killed, or NULL */
} tare_job;

/*
 * Puts the ranks of one job together: of the first view that is a rank, and
 * all others of the same job; other views are passed over. Gives the job
 * (free with tare_job_close), which borrows from the views. TARE_ENOENT: no
 * view is a rank.
 */
TARE_API TARE_MUST_CHECK int tare_job_open(tare_view *const *views, size_t n,
					   tare_job **ret_job);
TARE_API void tare_job_close(tare_job *job);

TARE_END
#endif
