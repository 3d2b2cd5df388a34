/* SPDX-License-Identifier: Apache-2.0 */
#include "job.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/platform.h"
#include "message.h"
#include "runs.h"

bool job_add(struct job *job, tare_view *view)
{
	tare_view **views = realloc(job->views,
				    (job->n + 1) * sizeof(job->views[0]));

	if (!views) {
		tare_view_close(view);
		return false;
	}
	job->views = views;
	job->views[job->n++] = view;
	return true;
}

int job_open(struct job *job, const char *which)
{
	tare_view *view;
	int code = run_open(which, &view);

	if (!code && !job_add(job, view))
		code = message_error("open", "runs", TARE_ENOMEM);
	return code;
}

int job_add_group(struct job *job, const char *group)
{
	tare_run_entry *runs;
	tare_view *view;
	size_t n;
	int err = tare_runs_list(&runs, &n);

	if (err)
		return err;
	for (size_t i = 0; i < n && !err; i++)
		if (group[0] && strcmp(runs[i].group, group) == 0 &&
		    tare_view_open(runs[i].path, &view) == 0 &&
		    !job_add(job, view))
			err = TARE_ENOMEM;
	tare_runs_free(runs);
	return err;
}

/* The run or a copy of it, which has another id. */
static bool job_has(const struct job *job, const tare_run *run)
{
	for (size_t i = 0; i < job->n; i++) {
		const tare_run *other = tare_view_run(job->views[i]);

		if (other->pid == run->pid && other->start_ns == run->start_ns)
			return true;
	}
	return false;
}

int job_add_group_of(struct job *job, tare_view *view)
{
	const tare_run *run = tare_view_run(view);
	int err = job_add_group(job, run->group);

	if (err || job_has(job, run)) {
		tare_view_close(view);
		return err;
	}
	return job_add(job, view) ? 0 : TARE_ENOMEM;
}

int job_join(struct job *job)
{
	return job->n ? tare_job_open(job->views, job->n, &job->job) :
			TARE_ENOENT;
}

void job_release(struct job *job)
{
	tare_job_close(job->job);
	for (size_t i = 0; i < job->n; i++)
		tare_view_close(job->views[i]);
	free(job->views);
	*job = (struct job){ .n = 0 };
}

double job_call_imbalance(const tare_job_call *call, const tare_job *job)
{
	double mean = call->seconds / (double)job->n_ranks;

	return mean > 0 ? call->most_seconds / mean - 1 : NAN;
}

/* ---- waiting for the other ranks --------------------------------------- */

/* Once no rank is live, the time to wait for missing endings. */
#define ENDINGS_NS 1000000000

/* Counts runs of the group with an ending, and those still live. */
static long count_ended(const char *group, long *ret_live)
{
	tare_run_entry *runs;
	struct ending ending;
	long ended = 0;
	size_t n;

	*ret_live = 0;
	if (tare_runs_list(&runs, &n))
		return 0;
	for (size_t i = 0; i < n; i++) {
		if (strcmp(runs[i].group, group) != 0)
			continue;
		ended += ending_read_own(runs[i].path, runs[i].pid, &ending);
		*ret_live += runs[i].state == TARE_RUN_LIVE;
	}
	tare_runs_free(runs);
	return ended;
}

bool job_wait(const char *group, long ranks, bool are_here, int64_t most_ns)
{
	static const struct timespec pause = { 0, 20000000 };
	int64_t now = tr_monotonic_ns(), live_ns = now, until = now + most_ns;
	long live;

	while (count_ended(group, &live) < ranks) {
		now = tr_monotonic_ns();
		if (live)
			live_ns = now;
		/* The others are not measured, so they write no ending. */
		if (now >= until || (are_here && now - live_ns >= ENDINGS_NS))
			return false;
		(void)nanosleep(&pause, NULL);
	}
	return true;
}
