/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs in a comparison: ranks of MPI are one row, workers of a training are
 * that training once, also where no call of MPI was measured. Each rank is a
 * process of its own, all by the scene's clock.
 */
#include "../ranks.h"
#include "../training_scene.h"
#include "read/judge.h"

#include <tare/read/communication.h>
#include <tare/read/compare.h>

#include <math.h>
#include <stdlib.h>

#define EPOCHS 4

#define CHECK_MS(is, ms) CHECK_NEAR((is) * 1e3, ms, 1e-3)

static void spend(const char *name, const char *source, int64_t ms)
{
	tare_scope scope = tare_scope_begin(tare_site_get(
		TARE_KIND_SCOPE, TARE_TYPE_TIME, name, NULL, source));

	scene_pass_ns(ms * MS);
	tare_scope_end(scope);
}

static void set(const char *name, double value)
{
	static const char *const job[] = { "job", "made-1" };
	tare_site *site = tare_site_get(TARE_KIND_GAUGE, TARE_TYPE_CUSTOM,
					name, "", "mpi.job");

	tare_gauge_set(tare_site_labels(site, 1, job), value);
}

/* 100 ms, the last rank 20 ms more; 10 ms of it in MPI. */
static void play_mpi(unsigned rank)
{
	set("rank", rank);
	set("ranks", RANKS);
	spend("MPI_Allreduce", "mpi.collective", 10);
	spend("work", "", rank == RANKS - 1 ? 110 : 90);
}

static tare_training *open_worker(const char *config, unsigned rank)
{
	tare_training_options options = options_of(config);

	options.worker = rank;
	options.workers = RANKS;
	return open_one(&options);
}

/* Epochs of 1 + 2 + rank ms. */
static void play_training(unsigned rank)
{
	tare_training *training = open_worker("made_3", rank);

	for (int i = 0; i < EPOCHS; i++) {
		CHECK_INT(tare_epoch_begin(training), 0);
		phase(training, "forward", 1);
		phase(training, "communication", 2 + rank);
		CHECK_INT(tare_epoch_end(training, NULL), 0);
	}
	CHECK_INT(tare_training_close(training), 0);
}

static void play_silent(unsigned rank)
{
	CHECK_INT(tare_training_close(open_worker("silent", rank)), 0);
}

/* The only configuration of a job, or NULL. */
static const tare_compared_config *compared(tare_comparison *c,
					    tare_view *views[RANKS])
{
	const tare_compared *result;

	if (!CHECK_INT(tare_comparison_add_job(c, views, RANKS), 0) ||
	    !CHECK_INT(tare_compare(c, NULL, &result), 0) ||
	    !CHECK_INT(result->n_configs, 1))
		return NULL;
	CHECK_INT(result->configs[0].n_runs, 1);
	CHECK_INT(result->configs[0].workers, RANKS);
	return &result->configs[0];
}

/* ---- MPI --------------------------------------------------------------- */

static void compare_mpi(void)
{
	const tare_compared_config *config;
	tare_view *views[RANKS];
	tare_comparison *c;
	tare_job *job;
	double slowest = 0, shares = 0;

	scene_clock();
	scene_start(NULL);
	spend("work", "", 1);
	open_ranks(play_mpi, views);
	CHECK_INT(tare_comparison_new(&c), 0);
	config = compared(c, views);
	if (config && CHECK_INT(tare_job_open(views, RANKS, &job), 0)) {
		for (unsigned i = 0; i < RANKS; i++) {
			double elapsed = job->rank[i].elapsed_seconds;

			CHECK_MS(job->rank[i].comm.comm_seconds, 10);
			slowest = fmax(slowest, elapsed);
			shares += job->rank[i].comm.comm_seconds / elapsed;
		}
		tare_job_close(job);
		CHECK_MS(slowest, 120);
		CHECK_MS(slowest - config->time[TARE_TIME_TOTAL].mean, 0);
		CHECK_NEAR(config->comm_share.mean, shares / RANKS, 1e-9);
	}
	tare_comparison_free(c);
	/* This process is no rank. */
	CHECK_INT(tare_comparison_new(&c), 0);
	close_ranks(views);
	views[0] = scene_view();
	CHECK_INT(tare_comparison_add_job(c, views, 1), TARE_ENOENT);
	CHECK_INT(tare_comparison_add_job(c, views, 0), TARE_EINVAL);
	CHECK_INT(tare_comparison_add_job(c, NULL, 1), TARE_EINVAL);
	CHECK_INT(tare_comparison_add_job(NULL, views, 1), TARE_EINVAL);
	tare_view_close(views[0]);
	tare_comparison_free(c);
}

TEST(a_job_is_as_slow_as_its_slowest_rank)
{
	play_ranks(compare_mpi);
}

/* ---- trainings --------------------------------------------------------- */

static void check_ranks(tare_view *views[RANKS])
{
	tare_job *job;

	if (!CHECK_INT(tare_job_open(views, RANKS, &job), 0))
		return;
	CHECK_STR(job->name, "made_3");
	CHECK_INT(job->ranks, RANKS);
	CHECK_INT(job->n_ranks, RANKS);
	for (unsigned i = 0; i < RANKS && i < job->n_ranks; i++) {
		const tare_communication *comm = &job->rank[i].comm;

		CHECK_INT(comm->rank, i);
		CHECK(!comm->is_mpi);
		CHECK_MS(comm->comm_seconds, EPOCHS * (2 + i));
		CHECK_MS(comm->wait_seconds, EPOCHS * (2 + i));
		CHECK_INT(comm->calls, EPOCHS);
	}
	if (CHECK_INT(job->n_calls, 1)) {
		CHECK_STR(job->call[0].name, "communication");
		CHECK_INT(job->call[0].n_ranks, RANKS);
		CHECK_INT(job->call[0].calls, RANKS * EPOCHS);
		CHECK_MS(job->call[0].seconds, EPOCHS * (2 + 3 + 4));
		CHECK_MS(job->call[0].wait_seconds, EPOCHS * (2 + 3 + 4));
	}
	tare_job_close(job);
}

static void compare_trainings(void)
{
	const tare_compared_config *config;
	tare_view *views[RANKS];
	tare_comparison *c;

	scene_clock();
	scene_start(NULL);
	open_ranks(play_training, views);
	check_ranks(views);
	CHECK_INT(tare_comparison_new(&c), 0);
	config = compared(c, views);
	if (config) {
		/* Rank 0's own rows: nothing adds them up here. */
		CHECK_STR(config->name, "made_3");
		CHECK_INT(config->epochs_most, EPOCHS);
		CHECK_MS(config->time[TARE_TIME_TOTAL].mean, EPOCHS * 3);
		CHECK_NEAR(config->comm_share.mean, 2. / 3, 1e-9);
	}
	tare_comparison_free(c);
	close_ranks(views);
}

TEST(workers_of_a_training_are_ranks_and_one_run)
{
	play_ranks(compare_trainings);
}

/* A number alone makes it a rank; a training of one worker is none. */
static void read_silent(void)
{
	tare_training_options options = options_of("alone");
	tare_view *views[RANKS], *view;
	tare_communication comm;
	tare_job *job;

	scene_clock();
	scene_start(NULL);
	open_ranks(play_silent, views);
	if (CHECK_INT(tare_job_open(views, RANKS, &job), 0)) {
		CHECK_INT(job->n_ranks, RANKS);
		CHECK_INT(job->n_calls, 0);
		CHECK_MS(job->rank[1].comm.comm_seconds, 0);
		tare_job_close(job);
	}
	close_ranks(views);
	CHECK_INT(tare_training_close(open_one(&options)), 0);
	view = scene_view();
	CHECK_INT(tare_view_communication(view, &comm), TARE_ENOENT);
	CHECK_INT(tare_job_open(&view, 1, &job), TARE_ENOENT);
	tare_view_close(view);
}

TEST(workers_that_say_nothing_are_ranks)
{
	play_ranks(read_silent);
}

/* ---- what has started them --------------------------------------------- */

static bool has_note(const tare_compared *result, const char *part)
{
	for (size_t i = 0; i < result->n_notes; i++)
		if (strstr(result->notes[i], part))
			return true;
	return false;
}

static void compare_with_launcher(void (*play)(unsigned rank))
{
	const tare_compared *result;
	tare_view *views[RANKS], *launcher;
	tare_comparison *c;

	CHECK_INT(setenv("TARE_GROUP", "made-group", 1), 0);
	scene_clock();
	scene_start(NULL);
	spend("work", "", 1);
	open_ranks(play, views);
	launcher = scene_view();
	CHECK_STR(tare_view_run(launcher)->group, "made-group");
	CHECK_INT(tare_comparison_new(&c), 0);
	CHECK_INT(tare_comparison_add_view(c, launcher), 0);
	/* Alone it is what was asked for. */
	CHECK_INT(tare_compare(c, NULL, &result), 0);
	CHECK_INT(result->n_configs, 1);
	CHECK(!has_note(result, "left out"));
	/* A job is the same by whatever rank it was found. */
	CHECK_INT(tare_comparison_add_job(c, views, RANKS), 0);
	CHECK_INT(tare_comparison_add_job(c, views, RANKS), 0);
	for (int i = 0; i < 2; i++) {
		CHECK_INT(tare_compare(c, NULL, &result), 0);
		CHECK_INT(result->n_configs, 1);
		CHECK_INT(result->configs[0].n_runs, 1);
		CHECK_INT(result->configs[0].workers, RANKS);
		CHECK(has_note(result, "left out"));
	}
	tare_comparison_free(c);
	tare_view_close(launcher);
	close_ranks(views);
}

static void launch_mpi(void)
{
	compare_with_launcher(play_mpi);
}

static void launch_training(void)
{
	compare_with_launcher(play_training);
}

TEST(what_starts_ranks_is_left_out)
{
	play_ranks(launch_mpi);
	play_ranks(launch_training);
}
