/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <math.h>
#include <sys/wait.h>

const tare_run *job_run(const struct job *job, const tare_job_rank *rank)
{
	return tare_view_run(job->views[rank->view]);
}

static bool is_bad(int status)
{
	return WIFSIGNALED(status) || WEXITSTATUS(status);
}

bool job_death_of(const struct job *job, const tare_job_rank *rank,
		       struct job_death *death)
{
	const tare_run *run = job_run(job, rank);

	death->rank = rank;
	death->is_exact = ending_read_own(run->path, run->pid,
					  &death->ending);
	if (death->is_exact) {
		death->ending.at_ns -= (int64_t)(rank->comm.offset_s * 1e9);
		return is_bad(death->ending.status);
	}
	death->ending = (struct ending){ .at_ns = rank->end_ns };
	return rank->state == TARE_RUN_KILLED || rank->comm.is_aborted;
}

/*
 * A rank that calls MPI_Abort is the first, though it may end last. A rank
 * without an ending comes later: the launcher had killed its `tare run` too.
 */
static bool is_before(const struct job_death *a, const struct job_death *b)
{
	if (a->rank->comm.is_aborted != b->rank->comm.is_aborted)
		return a->rank->comm.is_aborted;
	if (a->is_exact != b->is_exact)
		return a->is_exact;
	return a->ending.at_ns < b->ending.at_ns;
}

/* The other ranks are killed by the launcher after the first one died. */
bool job_first_death(const struct job *job, struct job_death *ret_first,
			     size_t *ret_n)
{
	struct job_death death;

	*ret_n = 0;
	for (size_t i = 0; i < job->job->n_ranks; i++) {
		if (!job_death_of(job, &job->job->rank[i], &death))
			continue;
		if (!*ret_n || is_before(&death, ret_first))
			*ret_first = death;
		++*ret_n;
	}
	return *ret_n > 0;
}

int64_t job_start(const struct job *job)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < job->job->n_ranks; i++) {
		const tare_job_rank *rank = &job->job->rank[i];
		int64_t start = job_run(job, rank)->start_ns -
				(int64_t)(rank->comm.offset_s * 1e9);

		if (start < first)
			first = start;
	}
	return first;
}

/* The ledger of a killed rank lacks the peak; its ending may have it. */
double job_peak(const struct job *job, const tare_job_rank *rank)
{
	const tare_run *run = job_run(job, rank);
	struct ending ending;

	if (rank->peak_bytes)
		return (double)rank->peak_bytes;
	return ending_read_own(run->path, run->pid, &ending) &&
			       ending.peak_bytes > 0 ?
		       (double)ending.peak_bytes :
		       NAN;
}
