/* SPDX-License-Identifier: Apache-2.0 */
#include <tare/control.h>
#include <tare/event_file.h>
#include <tare/step.h>

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"
#include "../scene.h"

#define MS INT64_C(1000000)

static char results[160];
static unsigned n_said;
static char said[512];

static void say(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	if (level >= TARE_LEVEL_PERFORMANCE)
		return;
	n_said++;
	(void)snprintf(said, sizeof(said), "%s", text);
}

static tare_training_options options_of(const char *config)
{
	tare_training_options options = { .struct_size = sizeof(options),
					  .config = config,
					  .results = results };

	(void)snprintf(results, sizeof(results), "%s/results", scene_dir);
	return options;
}

static tare_training *open_one(const tare_training_options *options)
{
	tare_training *training = NULL;

	CHECK_INT(tare_training_open(options, &training), 0);
	CHECK(training != NULL);
	return training;
}

/* The rows of a file that was written, which is freed at the next call. */
static const tare_run_table *rows_of(const char *path)
{
	static tare_run_file *file;

	tare_run_file_free(file);
	file = NULL;
	if (!CHECK_INT(tare_run_file_open(path, &file, NULL), 0))
		return NULL;
	return tare_run_file_table(file);
}

static const tare_run_table *rows_in(const char *name)
{
	char path[400];

	(void)snprintf(path, sizeof(path), "%s/%s", results, name);
	return rows_of(path);
}

static bool is_there(const char *name)
{
	char path[400];

	(void)snprintf(path, sizeof(path), "%s/%s", results, name);
	return access(path, F_OK) == 0;
}

static void phase(tare_training *training, const char *name, int64_t ms)
{
	TARE_PHASE(training, name);
	scene_pass_ns(ms * MS);
}

static const tare_training_phase *phase_of(const tare_epoch *epoch,
					   const char *name)
{
	static const tare_training_phase none;

	for (size_t i = 0; i < epoch->n_phases; i++)
		if (strcmp(epoch->phases[i].name, name) == 0)
			return &epoch->phases[i];
	return &none;
}

/* ---- the time of an epoch ----------------------------------------------- */

static void nested(void)
{
	tare_training_options options = options_of(NULL);
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	tare_training *training;
	const tare_run_table *table;

	scene_clock();
	training = open_one(&options);
	CHECK_INT(tare_epoch_begin(training), 0);
	{
		TARE_PHASE(training, "forward");
		scene_pass_ns(3 * MS);
		phase(training, "communication", 2);
		scene_pass_ns(1 * MS);
	}
	scene_pass_ns(1 * MS);
	phase(training, "backward", 5);
	phase(training, "communication", 4);
	phase(training, "update", 1);
	phase(training, "checkpoint", 7);
	CHECK_INT(tare_training_value(training, "loss", 0.5), 0);
	CHECK_INT(tare_training_value(training, "loss", 0.25), 0);
	CHECK_INT(tare_training_value(training, "val_f1", 0.125), 0);
	tare_training_samples(training, 100);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);

	CHECK_NEAR(epoch.row.total_time, 0.024, 0);
	CHECK_NEAR(epoch.row.forward_time, 0.004, 0);
	CHECK_NEAR(epoch.row.backward_time, 0.005, 0);
	CHECK_NEAR(epoch.row.comm_time, 0.006, 0);
	CHECK_NEAR(epoch.row.update_time, 0.001, 0);
	CHECK_NEAR(epoch.rest, 0.001, 0);
	CHECK_NEAR(epoch.row.loss, 0.25, 0);
	CHECK_NEAR(phase_of(&epoch, "forward")->total, 0.006, 0);
	CHECK_NEAR(phase_of(&epoch, "communication")->total, 0.006, 0);
	CHECK_INT(phase_of(&epoch, "communication")->calls, 2);
	CHECK_NEAR(phase_of(&epoch, "checkpoint")->seconds, 0.007, 0);
	CHECK_INT(epoch.samples, 100);
	CHECK_NEAR(epoch.samples_per_s, 100 / 0.024, 1e-9);
	CHECK_INT(epoch.steps, 1);
	CHECK(isnan(epoch.row.test_f1));
	CHECK(epoch.row.peak_memory_mb > 0);

	/* It is in the file already. */
	table = rows_of(tare_training_csv(training));
	CHECK(table && table->n_rows == 1 && table->rows[0].epoch == 1);
	CHECK(table && table->rows[0].comm_time == 0.006);
	CHECK(table && isnan(table->rows[0].train_acc));
	CHECK_INT(tare_training_close(training), 0);
	table = rows_in("sequential_metrics.csv");
	CHECK(table && table->total_training_time == 0.024);
	CHECK_INT(tare_training_close(NULL), 0);
}

TEST(time_belongs_to_the_innermost_phase)
{
	scene_play(nested);
}

static void paused(void)
{
	tare_training_options options = options_of("paused");
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	tare_training *training;

	scene_clock();
	training = open_one(&options);
	phase(training, "forward", 50); /* in no epoch */
	(void)tare_epoch_begin(training);
	{
		TARE_PHASE(training, "forward");
		scene_pass_ns(3 * MS);
		TARE_PAUSE(training, "validation");
		scene_pass_ns(10 * MS);
		phase(training, "communication", 5);
		TARE_PAUSE(training, "saving");
		scene_pass_ns(5 * MS);
	}
	phase(training, "backward", 2);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_NEAR(epoch.row.total_time, 0.005, 0);
	CHECK_NEAR(epoch.paused, 0.020, 0);
	CHECK_NEAR(epoch.row.forward_time, 0.003, 0);
	CHECK_NEAR(phase_of(&epoch, "forward")->total, 0.003, 0);
	CHECK_NEAR(epoch.row.comm_time, 0, 0);
	CHECK_INT(phase_of(&epoch, "communication")->calls, 0);
	CHECK_NEAR(epoch.rest, 0, 0);
	scene_pass_ns(90 * MS); /* between epochs: nobody's */
	(void)tare_epoch_begin(training);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_NEAR(epoch.row.total_time, 0, 0);
	CHECK_NEAR(epoch.row.forward_time, 0, 0);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(a_pause_is_no_training)
{
	scene_play(paused);
}

static void pending(void)
{
	tare_training_options options = options_of("pending");
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	tare_training *training;
	tare_pending started, none;

	scene_clock();
	training = open_one(&options);
	(void)tare_epoch_begin(training);
	started = tare_pending_start(training, "communication");
	phase(training, "backward", 8);
	tare_pending_wait(&started);
	scene_pass_ns(3 * MS);
	tare_pending_end(&started);
	tare_pending_end(&started);
	none = tare_pending_start(NULL, "communication");
	tare_pending_wait(&none);
	tare_pending_end(&none);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_NEAR(epoch.row.comm_time, 0.003, 0);
	CHECK_NEAR(epoch.row.backward_time, 0.008, 0);
	CHECK_NEAR(phase_of(&epoch, "communication")->pending, 0.011, 0);
	CHECK_INT(phase_of(&epoch, "communication")->calls, 1);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(of_what_was_started_before_only_the_waiting_counts)
{
	scene_play(pending);
}

static unsigned n_syncs;

static void wait_for_gpu(void *data)
{
	n_syncs++;
	scene_pass_ns(*(int64_t *)data * MS);
}

static void asynchronous(void)
{
	int64_t ms = 0;
	tare_training_options options = options_of("gpu");
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	tare_training *training;

	scene_clock();
	options.sync = wait_for_gpu;
	options.data = &ms;
	training = open_one(&options);
	(void)tare_epoch_begin(training);
	ms = 2; /* of work before it, which is no part of it */
	{
		TARE_PHASE_ASYNC(training, "forward");
		CHECK_INT(n_syncs, 1);
		ms = 5;
	}
	CHECK_INT(n_syncs, 2);
	phase(training, "update", 1);
	CHECK_INT(n_syncs, 2);
	/* Left open: it ends with the epoch, and so does its work. */
	ms = 0;
	(void)tare_phase_begin_async(training, "backward");
	ms = 4;
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_INT(n_syncs, 4);
	CHECK_NEAR(epoch.row.forward_time, 0.005, 0);
	CHECK_NEAR(epoch.row.update_time, 0.001, 0);
	CHECK_NEAR(epoch.row.backward_time, 0.004, 0);
	CHECK_NEAR(epoch.rest, 0.002, 0);
	CHECK_NEAR(epoch.row.total_time, 0.012, 0);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(asynchronous_work_is_waited_for)
{
	scene_play(asynchronous);
}

/* ---- threads ------------------------------------------------------------ */

static struct {
	tare_training *training;
	pthread_barrier_t barrier;
} shared;

/* Two of them: both in "load", then one also in "decode", then none. */
static void *work(void *arg)
{
	bool is_second = arg != NULL;
	tare_phase load, decode = { NULL, 0, 0, 0 };

	(void)pthread_barrier_wait(&shared.barrier); /* 1 */
	load = tare_phase_begin(shared.training, "load");
	(void)pthread_barrier_wait(&shared.barrier); /* 2 */
	(void)pthread_barrier_wait(&shared.barrier); /* 3 */
	if (is_second)
		decode = tare_phase_begin(shared.training, "decode");
	(void)pthread_barrier_wait(&shared.barrier); /* 4 */
	(void)pthread_barrier_wait(&shared.barrier); /* 5 */
	tare_phase_end(decode);
	tare_phase_end(load);
	(void)pthread_barrier_wait(&shared.barrier); /* 6 */
	return NULL;
}

static void meet(int64_t then_ms)
{
	(void)pthread_barrier_wait(&shared.barrier);
	scene_pass_ns(then_ms * MS);
}

static void threads(void)
{
	tare_training_options options = options_of("threads");
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	pthread_t one, two;

	scene_clock();
	shared.training = open_one(&options);
	(void)pthread_barrier_init(&shared.barrier, NULL, 3);
	(void)tare_epoch_begin(shared.training);
	CHECK_INT(pthread_create(&one, NULL, work, NULL), 0);
	CHECK_INT(pthread_create(&two, NULL, work, shared.training), 0);
	meet(0);				  /* 1 */
	meet(6);				  /* 2: all of it is load's */
	phase(shared.training, "forward", 10);	  /* theirs counts not now */
	meet(0);				  /* 3 */
	meet(4);				  /* 4: half load, half decode */
	meet(0);				  /* 5 */
	meet(3);				  /* 6: nobody's */
	(void)pthread_join(one, NULL);
	(void)pthread_join(two, NULL);
	CHECK_INT(tare_epoch_end(shared.training, &epoch), 0);
	CHECK_NEAR(epoch.row.total_time, 0.023, 0);
	CHECK_NEAR(epoch.row.forward_time, 0.010, 0);
	CHECK_NEAR(phase_of(&epoch, "load")->seconds, 0.008, 0);
	CHECK_NEAR(phase_of(&epoch, "decode")->seconds, 0.002, 0);
	CHECK_NEAR(phase_of(&epoch, "load")->total, 0.040, 1e-12);
	CHECK_NEAR(phase_of(&epoch, "decode")->total, 0.004, 1e-12);
	CHECK_NEAR(epoch.rest, 0.003, 0);
	CHECK_INT(tare_training_close(shared.training), 0);
}

TEST(threads_share_the_time_that_the_first_one_waits)
{
	scene_play(threads);
}

static void *end_it(void *training)
{
	CHECK_INT(tare_epoch_end(training, NULL), TARE_EINVAL);
	return NULL;
}

static void misuse(void)
{
	tare_training_options options = options_of("misuse");
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	tare_training *training;
	tare_phase open, inner;
	pthread_t thread;

	scene_clock();
	training = open_one(&options);
	CHECK_INT(tare_epoch_end(training, &epoch), TARE_EINVAL);
	CHECK_INT(tare_training_value(training, "loss", 1), TARE_EINVAL);
	CHECK_INT(tare_epoch_begin(training), 0);
	CHECK_INT(tare_epoch_begin(training), TARE_EINVAL);
	CHECK_INT(pthread_create(&thread, NULL, end_it, training), 0);
	(void)pthread_join(thread, NULL);
	CHECK_INT(tare_training_value(training, "", 1), TARE_EINVAL);
	CHECK_INT(tare_training_value(training, NULL, 1), TARE_EINVAL);
	open = tare_phase_begin(training, "forward");
	scene_pass_ns(2 * MS);
	inner = tare_phase_begin(training, NULL);
	scene_pass_ns(1 * MS);
	(void)tare_pause_begin(training, "saving");
	scene_pass_ns(5 * MS);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_NEAR(epoch.row.forward_time, 0.002, 0);
	CHECK_NEAR(epoch.row.total_time, 0.003, 0);
	CHECK_NEAR(phase_of(&epoch, "(no name)")->seconds, 0.001, 0);
	tare_phase_end(inner); /* ended already: nothing happens */
	CHECK_INT(tare_epoch_begin(training), 0);
	scene_pass_ns(1 * MS);
	tare_phase_end(open);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_NEAR(epoch.rest, 0.001, 0);
	CHECK_NEAR(epoch.row.total_time, 0.001, 0);
	/* An outer one takes along what is inside it. */
	(void)tare_epoch_begin(training);
	open = tare_phase_begin(training, "forward");
	(void)tare_phase_begin(training, "deep");
	tare_phase_end(open);
	scene_pass_ns(1 * MS);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_NEAR(epoch.rest, 0.001, 0);
	CHECK_INT(tare_epoch_begin(training), 0);
	CHECK_INT(tare_training_close(training), 0); /* left out */
	CHECK(rows_in("misuse_metrics.csv")->n_rows == 3);
}

TEST(wrong_order_is_told_and_does_no_harm)
{
	scene_play(misuse);
}

static void limits(void)
{
	tare_training_options options = options_of("limits");
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	tare_training *training;
	tare_phase held[20];
	char name[80];

	scene_clock();
	training = open_one(&options);
	(void)tare_epoch_begin(training);
	for (int i = 0; i < 40; i++) {
		(void)snprintf(name, sizeof(name), "phase %d", i);
		phase(training, name, 1);
	}
	for (int i = 0; i < 20; i++)
		held[i] = tare_phase_begin(training, "deep");
	scene_pass_ns(1 * MS);
	for (int i = 20; i--;)
		tare_phase_end(held[i]);
	for (int i = 0; i < 32; i++) {
		(void)snprintf(name, sizeof(name), "value %d", i);
		CHECK_INT(tare_training_value(training, name, i), 0);
	}
	CHECK_INT(tare_training_value(training, "one more", 1), TARE_EFULL);
	CHECK_INT(tare_training_value(training, "test_f1", 1), 0);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_INT(epoch.n_phases, 32);
	CHECK_NEAR(phase_of(&epoch, "phase 26")->seconds, 0.001, 0);
	CHECK_NEAR(phase_of(&epoch, "(other phases)")->seconds, 0.014, 1e-12);
	CHECK_NEAR(epoch.row.total_time, 0.041, 0);
	CHECK_NEAR(epoch.row.test_f1, 1, 0);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(more_names_than_there_is_room_for_lose_no_time)
{
	scene_play(limits);
}

/* ---- names and files ---------------------------------------------------- */

static void names(void)
{
	static const char *const bad[] = { "", "a/b", "../x", ".hidden",
					   "line\nend" };
	tare_training_options options = options_of(NULL);
	tare_training *training = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		options.config = bad[i];
		training = (void *)&options;
		CHECK_INT(tare_training_open(&options, &training),
			  TARE_EINVAL);
		CHECK(training == NULL);
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
	CHECK(rows_in("seeds_metrics.csv")->n_rows == 1);
	CHECK(rows_in("seeds_metrics_2.csv")->n_rows == 2);
	CHECK(rows_in("seeds_metrics_3.csv")->n_rows == 3);
	CHECK(is_there("events/seeds") && is_there("events/seeds_2") &&
	      is_there("events/seeds_3") && !is_there("events/seeds_4"));
	(void)snprintf(events, sizeof(events), "%s/seeds_metrics_2.csv",
		       results);
	CHECK_INT(tare_run_file_open(events, &file, NULL), 0);
	CHECK_STR(tare_run_file_comment(file, "config"), "seeds");
	CHECK_STR(tare_run_file_comment(file, "seed"), "1");
	CHECK_STR(tare_run_file_comment(file, "data"), "made");
	CHECK_STR(tare_run_file_comment(file, "workers"), "1");
	tare_run_file_free(file);
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

/* ---- files that cannot be written --------------------------------------- */

static void refused(void)
{
	tare_training_options options = options_of("refused");
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	char below[200];
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
	training = open_one(&options);
	CHECK_INT(getrlimit(RLIMIT_FSIZE, &before), 0);
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

/* ---- several workers ---------------------------------------------------- */

static struct {
	unsigned calls;
	size_t n;
	int result;
} all;

/* As if another worker took twice as long, and communicated for 9 ms. */
static int most(void *data, double *numbers, size_t n)
{
	CHECK(data == &all);
	all.calls++;
	all.n = n;
	if (n == 1)
		numbers[0] = numbers[0] > 3 ? numbers[0] : 3;
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
	CHECK_INT(all.n, 6);
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
	table = rows_in("mpi_4_workers/worker_0_metrics_3.csv");
	CHECK(table && table->rows[0].total_time == 0.004);

	all.result = 0;
	options.worker = 2;
	options.events = results;
	training = open_one(&options);
	CHECK_STR(tare_training_csv(training), "");
	CHECK(tare_training_events(training) == NULL);
	(void)tare_epoch_begin(training);
	CHECK_INT(tare_epoch_end(training, NULL), 0);
	CHECK_INT(tare_training_close(training), 0);
	CHECK(is_there("mpi_4_workers/worker_2_metrics_3.csv"));
	CHECK(!is_there("mpi_4_metrics_2.csv"));
}

TEST(of_several_workers_the_slowest_counts)
{
	scene_play(workers);
}

/* ---- the ledger --------------------------------------------------------- */

static void epochs_of(tare_training *training, int n)
{
	for (int i = 0; i < n; i++) {
		CHECK_INT(tare_epoch_begin(training), 0);
		phase(training, "forward", 1 + i % 7);
		phase(training, "communication", 1);
		CHECK_INT(tare_training_value(training, "loss", 1. / (i + 1)),
			  0);
		CHECK_INT(tare_training_value(training, "rate", i), 0);
		tare_training_samples(training, 10);
		CHECK_INT(tare_epoch_end(training, NULL), 0);
	}
}

static bool same_rows(const tare_training_info *info,
		      const tare_run_table *table)
{
	size_t first = table->n_rows - info->n_rows;

	if (info->n_rows > table->n_rows)
		return false;
	for (size_t i = 0; i < info->n_rows; i++) {
		const tare_run_row *a = &info->rows[i];
		const tare_run_row *b = &table->rows[first + i];

#define SAME(name) \
	if (a->name != b->name && !(isnan(a->name) && isnan(b->name))) \
		return false;
		TARE_RUN_COLUMNS(SAME)
#undef SAME
		if (a->epoch != b->epoch)
			return false;
	}
	return true;
}

static void ledger(void)
{
	const char *const pairs[] = { "seed", "7", "note", "" };
	tare_training_options options = options_of("ledger");
	tare_training *training, *other;
	const tare_training_info *info;
	const tare_stats *rows, *row;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(NULL);
	options.pairs = pairs;
	options.n_pairs = 2;
	options.epochs = 50;
	training = open_one(&options);
	epochs_of(training, 20);
	options.config = "other";
	options.n_pairs = 0;
	other = open_one(&options);
	(void)tare_epoch_begin(other);
	epochs_of(training, 10); /* both at once */
	CHECK_INT(tare_epoch_end(other, NULL), 0);
	CHECK_INT(tare_training_close(other), 0);

	view = scene_view();
	CHECK_INT(tare_view_trainings(view, &info), 2);
	CHECK_STR(info[0].config, "ledger");
	CHECK_STR(info[1].config, "other");
	CHECK_INT(info[0].n_epochs, 30);
	CHECK_INT(info[0].epochs, 50);
	CHECK_INT(info[0].n_rows, 30);
	CHECK_INT(info[0].samples, 300);
	CHECK_INT(info[0].workers, 1);
	CHECK_INT(info[0].n_pairs, 3);
	CHECK_STR(info[0].pairs[0], "workers");
	CHECK_STR(info[0].pairs[2], "seed");
	CHECK_STR(info[0].pairs[3], "7");
	CHECK_STR(info[0].pairs[5], "");
	CHECK_STR(info[0].csv, tare_training_csv(training));
	CHECK_STR(info[0].events, "");
	CHECK(!info[0].is_closed && info[1].is_closed);
	CHECK(same_rows(&info[0], rows_in("ledger_metrics.csv")));
	CHECK(same_rows(&info[1], rows_in("other_metrics.csv")));
	CHECK_NEAR(info[0].total_training_time,
		   rows_in("ledger_metrics.csv")->total_training_time, 1e-12);
	/* total, forward, backward, comm, update, loss, memory */
	CHECK_INT(info[0].columns, 0x23f);
	CHECK(info[0].start_ns > 0 && info[0].end_ns > info[0].start_ns);
	CHECK(memcmp(info[0].rows, info[0].own,
		     30 * sizeof(tare_run_row)) == 0);

	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "epoch");
	CHECK(row && row->count == 31 && strcmp(row->source, "training") == 0);
	row = scene_row(rows, n, "forward");
	CHECK(row && row->count == 30);
	row = scene_row(rows, n, "loss");
	CHECK(row && row->last == 0.1);
	row = scene_row(rows, n, "rate");
	CHECK(row && row->count == 30);
	row = scene_row(rows, n, "steps");
	CHECK(row && row->total == 31);
	tare_view_close(view);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(a_ledger_has_what_the_file_has)
{
	scene_play(ledger);
}

static void newest(void)
{
	static const char *const start[] = { "training_epochs", "60", NULL };
	tare_training_options options = options_of("newest");
	tare_training *training;
	const tare_training_info *info;
	const tare_run_table *table;
	tare_view *view;

	scene_clock();
	scene_start(start);
	training = open_one(&options);
	epochs_of(training, 500);
	view = scene_view();
	CHECK_INT(tare_view_trainings(view, &info), 1);
	CHECK_INT(info->n_epochs, 500);
	CHECK(info->n_rows >= 60 && info->n_rows < 90);
	CHECK_INT(info->rows[info->n_rows - 1].epoch, 500);
	table = rows_in("newest_metrics.csv");
	CHECK(same_rows(info, table));
	CHECK_NEAR(info->total_training_time, table->total_training_time,
		   1e-9);
	tare_view_close(view);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(a_ledger_keeps_the_newest_epochs)
{
	scene_play(newest);
}

static void little(void)
{
	static const char *const start[] = { "ledger_limit", "1M", NULL };
	tare_training_options options = options_of("little");
	tare_training *training;
	const tare_training_info *info;
	tare_view *view;
	size_t n;

	scene_start(start);
	options.results = "";
	for (int i = 0; i < 3000; i++) {
		training = open_one(&options);
		epochs_of(training, i ? 1 : 2000);
		CHECK_INT(tare_training_close(training), 0);
	}
	view = scene_view();
	n = tare_view_trainings(view, &info);
	CHECK(n > 1 && n < 3000);
	CHECK_INT(info->n_epochs, 2000);
	CHECK(info->n_rows > 20 && info->n_rows < 2000);
	/* Others have their place. */
	CHECK(tare_view_run(view)->ledger_bytes < (1u << 20));
	CHECK_INT(tare_view_health(view)->lost, 0);
	tare_view_close(view);
}

TEST(trainings_take_a_part_of_a_small_ledger)
{
	scene_play(little);
}

static void later(void)
{
	tare_training_options options = options_of("later");
	tare_training *training = open_one(&options);
	const tare_training_info *info = NULL;
	tare_view *view;

	epochs_of(training, 3);
	scene_start(NULL);
	epochs_of(training, 2);
	view = scene_view();
	CHECK_INT(tare_view_trainings(view, &info), 1);
	CHECK(info && info->n_epochs == 5 && info->n_rows == 2);
	CHECK(info && info->rows[0].epoch == 4);
	tare_view_close(view);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(measuring_may_begin_after_the_training)
{
	scene_play(later);
}

/* ---- ends --------------------------------------------------------------- */

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
	scene_play(forked);
}

/* ---- the log ------------------------------------------------------------ */

static unsigned n_lines;
static char lines[16][300];

static void keep_line(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	if (level == TARE_LEVEL_PERFORMANCE && n_lines < 16)
		(void)snprintf(lines[n_lines++], sizeof(lines[0]), "%s",
			       text);
}

static void logged(void)
{
	tare_training_options options = options_of("logged");
	tare_training *training;

	scene_clock();
	tare_log_set(keep_line, NULL);
	options.results = "";
	options.epochs = 20;
	training = open_one(&options);
	for (int i = 0; i < 20; i++) {
		(void)tare_epoch_begin(training);
		phase(training, "forward", 150);
		phase(training, "communication", 50);
		(void)tare_training_value(training, "loss", 0.5);
		CHECK_INT(tare_epoch_end(training, NULL), 0);
	}
	CHECK_INT(tare_training_close(training), 0);
	CHECK_INT(n_lines, 6); /* 1, 6, 11, 16, 20, all */
	CHECK_STR(lines[0], "logged: epoch 1 of 20: 200 ms, loss 0.5000; "
		  "forward 75.0 %, backward 0.0 %, communication 25.0 %, "
		  "update 0.0 %");
	CHECK(strncmp(lines[4], "logged: epoch 20 of 20", 22) == 0);
	CHECK_STR(lines[5], "logged: 20 epochs in 4 s");
}

TEST(lines_about_epochs_go_to_the_programs_log)
{
	scene_play(logged);
}
