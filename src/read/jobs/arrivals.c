/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrivals: if every rank has a trace, the n-th call of a collective is the
 * same call on all ranks, as long as all ranks take part in each. A rank waits
 * from its own begin until the last rank has begun.
 *
 * Times of other hosts are converted to rank 0's clock first; the possible
 * error is in the rank's offset_error_s.
 */
#include "read/jobs.h"

#include <stdlib.h>
#include <string.h>

struct arrival_rank {
	int64_t *start, *end; /* of each call, on rank 0's clock */
};

static int arrival_order(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return TR_ORDER(x, y);
}

/* All calls of one rank, in order; false: the trace does not have `calls`. */
static bool take_calls(tare_view *view, const tare_job_rank *rank,
		       const char *name, uint64_t calls,
		       struct arrival_rank *to)
{
	int64_t ahead = view->is_aligned ?
				0 :
				(int64_t)(rank->comm.offset_s * 1e9);
	const tare_event *events;
	size_t n, found = 0;

	if (tare_view_events(view, &events, &n) || calls > n)
		return false;
	to->start = calloc(calls + 1, sizeof(*to->start));
	to->end = calloc(calls + 1, sizeof(*to->end));
	if (!to->start || !to->end)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(events[i].name, name) != 0)
			continue;
		if (found == calls)
			return false;
		to->start[found] = (int64_t)((uint64_t)events[i].start_ns -
					     (uint64_t)ahead);
		to->end[found] = (int64_t)((uint64_t)to->start[found] +
					   events[i].duration_ns);
		found++;
	}
	qsort(to->start, found, sizeof(*to->start), arrival_order);
	qsort(to->end, found, sizeof(*to->end), arrival_order);
	return found == calls;
}

static void add_waits(struct arrival_rank *rank, size_t n, uint64_t calls,
		      double *ret_seconds)
{
	for (uint64_t k = 0; k < calls; k++) {
		int64_t last = INT64_MIN;

		for (size_t i = 0; i < n; i++)
			if (rank[i].start[k] > last)
				last = rank[i].start[k];
		for (size_t i = 0; i < n; i++) {
			int64_t until = rank[i].end[k] < last ?
						rank[i].end[k] :
						last;

			if (until > rank[i].start[k])
				ret_seconds[i] +=
					(double)((uint64_t)until -
						 (uint64_t)rank[i].start[k]) *
					1e-9;
		}
	}
}

bool tr_arrivals_find(const tare_job *job, tare_view *const *views,
		      const char *name, uint64_t calls, double *ret_seconds)
{
	struct arrival_rank *rank = calloc(job->n_ranks, sizeof(*rank));
	bool is_whole = rank != NULL;

	for (size_t i = 0; i < job->n_ranks && is_whole; i++)
		is_whole = take_calls(views[job->rank[i].view], &job->rank[i],
				      name, calls, &rank[i]);
	for (size_t i = 0; i < job->n_ranks && is_whole; i++)
		ret_seconds[i] = 0;
	if (is_whole)
		add_waits(rank, job->n_ranks, calls, ret_seconds);
	for (size_t i = 0; i < job->n_ranks && rank; i++) {
		free(rank[i].start);
		free(rank[i].end);
	}
	free(rank);
	return is_whole;
}
