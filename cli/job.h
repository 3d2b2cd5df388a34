/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Job: the ranks of a parallel program, found by their group, and shown as two
 * tables: the ranks, and the MPI functions over all of them.
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

/* Takes a view: the job closes it, or it is closed on failure. */
bool job_add(struct job *job, tare_view *view);

/* Opens a run and adds it; 0, or an exit code after a message. */
int job_open(struct job *job, const char *which);

/* Adds all runs of the group `group`; none for "". */
int job_add_group(struct job *job, const char *group);

/* Takes a view and adds its group; its file may be elsewhere. */
int job_add_group_of(struct job *job, tare_view *view);

/*
 * Combines the views. TARE_ENOENT: none is a rank; else 0 or another TARE_E*.
 */
int job_join(struct job *job);
void job_release(struct job *job);

/* The maximum over the ranks, divided by the mean, minus 1. */
double job_call_imbalance(const tare_job_call *call, const tare_job *job);

void job_print(const struct job *job, FILE *stream);
void job_json(const struct job *job, struct tr_json *json, const char *key);

/*
 * Waits until all ranks of a group have ended and their runs are stored, at
 * most `most_ns`. True: all have.
 */
bool job_wait(const char *group, long ranks, bool are_here, int64_t most_ns);

/* ---- how ranks ended, by ledgers and endings --------------------------- */

/* A rank that ended by itself, but not normally. */
struct job_death {
	const tare_job_rank *rank;
	struct ending ending; /* on rank 0's clock */
	bool is_exact;	      /* from an ending file */
};

const tare_run *job_run(const struct job *job, const tare_job_rank *rank);
/* When the first rank began, on rank 0's clock. */
int64_t job_start(const struct job *job);
/* Peak memory of a rank; NAN: unknown. */
double job_peak(const struct job *job, const tare_job_rank *rank);

/* How a rank ended; true: not normally. */
bool job_death_of(const struct job *job, const tare_job_rank *rank,
		  struct job_death *death);
/* The first rank that died, and the number that did; false: none. */
bool job_first_death(const struct job *job, struct job_death *ret_first,
		     size_t *ret_n);

#endif
