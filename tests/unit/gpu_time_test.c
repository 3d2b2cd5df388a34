/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs over time: the cache, energy, heat, and drivers that hang. The clock
 * is the test's own.
 */
#include "check.h"
#include "scene.h"

#include <tare/control.h>
#include <tare/gpu.h>

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "gpu/driver.h"
#include "record/gpu/state.h"

#define SECOND INT64_C(1000000000)
#define THREADS 4
#define READINGS 200

static struct stand_in *begin(void)
{
	struct stand_in *driver = driver_use("nvml_stand_in");

	scene_clock();
	return driver;
}

/* ---- cache ------------------------------------------------------------- */

static void play_cache(void)
{
	struct stand_in *driver = begin();
	tare_gpu gpu;

	tr_gpu_set_interval(SECOND);
	CHECK_INT(driver_read(0).age_ns, 0);
	scene_pass_ns(SECOND - 1);
	driver->board[0].load = 99;
	gpu = driver_read(0);
	CHECK_INT(gpu.age_ns, SECOND - 1);
	CHECK_INT(gpu.at_ns, scene_real_ns() - (SECOND - 1));
	CHECK_NEAR(gpu.load_percent, 10, 0);
	CHECK_INT(driver->n_calls[CALL_LOAD], 1);
	scene_pass_ns(1);
	gpu = driver_read(0);
	CHECK_INT(gpu.age_ns, 0);
	CHECK_NEAR(gpu.load_percent, 99, 0);
	CHECK_INT(driver->n_calls[CALL_LOAD], 2);
	/* The wall's clock may jump: ages are of the other one. */
	scene_step_real_ns(-3600 * SECOND);
	CHECK_INT(driver_read(0).age_ns, 0);
	CHECK_INT(driver->n_calls[CALL_LOAD], 2);
}

TEST(a_young_reading_is_answered_with_its_age)
{
	scene_play(play_cache);
}

/* Once an interval, now a little early, now late: as many readings. */
static void play_jitter(void)
{
	struct stand_in *driver = begin();
	int64_t start = scene_monotonic_ns();
	unsigned n = 100;

	tr_gpu_set_interval(SECOND);
	for (unsigned i = 0; i < n; i++) {
		int64_t at = start + i * SECOND + (i % 7) * 1000;

		scene_pass_ns(at - scene_monotonic_ns());
		(void)driver_read(0);
	}
	CHECK_INT(driver->n_calls[CALL_LOAD], n);
	/* Ten times an interval: still no more than one in each. */
	for (unsigned i = 0; i < 10 * n; i++) {
		(void)driver_read(0);
		/* Boards that do not answer for 2 s are gone: not so fast. */
		scene_pass_ns(SECOND / 100);
	}
	CHECK(driver->n_calls[CALL_LOAD] <= 2 * n + 1);
}

TEST(there_is_one_reading_an_interval)
{
	scene_play(play_jitter);
}

static void play_option(void)
{
	struct stand_in *driver = begin();

	CHECK_INT(tare_option_set("gpu_monitor_interval", "5"), 0);
	(void)driver_read(0);
	scene_pass_ns(4 * SECOND);
	(void)driver_read(0);
	CHECK_INT(driver->n_calls[CALL_LOAD], 1);
	CHECK_INT(tare_option_set("gpu_monitor_interval", "0.01"), 0);
	(void)driver_read(0);
	scene_pass_ns(SECOND / 100);
	(void)driver_read(0);
	CHECK_INT(driver->n_calls[CALL_LOAD], 2);
	CHECK_INT(tare_option_set("gpu_monitor_interval", "0"), TARE_ERANGE);
}

TEST(the_interval_is_an_option)
{
	scene_play(play_option);
}

/* Now and then a thread loses its processor just after it read the clock. */
static int64_t late_clock(int64_t *ret_real)
{
	static uint32_t n;
	int64_t ns = scene_monotonic_ns();

	*ret_real = scene_real_ns();
	if (__atomic_add_fetch(&n, 1, __ATOMIC_RELAXED) % 64 == 0)
		(void)usleep(2000);
	return ns;
}

static void *read_often(void *arg)
{
	unsigned i = 0;

	while (i < READINGS) {
		tare_gpu gpu = { .struct_size = sizeof(gpu) };

		if (tare_gpu_read(0, &gpu) || isnan(gpu.load_percent))
			return arg;
		/*
		 * Boards that do not answer for 2 s are gone: not so fast, and
		 * not while the one who asks the driver has no processor.
		 */
		if (gpu.age_ns > 11 * SECOND / 10) {
			(void)sched_yield();
			continue;
		}
		scene_pass_ns(SECOND / 100);
		i++;
	}
	return NULL;
}

static void play_threads(void)
{
	struct stand_in *driver = begin();
	pthread_t thread[THREADS];
	void *wrong;

	tr_clock_replace(late_clock);
	tr_gpu_set_interval(SECOND);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, read_often,
					 driver),
			  0);
	for (unsigned i = 0; i < THREADS; i++) {
		CHECK_INT(pthread_join(thread[i], &wrong), 0);
		CHECK(!wrong);
	}
	CHECK(driver->n_calls[CALL_LOAD] <= THREADS * READINGS / 100 + 1);
	CHECK_INT(driver_threads(), 1);
}

TEST(many_threads_share_the_readings)
{
	scene_play(play_threads);
}

/* ---- energy ------------------------------------------------------------ */

/* A second on, at this power; the counter counts what is given. */
static double pass(struct stand_in *driver, double watts, double counted)
{
	scene_pass_ns(SECOND);
	driver->board[0].power_mw = (unsigned)(watts * 1e3);
	driver->board[0].energy_mj += (uint64_t)(counted * 1e3);
	return driver_poll_one(0).energy_j;
}

static void play_energy(void)
{
	struct stand_in *driver = begin();
	double energy = 0, next;

	CHECK_NEAR(driver_poll_one(0).energy_j, 0, 0);
	/* 100 W at first: power over time fills the gaps. */
	for (int s = 1; s <= 9; s++)
		CHECK_NEAR(pass(driver, 100, 120), 100.0 * s, 1e-6);
	CHECK_INT(driver->n_calls[CALL_ENERGY], 1);
	/* Each 10 s the counter has the word. */
	CHECK_NEAR(pass(driver, 100, 120), 1200, 1e-6);
	CHECK_INT(driver->n_calls[CALL_ENERGY], 2);
	/* Where power was too much, it waits for the counter. */
	for (int s = 1; s <= 9; s++) {
		next = pass(driver, 100, 50);
		CHECK(next >= energy);
		energy = next;
	}
	CHECK_NEAR(energy, 2100, 1e-6);
	CHECK_NEAR(pass(driver, 100, 50), 2100, 1e-6);
	for (int s = 1; s <= 4; s++)
		CHECK_NEAR(pass(driver, 100, 100), 2100, 1e-6);
	CHECK_NEAR(pass(driver, 100, 100), 2200, 1e-6);
	CHECK_NEAR(pass(driver, 300, 200), 2400, 1e-6);
	/* Asked for: now. */
	tr_gpu_poll(true);
	CHECK_NEAR(driver_read(0).energy_j, 2400, 1e-6);
	CHECK_INT(driver->n_calls[CALL_ENERGY], 4);
}

TEST(energy_follows_power_and_is_set_right_by_the_counter)
{
	scene_play(play_energy);
}

/* A counter that wraps, is reset, or jumps: power tells instead. */
static void play_wrap(void)
{
	static const uint64_t then[] = { 7, 0, UINT64_MAX - 1000,
					 UINT64_C(1) << 40 };
	struct stand_in *driver = begin();
	double energy = driver_poll_one(0).energy_j, next;

	for (size_t i = 0; i < 4; i++) {
		for (int s = 0; s < 9; s++)
			energy = pass(driver, 100, 100);
		driver->board[0].energy_mj = then[i];
		next = pass(driver, 100, 0);
		CHECK_NEAR(next, energy + 100, 1e-6);
	}
	CHECK_NEAR(next, 4000, 1e-6);
}

TEST(a_counter_that_wraps_loses_nothing)
{
	scene_play(play_wrap);
}

static void play_no_counter(void)
{
	struct stand_in *driver = begin();

	driver->result[CALL_ENERGY] = 3;
	CHECK_NEAR(driver_poll_one(0).energy_j, 0, 0);
	CHECK_NEAR(pass(driver, 200, 0), 150, 1e-6);
	CHECK_NEAR(pass(driver, 200, 0), 350, 1e-6);
	/* A gap of power is not filled. */
	driver->result[CALL_POWER] = 3;
	CHECK_NEAR(pass(driver, 200, 0), 350, 1e-6);
	driver->result[CALL_POWER] = 0;
	CHECK_NEAR(pass(driver, 200, 0), 350, 1e-6);
	CHECK_NEAR(pass(driver, 200, 0), 550, 1e-6);
}

TEST(without_a_counter_energy_is_power_over_time)
{
	scene_play(play_no_counter);
}

static void play_neither(void)
{
	struct stand_in *driver = begin();

	driver->result[CALL_ENERGY] = driver->result[CALL_POWER] = 3;
	CHECK(isnan(driver_poll_one(0).energy_j));
	scene_pass_ns(SECOND);
	CHECK(isnan(driver_poll_one(0).energy_j));
}

TEST(energy_that_nobody_tells_is_unknown)
{
	scene_play(play_neither);
}

/* Energy goes on where the drivers were closed in between. */
static void play_stop(void)
{
	struct stand_in *driver = begin();
	double energy;

	(void)driver_poll_one(0);
	energy = pass(driver, 100, 100);
	tr_gpu_stop();
	CHECK_INT(driver->n_shutdowns, 1);
	energy = pass(driver, 100, 130) - energy;
	CHECK_NEAR(energy, 130, 1e-6);
	CHECK_INT(driver->n_calls[CALL_INIT], 2);
}

TEST(energy_outlives_a_stop)
{
	scene_play(play_stop);
}

/* ---- heat -------------------------------------------------------------- */

static bool is_hot_at(struct stand_in *driver, unsigned degrees)
{
	driver->board[0].temperature = degrees;
	return driver_poll_one(0).is_hot;
}

static void play_heat(void)
{
	struct stand_in *driver = begin();

	CHECK(!is_hot_at(driver, 89));
	CHECK(is_hot_at(driver, 90));
	CHECK(is_hot_at(driver, 88));
	CHECK(!is_hot_at(driver, 87));
	CHECK(!is_hot_at(driver, 89));
	CHECK(is_hot_at(driver, 95));
	CHECK_INT(driver_messages("too hot"), 1);
	CHECK(!is_hot_at(driver, 40));
	driver->board[0].reasons = 0x20;
	CHECK(is_hot_at(driver, 40));
	driver->board[0].reasons = 0;
	CHECK(!is_hot_at(driver, 40));
}

TEST(a_hot_board_is_hot_until_it_is_three_degrees_cooler)
{
	scene_play(play_heat);
}

/* ---- drivers that hang ------------------------------------------------- */

static void set_hang(struct stand_in *driver, enum stand_in_call call,
		     uint32_t hangs)
{
	__atomic_store_n(&driver->hangs[call], hangs, __ATOMIC_RELEASE);
}

static void wait_for_call(struct stand_in *driver, enum stand_in_call call,
			  uint64_t n)
{
	while (__atomic_load_n(&driver->n_calls[call], __ATOMIC_ACQUIRE) < n)
		(void)sched_yield();
}

static void play_hang(void)
{
	struct stand_in *driver = begin();
	tare_gpu gpu;

	gpu = driver_read(0);
	tr_gpu_patience_ns = 1000000; /* and no more */
	set_hang(driver, CALL_POWER, 1);
	scene_pass_ns(SECOND);
	driver->board[0].load = 55;
	gpu = driver_read(0);
	wait_for_call(driver, CALL_POWER, 2);
	/* Late is not gone yet: the last reading is told. */
	CHECK(!gpu.is_gone);
	CHECK_NEAR(gpu.load_percent, 10, 0);
	CHECK_INT(gpu.age_ns, SECOND);
	scene_pass_ns(3 * SECOND);
	for (int i = 0; i < 100; i++) {
		gpu = driver_read(0);
		CHECK(gpu.is_gone && isnan(gpu.load_percent));
		CHECK_INT(gpu.age_ns, 4 * SECOND);
		CHECK_STR(gpu.name, "Stand-in 0");
	}
	CHECK_STR(tare_gpu_reason(), "the driver does not answer");
	CHECK_INT(driver_messages("does not answer"), 1);
	/* No second thread walks into the same trap. */
	tr_gpu_stop();
	driver_poll();
	CHECK_INT(driver->n_calls[CALL_INIT], 1);
	CHECK_INT(driver_threads(), 1);
	/* It returns. */
	tr_gpu_patience_ns = 60 * SECOND;
	set_hang(driver, CALL_POWER, 0);
	do
		gpu = driver_poll_one(0);
	while (gpu.is_gone);
	CHECK_NEAR(gpu.load_percent, 55, 0);
	CHECK_STR(tare_gpu_reason(), "");
	CHECK_INT(driver_messages("answers again"), 1);
}

TEST(a_driver_that_hangs_stops_nobody)
{
	scene_play(play_hang);
}

static void play_hanging_start(void)
{
	struct stand_in *driver = begin();
	tare_gpu gpu = { .struct_size = sizeof(gpu) };

	tr_gpu_patience_ns = 1000000;
	set_hang(driver, CALL_INIT, 1);
	CHECK_INT(tare_gpu_count(), 0);
	CHECK_STR(tare_gpu_reason(), "the driver has not answered yet");
	CHECK_INT(tare_gpu_read(0, &gpu), TARE_EINVAL);
	wait_for_call(driver, CALL_INIT, 1);
	scene_pass_ns(3 * SECOND);
	CHECK_STR(tare_gpu_reason(), "the driver does not answer");
	CHECK_INT(driver_messages("does not answer"), 1);
	set_hang(driver, CALL_INIT, 0);
	while (!tare_gpu_count() || driver_read(0).is_gone)
		(void)sched_yield();
	CHECK_NEAR(driver_read(0).load_percent, 10, 0);
	CHECK_STR(tare_gpu_reason(), "");
}

TEST(a_driver_that_hangs_at_its_start_is_told)
{
	scene_play(play_hanging_start);
}

/* Driver unloaded and loaded again: after a minute it is opened anew. */
static void play_reload(void)
{
	struct stand_in *driver = begin();

	(void)driver_read(0);
	driver->board[0].is_lost = 1;
	CHECK(driver_poll_one(0).is_gone);
	scene_pass_ns(59 * SECOND);
	CHECK(driver_poll_one(0).is_gone);
	CHECK_INT(driver->n_calls[CALL_INIT], 1);
	scene_pass_ns(2 * SECOND);
	driver->board[0].is_lost = 0;
	driver->board[0].load = 33;
	CHECK_NEAR(driver_poll_one(0).load_percent, 33, 0);
	CHECK_INT(driver->n_calls[CALL_INIT], 2);
	CHECK_INT(driver->n_shutdowns, 1);
	/* And if there is none any more: none, with a reason. */
	driver->board[0].is_lost = 1;
	CHECK(driver_poll_one(0).is_gone);
	driver->n_boards = 0;
	scene_pass_ns(61 * SECOND);
	driver_poll();
	CHECK_INT(tare_gpu_count(), 0);
	CHECK(strstr(tare_gpu_reason(), "has no GPU") != NULL);
}

TEST(a_driver_that_was_reloaded_is_opened_anew)
{
	scene_play(play_reload);
}
