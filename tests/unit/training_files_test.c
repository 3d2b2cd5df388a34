/* SPDX-License-Identifier: Apache-2.0 */
#include "../training_scene.h"

#include <tare/event_file.h>

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- names and files --------------------------------------------------- */

static void names(void)
{
	static const char *const bad[] = { "", "a/b", "../x", ".hidden",
					   "line\nend" };
	tare_training_options options = options_of(NULL);
	tare_training *training = NULL;

	tare_log_set(say, NULL);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		options.config = bad[i];
		training = (void *)&options;
		CHECK_INT(tare_training_open(&options, &training),
			  TARE_EINVAL);
		CHECK(training == NULL);
		CHECK_INT(n_said, i + 1);
		CHECK(strstr(said, "is no name of a training"));
	}
	options.config = NULL;
	options.worker = 4;
	options.workers = 4;
	CHECK_INT(tare_training_open(&options, &training), TARE_EINVAL);
	options.struct_size = 0;
	CHECK_INT(tare_training_open(&options, &training), TARE_EINVAL);
	CHECK_INT(tare_training_open(NULL, NULL), TARE_EINVAL);
	CHECK(!is_there(""));

	/* All calls take none. */
	CHECK_INT(tare_epoch_begin(NULL), 0);
	phase(NULL, "forward", 1);
	CHECK_INT(tare_training_value(NULL, "loss", 1), 0);
	tare_training_samples(NULL, 1);
	tare_training_step(NULL, 1);
	CHECK_INT(tare_epoch_end(NULL, NULL), 0);
	CHECK_STR(tare_training_csv(NULL), "");
	CHECK(tare_training_events(NULL) == NULL);
}

TEST(bad_names_are_refused)
{
	scene_play(names);
}

static void seeds(void)
{
	tare_training_options options = options_of("seeds");
	char events[200];
	const char *const pairs[] = { "seed", "1", "data", "made" };
	tare_run_file *file;

	(void)snprintf(events, sizeof(events), "%s/events", results);
	options.events = events;
	options.pairs = pairs;
	options.n_pairs = 2;
	for (int i = 0; i < 3; i++) {
		tare_training *training = open_one(&options);

		for (int k = 0; k <= i; k++) {
			CHECK_INT(tare_epoch_begin(training), 0);
			CHECK_INT(tare_epoch_end(training, NULL), 0);
		}
		CHECK(tare_training_events(training) != NULL);
		CHECK_INT(tare_training_close(training), 0);
	}
	CHECK(rows_in("seeds_metrics_2.csv")->n_rows == 1);
	CHECK(rows_in("seeds_metrics_3.csv")->n_rows == 2);
	CHECK(rows_in("seeds_metrics.csv")->n_rows == 3);
	CHECK(is_there("events/seeds") && is_there("events/seeds_2") &&
	      is_there("events/seeds_3") && !is_there("events/seeds_4"));
	(void)snprintf(events, sizeof(events), "%s/seeds_metrics_2.csv",
		       results);
	CHECK_INT(tare_run_file_open(events, &file, NULL), 0);
	CHECK_STR(tare_run_file_comment(file, "config"), "seeds");
	CHECK_STR(tare_run_file_comment(file, "seed"), "1");
	CHECK_STR(tare_run_file_comment(file, "data"), "made");
	CHECK_STR(tare_run_file_comment(file, "workers"), "1");
	tare_run_file_close(file);
}

TEST(seeds_do_not_overwrite_one_another)
{
	scene_play(seeds);
}

static void none(void)
{
	tare_training_options options = options_of("none");
	tare_training *training = open_one(&options);

	CHECK_INT(tare_training_close(training), 0);
	CHECK(rows_in("none_metrics.csv")->n_rows == 0);
	CHECK(rows_in("none_metrics.csv")->total_training_time == 0);
	options.results = "";
	training = open_one(&options);
	CHECK_STR(tare_training_csv(training), "");
	CHECK_INT(tare_epoch_begin(training), 0);
	CHECK_INT(tare_epoch_end(training, NULL), 0);
	CHECK_INT(tare_training_close(training), 0);
	CHECK(!is_there("none_metrics_2.csv"));
	/* Where options say nothing, the option does. */
	CHECK_INT(tare_option_set("training_results", results), 0);
	training = open_one(NULL);
	CHECK_INT(tare_training_close(training), 0);
	CHECK(is_there("sequential_metrics.csv"));
}

TEST(no_epochs_and_no_files)
{
	scene_play(none);
}

static void nan_loss(void)
{
	tare_training_options options = options_of("nan");
	tare_training *training = open_one(&options);
	const tare_run_table *table;
	double losses[] = { NAN, INFINITY, -INFINITY, 1e-310, 0 };

	for (int i = 0; i < 5; i++) {
		(void)tare_epoch_begin(training);
		CHECK_INT(tare_training_value(training, "loss", losses[i]),
			  0);
		CHECK_INT(tare_training_value(training, "other", losses[i]),
			  0);
		CHECK_INT(tare_epoch_end(training, NULL), 0);
	}
	CHECK_INT(tare_training_close(training), 0);
	table = rows_in("nan_metrics.csv");
	CHECK(table->n_rows == 5 && isnan(table->rows[0].loss));
	for (int i = 1; i < 5; i++)
		CHECK(table->rows[i].loss == losses[i]);
}

TEST(losses_that_are_no_numbers_are_results)
{
	scene_play(nan_loss);
}

/* ---- files that cannot be written -------------------------------------- */

static void refused(void)
{
	tare_training_options options = options_of("refused");
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	char below[200], far[2000] = "/";
	tare_training *training;

	tare_log_set(say, NULL);
	CHECK_INT(close(open(results, O_CREAT | O_WRONLY, 0600)), 0);
	options.events = results;
	training = open_one(&options); /* a file, not a folder */
	CHECK_INT(n_said, 1);
	CHECK(strstr(said, results) && strstr(said, "training goes on"));
	for (int i = 0; i < 3; i++) {
		CHECK_INT(tare_epoch_begin(training), 0);
		CHECK_INT(tare_epoch_end(training, &epoch), 0);
		CHECK_INT(epoch.row.epoch, i + 1);
	}
	CHECK_INT(tare_training_close(training), 0);
	CHECK_INT(n_said, 1);
	/* Read-only. Root may write there, others may not. */
	CHECK_INT(unlink(results), 0);
	CHECK_INT(mkdir(results, 0500), 0);
	(void)snprintf(below, sizeof(below), "%s/below", results);
	options.results = below;
	options.events = "";
	training = open_one(&options);
	CHECK_INT(n_said, geteuid() ? 2 : 1);
	CHECK_INT(tare_training_close(training), 0);
	/* A path that is too long. */
	memset(far + 1, 'x', sizeof(far) - 2);
	n_said = 0;
	options.results = far;
	training = open_one(&options);
	CHECK_INT(n_said, 1);
	CHECK(strstr(said, "cannot write into '/xxx"));
	CHECK_STR(tare_training_csv(training), "");
	CHECK_INT(tare_training_close(training), 0);
}

TEST(a_folder_that_takes_no_files_is_told_once)
{
	scene_play(refused);
}

static void full(void)
{
	tare_training_options options = options_of("full");
	struct rlimit before, limit;
	const tare_run_table *table;
	tare_training *training;
	struct stat st;
	int errors = 0;

	tare_log_set(say, NULL);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
	training = open_one(&options);
	CHECK_INT(stat(tare_training_csv(training), &st), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)st.st_size + 200;
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 20; i++) {
		CHECK_INT(tare_epoch_begin(training), 0);
		errors += tare_epoch_end(training, NULL) != 0;
	}
	CHECK(errors >= 10 && errors < 20);
	CHECK_INT(n_said, 1);
	CHECK(strstr(said, "full_metrics.csv"));
	table = rows_of(tare_training_csv(training));
	CHECK(table && !table->is_cut);
	CHECK_INT(table->n_rows, 20 - errors);
	/* There is room again: nothing is missing. */
	CHECK_INT(setrlimit(RLIMIT_FSIZE, &before), 0);
	CHECK_INT(tare_training_close(training), 0);
	table = rows_in("full_metrics.csv");
	CHECK_INT(table->n_rows, 20);
}

TEST(a_full_disk_is_told_once_and_costs_nothing)
{
	scene_play(full);
}

/* ---- several workers --------------------------------------------------- */

static struct {
	unsigned calls;
	size_t n;
	int result;
	double moved;
} all;

/* As if another worker took twice as long, and communicated for 9 ms. */
static int most(void *data, double *numbers, size_t n)
{
	CHECK(data == &all);
	all.calls++;
	all.n = n;
	if (n == 2) /* worker 0's file is the newest, the old one is now 3 */
		numbers[1] = all.moved;
	else
		for (size_t i = 0; i < n; i++)
			numbers[i] = i == 3 ? 0.009 : 2 * numbers[i];
	return all.result;
}

static void workers(void)
{
	tare_training_options options = options_of(NULL);
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	tare_training *training;
	const tare_run_table *table;

	scene_clock();
	tare_log_set(say, NULL);
	options.workers = 4;
	options.most = most;
	options.data = &all;
	training = open_one(&options);
	CHECK_INT(all.calls, 1);
	(void)tare_epoch_begin(training);
	phase(training, "forward", 4);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_INT(all.calls, 2);
	CHECK_INT(all.n, 8);
	CHECK_NEAR(epoch.own.total_time, 0.004, 0);
	CHECK_NEAR(epoch.row.total_time, 0.008, 0);
	CHECK_NEAR(epoch.row.comm_time, 0.009, 0);
	CHECK_NEAR(epoch.own.comm_time, 0, 0);
	CHECK(epoch.row.peak_memory_mb == 2 * epoch.own.peak_memory_mb);
	all.result = -1;
	(void)tare_epoch_begin(training);
	phase(training, "forward", 4);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_NEAR(epoch.row.total_time, 0.004, 0);
	CHECK_INT(n_said, 1);
	CHECK_INT(tare_training_close(training), 0);
	CHECK_NEAR(rows_in("mpi_4_metrics.csv")->rows[0].total_time, 0.008, 0);
	table = rows_in("mpi_4_workers/worker_0_metrics.csv");
	CHECK(table && table->rows[0].total_time == 0.004);

	all.result = 0;
	all.moved = 5; /* as worker 0 says: the run before is number 5 */
	options.worker = 2;
	options.events = results;
	training = open_one(&options);
	CHECK_STR(tare_training_csv(training), "");
	CHECK(tare_training_events(training) == NULL);
	(void)tare_epoch_begin(training);
	CHECK_INT(tare_epoch_end(training, NULL), 0);
	CHECK_INT(tare_training_close(training), 0);
	CHECK(is_there("mpi_4_workers/worker_2_metrics.csv"));
	CHECK(!is_there("mpi_4_metrics_2.csv"));
	training = open_one(&options);
	CHECK_INT(tare_training_close(training), 0);
	CHECK(is_there("mpi_4_workers/worker_2_metrics_5.csv"));
}

/* This worker broadcasts for 4 ms; another aggregates for 7. */
static int slowest(void *data, double *numbers, size_t n)
{
	(void)data;
	for (size_t i = 3; n > 1 && i < n; i += i == 3 ? 4 : 1)
		if (numbers[i] < 0.007)
			numbers[i] = i == 6 ? numbers[i] : 0.007;
	return 0;
}

static void slowest_parts(void)
{
	tare_training_options options = options_of(NULL);
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	tare_training *training;

	scene_clock();
	options.workers = 2;
	options.most = slowest;
	training = open_one(&options);
	(void)tare_epoch_begin(training);
	phase(training, "broadcast", 4);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_NEAR(epoch.own.comm_time, 0.004, 0);
	CHECK_NEAR(epoch.row.comm_time, 0.007, 0);
	CHECK_NEAR(epoch.broadcast_time, 0.004, 0);
	CHECK_NEAR(epoch.gradient_aggregation_time, 0.007, 0);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(parts_of_communication_are_the_slowest_workers_too)
{
	scene_play(slowest_parts);
}

TEST(of_several_workers_the_slowest_counts)
{
	scene_play(workers);
}

/* ---- ends -------------------------------------------------------------- */

static void leave(void)
{
	tare_training_options options = options_of("leave");
	tare_training *training = open_one(&options);

	options.events = results;
	epochs_of(training, 5);
	(void)tare_epoch_begin(training);
	exit(0);
}

static void left(void)
{
	int status = -1;
	pid_t child;

	(void)options_of(NULL);
	(void)fflush(stdout);
	child = fork();
	if (child == 0)
		leave();
	CHECK(waitpid(child, &status, 0) == child && status == 0);
	CHECK_INT(rows_in("leave_metrics.csv")->n_rows, 5);
	/* Its total is right, not only the sum of its rows. */
	CHECK(rows_in("leave_metrics.csv")->total_training_time > 0);
}

TEST(exit_closes_what_is_open)
{
	scene_play(left);
}

static void forked(void)
{
	tare_training_options options = options_of("forked");
	tare_training *training = open_one(&options), *own;
	int status = -1;
	pid_t child;

	epochs_of(training, 2);
	(void)tare_epoch_begin(training);
	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		/* Its parent's is not its own. */
		CHECK_INT(tare_training_value(training, "loss", 1),
			  TARE_EINVAL);
		CHECK_INT(tare_epoch_end(training, NULL), TARE_EINVAL);
		CHECK_INT(tare_epoch_begin(training), TARE_EINVAL);
		CHECK_INT(tare_training_close(training), 0);
		options.config = "child";
		own = open_one(&options);
		epochs_of(own, 4);
		exit(check_failures() > 0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
	CHECK_INT(tare_epoch_end(training, NULL), 0);
	epochs_of(training, 1);
	CHECK_INT(tare_training_close(training), 0);
	CHECK_INT(rows_in("forked_metrics.csv")->n_rows, 4);
	CHECK_INT(rows_in("child_metrics.csv")->n_rows, 4);
}

TEST(a_child_leaves_its_parents_training_alone)
{
	if (!scene_fork_wipes())
		SKIP("children of a measured process under an emulator");
	scene_play(forked);
}

/* ---- the first one, by several threads --------------------------------- */

#define OPENERS 4

static pthread_barrier_t openers;

static void *open_early(void *arg)
{
	tare_training_options options = { .struct_size = sizeof(options),
					  .results = "" };
	tare_training *training = NULL;
	long *wrong = arg;

	(void)pthread_barrier_wait(&openers);
	*wrong += tare_training_open(&options, &training) != 0;
	for (int i = 0; i < 3; i++)
		*wrong += tare_epoch_begin(training) != 0 ||
			  tare_epoch_end(training, NULL) != 0;
	*wrong += tare_training_close(training) != 0;
	return NULL;
}

/* In a child, where the list is made anew. */
static void open_at_once(void)
{
	pthread_t thread[OPENERS];
	long wrong[OPENERS] = { 0 }, sum = 0;

	(void)pthread_barrier_init(&openers, NULL, OPENERS);
	for (int i = 0; i < OPENERS; i++)
		(void)pthread_create(&thread[i], NULL, open_early, &wrong[i]);
	for (int i = 0; i < OPENERS; i++) {
		(void)pthread_join(thread[i], NULL);
		sum += wrong[i];
	}
	_exit(sum > 0);
}

static void at_once(void)
{
	for (int i = 0; i < 200; i++) {
		int status = -1;
		pid_t child;

		(void)fflush(stdout);
		child = fork();
		if (child == 0)
			open_at_once();
		CHECK(waitpid(child, &status, 0) == child);
		CHECK_INT(status, 0);
	}
}

TEST(threads_may_open_the_first_one_together)
{
	scene_play(at_once);
}
