/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs from ledgers: the trainings in them; a run without any is one row with
 * its duration.
 *
 * Every worker's ledger has the rows of the whole run, so one of them is
 * enough. The others of its group are skipped: they are not repeats.
 */

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <tare/read/communication.h>
#include <tare/read/train.h>

#include "read/judge.h"

#define BYTES_A_MB 1048576.

/* Takes ownership of the key. Stores the program, to recognise launchers. */
static int add_measured(tare_comparison *c, const tare_compare_source *source,
			const tare_run *run, char *key, bool is_worker)
{
	size_t n = c->n_runs;
	int err = tr_compared_add(c, source, NULL, key);

	if (err || c->n_runs == n || !run->group[0])
		return err;
	c->run[n].program = strdup(run->group);
	c->run[n].is_worker = is_worker;
	return c->run[n].program ? 0 : TARE_ENOMEM;
}

/* ---- trainings --------------------------------------------------------- */

/* A key that all workers of one training share, and no other training has. */
static char *key_of(const tare_run *run, const tare_training_info *info,
		    size_t index)
{
	const char *of = run->group[0] && info->workers > 1 ? run->group :
							      run->id;
	char *key;

	return asprintf(&key, "%s/%zu/%u/%s", of, index, info->workers,
			info->config) < 0 ? NULL : key;
}

static int add_training(tare_comparison *c, const tare_run *run,
			const tare_training_info *info, size_t index)
{
	tare_compare_source source = {
		.struct_size = sizeof(source), .config = info->config,
		.workers = info->workers, .origin = run->id,
		.rows = info->rows, .n_rows = info->n_rows,
		.n_epochs = info->n_epochs, .columns = info->columns,
		.is_cut = !info->is_closed && run->state == TARE_RUN_KILLED,
		.total_training_time = info->total_training_time,
		.comm_share = NAN, .pairs = info->pairs,
		.n_pairs = info->n_pairs,
	};
	char *key = key_of(run, info, index);

	if (!key)
		return TARE_ENOMEM;
	return add_measured(c, &source, run, key, true);
}

/* ---- whole runs -------------------------------------------------------- */

static double seconds_of(const tare_run *run)
{
	/* Unsigned: a damaged ledger may hold any times. */
	int64_t ns = (int64_t)((uint64_t)run->end_ns -
			       (uint64_t)run->start_ns);

	return ns > 0 ? (double)ns / 1e9 : 0;
}

static int add_whole(tare_comparison *c, tare_view *view)
{
	const tare_run *run = tare_view_run(view);
	tare_compare_source source = {
		.struct_size = sizeof(source), .config = run->program,
		.origin = run->id, .workers = 1, .comm_share = NAN,
		.is_cut = run->state == TARE_RUN_KILLED,
		.total_training_time = seconds_of(run),
		.peak_memory_mb = (double)run->rss_peak / BYTES_A_MB,
	};
	tare_communication comm = { .ranks = 1 };

	if (tare_view_communication(view, &comm) == 0) {
		source.workers = comm.ranks;
		if (source.total_training_time > 0)
			source.comm_share = comm.comm_seconds /
					    source.total_training_time;
	}
	return add_measured(c, &source, run, NULL, comm.ranks > 1);
}

TARE_API int tare_comparison_add_view(tare_comparison *comparison,
				      tare_view *view)
{
	const tare_training_info *infos;
	size_t n;
	int err = 0;

	if (!comparison || !view)
		return TARE_EINVAL;
	n = tare_view_trainings(view, &infos);
	for (size_t i = 0; i < n && !err; i++)
		err = add_training(comparison, tare_view_run(view), &infos[i],
				   i);
	return n ? err : add_whole(comparison, view);
}

/* ---- jobs -------------------------------------------------------------- */

/* Time of the slowest rank; communication is the mean of the ranks' shares. */
static void sum_up(const tare_job *job, tare_compare_source *source)
{
	double shares = 0;

	for (size_t i = 0; i < job->n_ranks; i++) {
		const tare_job_rank *rank = &job->rank[i];

		source->total_training_time = tr_most(
			source->total_training_time, rank->elapsed_seconds);
		if (rank->elapsed_seconds > 0)
			shares += rank->comm.comm_seconds /
				  rank->elapsed_seconds;
		source->peak_memory_mb = tr_most(
			source->peak_memory_mb,
			(double)rank->peak_bytes / BYTES_A_MB);
		source->is_cut |= rank->state == TARE_RUN_KILLED;
	}
	if (job->n_ranks)
		source->comm_share = shares / (double)job->n_ranks;
}

/* The view of the first rank with a training: it has the rows of all. */
static tare_view *training_in(const tare_job *job, tare_view *const *views)
{
	const tare_training_info *infos;

	for (size_t i = 0; i < job->n_ranks; i++)
		if (tare_view_trainings(views[job->rank[i].view], &infos))
			return views[job->rank[i].view];
	return NULL;
}

static int add_ranks(tare_comparison *c, const tare_job *job,
		     tare_view *const *views)
{
	const tare_run *run = tare_view_run(views[job->rank[0].view]);
	tare_compare_source source = { .struct_size = sizeof(source),
				       .comm_share = NAN,
				       .config = run->program,
				       .origin = run->id,
				       .workers = job->ranks };

	char *key = strdup(run->id);

	if (!key)
		return TARE_ENOMEM;
	sum_up(job, &source);
	return add_measured(c, &source, run, key, true);
}

TARE_API int tare_comparison_add_job(tare_comparison *comparison,
				     tare_view *const *views, size_t n)
{
	tare_view *training;
	tare_job *job;
	int err;

	if (!comparison || !views || !n)
		return TARE_EINVAL;
	err = tare_job_open(views, n, &job);
	if (err)
		return err;
	training = training_in(job, views);
	err = training ? tare_comparison_add_view(comparison, training) :
			 add_ranks(comparison, job, views);
	tare_job_close(job);
	return err;
}
