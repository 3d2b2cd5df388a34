/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job: the ranks of a parallel program, found by their group, and told as two
 * tables: the ranks, and the functions of MPI over all of them.
 */
#ifndef CLI_JOB_H
#define CLI_JOB_H

#include <stdio.h>

#include <tare/read/communication.h>

#include "base/text.h"
#include "ending.h"

struct job {
	tare_view **views;
	size_t n;
	tare_job *job;
};

/* Adds a view, which belongs to the job from then on, or is closed. */
bool job_add(struct job *job, tare_view *view);

/* Opens a run and adds it; 0, or an exit code after a message. */
int job_open(struct job *job, const char *which);

/* Adds all runs of the group that is called `group`; none for "". */
int job_add_group(struct job *job, const char *group);

/* Adds a view, as above, and all of its group; its file may lie elsewhere. */
int job_add_group_of(struct job *job, tare_view *view);

/*
 * Puts them together. TARE_ENOENT: none of them is a rank; else 0 or another
 * TARE_E*.
 */
int job_join(struct job *job);
void job_release(struct job *job);

/* Most of a rank over the mean, less 1. */
double job_call_imbalance(const tare_job_call *call, const tare_job *job);

void job_print(const struct job *job, FILE *stream);
void job_json(const struct job *job, struct tr_json *json, const char *key);

/*
 * Waits until all ranks of a group have ended and are put away, `most_ns` at
 * most. True: all have.
 */
bool job_wait(const char *group, long ranks, bool are_here, int64_t most_ns);

/* ---- how ranks ended, by their ledgers and by who waited for them ------- */

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
