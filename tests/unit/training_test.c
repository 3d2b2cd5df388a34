/* SPDX-License-Identifier: Apache-2.0 */
#include "../training_scene.h"

#include <math.h>
#include <pthread.h>

/* ---- the time of an epoch ---------------------------------------------- */

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

/* Every way in which the parts of communication can stand. */
static void parts_of_communication(void)
{
	tare_training_options options = options_of("parts");
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	tare_training *training;

	scene_clock();
	training = open_one(&options);
	(void)tare_epoch_begin(training);
	{
		TARE_PHASE(training, "communication");
		scene_pass_ns(2 * MS);
		phase(training, "broadcast", 3);
		scene_pass_ns(1 * MS);
	}
	{
		TARE_PHASE(training, "backward");
		scene_pass_ns(4 * MS);
		phase(training, "gradient_aggregation", 5);
	}
	phase(training, "broadcast", 6);
	{
		TARE_PHASE(training, "gradient_aggregation");
		scene_pass_ns(1 * MS);
		TARE_PHASE(training, "broadcast");
		scene_pass_ns(2 * MS);
		phase(training, "broadcast", 1);
		phase(training, "forward", 8); /* is forward there, too */
		phase(training, "communication", 1);
	}
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_NEAR(epoch.row.total_time, 0.034, 0);
	CHECK_NEAR(epoch.row.comm_time, 0.022, 1e-15);
	CHECK_NEAR(epoch.row.backward_time, 0.004, 0);
	CHECK_NEAR(epoch.row.forward_time, 0.008, 0);
	CHECK_NEAR(epoch.broadcast_time, 0.012, 0);
	CHECK_NEAR(epoch.gradient_aggregation_time, 0.006, 0);
	CHECK_NEAR(phase_of(&epoch, "communication")->seconds, 0.004, 0);
	CHECK_NEAR(phase_of(&epoch, "broadcast")->seconds, 0.012, 0);
	CHECK_INT(phase_of(&epoch, "broadcast")->calls, 4);
	CHECK_NEAR(phase_of(&epoch, "gradient_aggregation")->seconds, 0.006,
		   0);
	CHECK_NEAR(rows_in("parts_metrics.csv")->rows[0].comm_time, 0.022,
		   1e-15);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(broadcast_and_aggregation_are_communication_wherever_they_stand)
{
	scene_play(parts_of_communication);
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

/* ---- threads ----------------------------------------------------------- */

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
	phase(shared.training, "forward", 10); /* not theirs */
	meet(0);				  /* 3 */
	meet(4);				/* 4: half load, half decode */
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

static void long_names(void)
{
	/* 47 bytes are kept. */
	static const char *const names[] = {
		"a phase with a name of forty-eight bytes, and 1a",
		"a phase with a name of forty-eight bytes, and 1b",
		"a phase with a name of forty-eight bytes, and 2",
	};
	tare_training_options options = options_of("long_names");
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	tare_training *training;

	scene_clock();
	training = open_one(&options);
	(void)tare_epoch_begin(training);
	for (int i = 0; i < 3; i++) {
		phase(training, names[i], 1);
		CHECK_INT(tare_training_value(training, names[i], i), 0);
	}
	phase(training, "a phase", 1);
	CHECK_INT(tare_epoch_end(training, &epoch), 0);
	CHECK_INT(epoch.n_phases, 4 + 3);
	CHECK_INT(phase_of(&epoch, names[2])->calls, 1);
	CHECK_INT(epoch.phases[4].calls, 2);
	CHECK(strncmp(epoch.phases[4].name, names[0], 47) == 0);
	CHECK_INT(strlen(epoch.phases[4].name), 47);
	CHECK_INT(tare_training_close(training), 0);
}

TEST(names_are_told_apart_by_what_is_kept_of_them)
{
	scene_play(long_names);
}

/* ---- the log ----------------------------------------------------------- */

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
