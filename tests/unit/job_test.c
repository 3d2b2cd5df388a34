/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs: ranks side by side. Each rank is played by a process of its own, which
 * writes what mpi/ writes; all begin at the same moment of the scene's clock,
 * so that what they must come to is known to the nanosecond.
 *
 * Ten times, rank 0 computes for 20 ms and the others for 1 ms; then all meet
 * in a collective of 1 ms, for which the others wait 19 ms.
 */
#include "../ranks.h"
#include "read/view.h"

#include <tare/read/communication.h>
#include <tare/control.h>
#include <tare/read/export.h>
#include <tare/probe.h>

#include <math.h>
#include <string.h>

#define ROUNDS 10
#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)

/* How the ranks play. */
static struct {
	bool has_parts, has_barriers, is_uneven, is_long;
	int64_t ahead_ns; /* clock of the last rank */
} scenario;

static void set(const char *name, double value)
{
	tare_gauge_set(tare_site_get(TARE_KIND_GAUGE, TARE_TYPE_CUSTOM, name,
				     "", "mpi.job"),
		       value);
}

static void set_rank(unsigned rank)
{
	static const char *const job[] = { "job", "test-1" };
	tare_site *site = tare_site_get(TARE_KIND_GAUGE, TARE_TYPE_CUSTOM,
					"rank", "", "mpi.job");

	tare_gauge_set(tare_site_labels(site, 1, job), rank);
	set("ranks", RANKS);
	if (scenario.has_parts)
		set("parts", 1);
	if (rank == RANKS - 1 && scenario.ahead_ns) {
		set("clock_offset", (double)scenario.ahead_ns);
		set("clock_error", 1000);
	}
}

static void spend(const char *name, const char *source, int64_t ns)
{
	tare_scope scope = tare_scope_begin(tare_site_get(
		TARE_KIND_SCOPE, TARE_TYPE_TIME, name, NULL, source));

	scene_pass_ns(ns);
	tare_scope_end(scope);
}

static void sent(const char *name, double bytes)
{
	tare_value_observe(tare_site_get(TARE_KIND_VALUE, TARE_TYPE_MEMORY,
					 name, "B", "mpi.sent"),
			   bytes);
}

static void meet(unsigned rank, int64_t wait_ns)
{
	if (scenario.has_barriers) {
		spend("MPI_Allreduce", "mpi.arrival", wait_ns);
		wait_ns = 0;
	}
	spend("MPI_Allreduce", "mpi.collective", wait_ns + MS);
	sent("MPI_Allreduce.bytes", 100 * (rank + 1));
}

/*
 * More calls of one collective than a trace of 64 events keeps, then two of
 * another that take longer, and so come first: rank 0 is late for the one, all
 * others for the second. All spend as long in them, so that an estimate finds
 * no waiting.
 */
static void play_long(unsigned rank)
{
	for (int i = 0; i < 1000; i++)
		spend("MPI_Bcast", "mpi.collective", MS / 1000);
	for (int i = 0; i < 2; i++) {
		bool is_late = !rank == !i;

		spend("work", "", is_late ? 20 * MS : MS);
		meet(rank, is_late ? 0 : 19 * MS);
	}
}

static void play_rank(unsigned rank)
{
	if (rank == RANKS - 1)
		scene_step_real_ns(scenario.ahead_ns);
	spend("MPI_Init", "mpi.setup", 5 * MS);
	set_rank(rank);
	if (scenario.is_long) {
		play_long(rank);
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		spend("work", "", rank ? MS : 20 * MS);
		meet(rank, rank ? 19 * MS : 0);
	}
	if (rank == 1 && scenario.is_uneven)
		meet(rank, 0);
	if (rank == 1)
		spend("MPI_Wait", "mpi.wait", 7 * MS);
}

static const tare_job_call *call_named(const tare_job *job, const char *name)
{
	for (size_t i = 0; i < job->n_calls; i++)
		if (strcmp(job->call[i].name, name) == 0)
			return &job->call[i];
	CHECK(!"there is such a call");
	return &job->call[0];
}

#define CHECK_MS(is, ms) CHECK_NEAR((is) * 1e3, ms, 1e-3)

/* What is the same however waiting is known. */
static void check_job(const tare_job *job)
{
	const tare_job_call *call = call_named(job, "MPI_Allreduce");

	CHECK_STR(job->name, "test-1");
	CHECK_INT(job->ranks, RANKS);
	if (!CHECK_INT(job->n_ranks, RANKS))
		return;
	for (unsigned i = 0; i < RANKS; i++) {
		const tare_communication *comm = &job->rank[i].comm;

		CHECK_INT(comm->rank, i);
		CHECK_INT(comm->bytes, ROUNDS * 100 * (i + 1));
		CHECK_INT(comm->calls, ROUNDS + (i == 1));
		CHECK_MS(comm->setup_seconds, 5);
		CHECK_MS(comm->comm_seconds, i == 0 ? 10 : i == 1 ? 207 : 200);
		CHECK_MS(job->rank[i].compute_seconds, i ? 10 : 200);
	}
	CHECK_INT(call->calls, RANKS * ROUNDS);
	CHECK_INT(call->n_ranks, RANKS);
	CHECK_INT(call->bytes, ROUNDS * 600);
	CHECK_MS(call->seconds, 410);
	CHECK_MS(call->least_seconds, 10);
	CHECK_MS(call->most_seconds, 200);
	CHECK_MS(call_named(job, "MPI_Wait")->wait_seconds, 7);
	CHECK_MS(call_named(job, "MPI_Init")->wait_seconds, 0);
	/* 200 over the mean of 200, 10 and 10. */
	CHECK_NEAR(job->compute_imbalance, 200 / (220.0 / 3) - 1, 1e-4);
}

static tare_job *play_job(const char *const *options,
			  enum tare_waiting waiting, tare_view *views[RANKS])
{
	tare_job *job = NULL;

	scene_clock();
	scene_start(options);
	open_ranks(play_rank, views);
	if (CHECK_INT(tare_job_open(views, RANKS, &job), 0))
		CHECK_INT(job->waiting, waiting);
	return job;
}

static void check_waits(const char *const *options, enum tare_waiting waiting)
{
	tare_view *views[RANKS];
	tare_job *job;

	job = play_job(options, waiting, views);
	if (job) {
		check_job(job);
		CHECK_MS(call_named(job, "MPI_Allreduce")->wait_seconds, 380);
		CHECK_MS(job->rank[0].comm.wait_seconds, 0);
		CHECK_MS(job->rank[1].comm.wait_seconds, 197);
		CHECK_MS(job->rank[2].comm.wait_seconds, 190);
	}
	tare_job_close(job);
	close_ranks(views);
}

static void play_estimate(void)
{
	check_waits(NULL, TARE_WAITING_ESTIMATE);
}

static void play_timeline(void)
{
	static const char *const options[] = { "trace", "true", NULL };

	scenario.ahead_ns = 3 * SECOND;
	check_waits(options, TARE_WAITING_TIMELINE);
}

static void play_barriers(void)
{
	scenario.has_barriers = true;
	check_waits(NULL, TARE_WAITING_BARRIER);
}

TEST(waiting_is_estimated_by_the_rank_that_spent_least)
{
	play_ranks(play_estimate);
}

TEST(waiting_comes_from_the_arrivals_where_there_is_a_trace)
{
	play_ranks(play_timeline);
}

TEST(waiting_is_that_of_barriers_where_they_were_timed)
{
	play_ranks(play_barriers);
}

/* ---- what cannot be known ---------------------------------------------- */

static void play_unknown(void)
{
	tare_view *views[RANKS];
	tare_job *job;

	scenario.has_parts = true;
	job = play_job(NULL, TARE_WAITING_UNKNOWN, views);
	if (job) {
		check_job(job);
		CHECK(isnan(call_named(job, "MPI_Allreduce")->wait_seconds));
		CHECK_MS(job->rank[2].comm.wait_seconds, 0);
	}
	tare_job_close(job);
	close_ranks(views);
}

static void play_uneven(void)
{
	tare_view *views[RANKS];
	tare_job *job;

	scenario.is_uneven = true;
	job = play_job(NULL, TARE_WAITING_ESTIMATE, views);
	if (job)
		CHECK(isnan(call_named(job, "MPI_Allreduce")->wait_seconds));
	tare_job_close(job);
	close_ranks(views);
}

static void play_cut(void)
{
	static const char *const options[] = { "trace", "true",
					       "trace_events", "64", NULL };
	tare_view *views[RANKS];
	tare_job *job;

	scenario.is_long = true;
	job = play_job(options, TARE_WAITING_ESTIMATE, views);
	if (job) {
		CHECK(job->has_trace);
		CHECK_MS(call_named(job, "MPI_Allreduce")->wait_seconds, 0);
		for (unsigned i = 0; i < RANKS; i++)
			CHECK_MS(job->rank[i].comm.wait_seconds, 0);
	}
	tare_job_close(job);
	close_ranks(views);
}

TEST(a_trace_without_some_collectives_is_used_for_none)
{
	play_ranks(play_cut);
}

TEST(collectives_of_a_part_of_the_ranks_have_no_waiting)
{
	play_ranks(play_unknown);
}

TEST(a_collective_that_ranks_called_unequally_often_has_no_waiting)
{
	play_ranks(play_uneven);
}

/* ---- ranks that are not there ------------------------------------------ */

static void play_missing(void)
{
	tare_view *views[RANKS];
	tare_job *job = NULL;

	scene_clock();
	scene_start(NULL);
	spend("work", "", MS); /* this process is none of them */
	open_ranks(play_rank, views);
	tare_view_close(views[0]);
	views[0] = scene_view();
	CHECK_INT(tare_job_open(views, 1, &job), TARE_ENOENT);
	if (CHECK_INT(tare_job_open(views, RANKS, &job), 0)) {
		CHECK_INT(job->n_ranks, RANKS - 1);
		CHECK_INT(job->ranks, RANKS);
		CHECK(isnan(call_named(job, "MPI_Allreduce")->wait_seconds));
	}
	tare_job_close(job);
	/* The same rank twice is one. */
	tare_view_close(views[0]);
	CHECK_INT(tare_view_open(tare_view_run(views[1])->path, &views[0]),
		  0);
	if (CHECK_INT(tare_job_open(views, RANKS, &job), 0))
		CHECK_INT(job->n_ranks, RANKS - 1);
	tare_job_close(job);
	CHECK_INT(tare_job_open(NULL, 1, &job), TARE_EINVAL);
	CHECK_INT(tare_job_open(views, 0, &job), TARE_EINVAL);
	close_ranks(views);
}

TEST(missing_ranks_and_other_runs_are_told_apart)
{
	play_ranks(play_missing);
}

/* ---- clocks ------------------------------------------------------------ */

static int collect(void *arg, const char *text, size_t n)
{
	char *to = arg;
	size_t have = strlen(to);

	if (have + n + 1 > 1 << 20)
		return -1;
	memcpy(to + have, text, n);
	to[have + n] = '\0';
	return 0;
}

/* Times of events, in their order in the file. */
static void check_order(const char *trace)
{
	double last = -1;

	for (const char *at = trace; (at = strstr(at, "\"ts\":")); at++) {
		double ts;

		if (!CHECK(sscanf(at + 5, "%lf", &ts) == 1))
			return;
		CHECK(ts >= last);
		last = ts;
	}
	/* All of it is within the 215 ms that it took, not 3 s later. */
	CHECK(last >= 200e3 && last < 300e3);
	CHECK(strstr(trace, "rank 2"));
}

static void play_clocks(void)
{
	static const char *const options[] = { "trace", "true", NULL };
	static char trace[1 << 20];
	tare_export_options how = { .struct_size = sizeof(how),
				    .format = TARE_FORMAT_CHROME };
	tare_view *views[RANKS];

	scenario.ahead_ns = 3 * SECOND;
	scene_clock();
	scene_start(options);
	open_ranks(play_rank, views);
	for (unsigned i = 0; i < RANKS; i++) {
		int64_t start = tare_view_run(views[i])->start_ns;

		CHECK_INT(tare_view_align(views[i]), 0);
		CHECK_INT(tare_view_align(views[i]), 0);
		CHECK_INT(start - tare_view_run(views[i])->start_ns,
			  i == 0 ? 3 * SECOND : 0);
	}
	CHECK_INT(tare_export(views, RANKS, &how, collect, trace), 0);
	check_order(trace);
	close_ranks(views);
	CHECK_INT(tare_view_align(NULL), TARE_EINVAL);
}

TEST(ranks_with_another_clock_are_put_in_order)
{
	play_ranks(play_clocks);
}

/* ---- communication that the program marks itself ----------------------- */

static void play_phases(void)
{
	tare_communication comm;
	tare_view *view;

	scene_clock();
	scene_start(NULL);
	spend("work", "", 5 * MS);
	view = scene_view();
	CHECK_INT(tare_view_communication(view, &comm), TARE_ENOENT);
	tare_view_close(view);
	spend("communication", "", 3 * MS);
	spend("communication", "training", 4 * MS);
	view = scene_view();
	if (CHECK_INT(tare_view_communication(view, &comm), 0)) {
		CHECK(!comm.is_mpi);
		CHECK_MS(comm.comm_seconds, 7);
		CHECK_INT(comm.calls, 2);
		CHECK_INT(comm.ranks, 1);
	}
	tare_view_close(view);
	/* Once MPI is measured, its calls are in such phases. */
	spend("MPI_Send", "mpi.send", 2 * MS);
	view = scene_view();
	if (CHECK_INT(tare_view_communication(view, &comm), 0)) {
		CHECK(comm.is_mpi);
		CHECK_MS(comm.comm_seconds, 2);
		CHECK_MS(comm.wait_seconds, 0);
	}
	CHECK_INT(tare_view_communication(view, NULL), TARE_EINVAL);
	tare_view_close(view);
}

TEST(scopes_named_communication_count_without_mpi)
{
	CHECK(scene_play(play_phases));
}

static void play_parts(void)
{
	tare_communication comm;
	tare_view *view;

	scene_clock();
	scene_start(NULL);
	{
		TARE_SCOPE("backward");
		scene_pass_ns(20 * MS);
		TARE_SCOPE("gradient_aggregation");
		scene_pass_ns(4 * MS);
	}
	{
		TARE_SCOPE("communication");
		scene_pass_ns(1 * MS);
		spend("broadcast", "", 2 * MS);
		TARE_SCOPE("pack");
		spend("broadcast", "training", 3 * MS);
	}
	spend("broadcast", "", 5 * MS);
	view = scene_view();
	if (CHECK_INT(tare_view_communication(view, &comm), 0)) {
		CHECK_MS(comm.comm_seconds, 15);
		CHECK_MS(comm.wait_seconds, 15);
		CHECK_INT(comm.calls, 3);
	}
	tare_view_close(view);
}

TEST(broadcast_and_aggregation_are_communication_and_counted_once)
{
	CHECK(scene_play(play_parts));
}

/* ---- absurd facts ------------------------------------------------------ */

static void play_absurd(void)
{
	tare_communication comm;
	tare_view *view;

	scene_clock();
	scene_start(NULL);
	set("rank", 1e30);
	set("ranks", -5);
	set("clock_offset", HUGE_VAL);
	set("abort", NAN);
	view = scene_view();
	if (CHECK_INT(tare_view_communication(view, &comm), 0)) {
		CHECK_INT(comm.rank, 0);
		CHECK_INT(comm.ranks, 1);
		CHECK_STR(comm.job, "");
		CHECK(comm.offset_s == 0);
	}
	CHECK_INT(tare_view_align(view), 0);
	tare_view_close(view);
}

TEST(absurd_facts_do_no_harm)
{
	CHECK(scene_play(play_absurd));
}
