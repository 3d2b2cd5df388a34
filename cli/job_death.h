/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the ranks of a job ended, by their ledgers and by who waited for them.
 */
#ifndef CLI_JOB_DEATH_H
#define CLI_JOB_DEATH_H

#include "ending.h"
#include "job.h"

/* A rank that ended by itself, and not as it should. */
struct job_death {
	const tare_job_rank *rank;
	struct ending ending; /* on rank 0's clock */
	bool is_exact;	      /* somebody waited for it */
};

const tare_run *job_run(const struct job *job, const tare_job_rank *rank);
/* When the first rank began, on rank 0's clock. */
int64_t job_start(const struct job *job);
/* Most memory that it had; NAN: not known. */
double job_peak(const struct job *job, const tare_job_rank *rank);

/* How it ended; true: not well. */
bool job_death_of(const struct job *job, const tare_job_rank *rank,
		  struct job_death *death);
/* The first of those that died, and how many did; false: none. */
bool job_first_death(const struct job *job, struct job_death *ret_first,
		     size_t *ret_n);

#endif
