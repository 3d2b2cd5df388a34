/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPUs under stress: forks while they are read, starts and stops, threads
 * that ask while others stop, drivers that hang when the process ends.
 */
#include "scratch.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"
#include "../gpu/driver.h"
#include "record/gpu/state.h"

#define CYCLES 10000u
#define FORKS 200u
#define ASKERS 3u

static uint32_t is_over; /* atomic */

/* ---- starts and stops -------------------------------------------------- */

static void end_child(void)
{
	(void)fflush(stdout);
	_exit(check_failures() > 0);
}

static uint64_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;

	if (!CHECK(file && fscanf(file, "%*u %llu", &pages) == 1))
		printf("# no /proc/self/statm\n");
	if (file)
		(void)fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static unsigned open_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	unsigned n = 0;

	while (files && readdir(files))
		n++;
	if (files)
		(void)closedir(files);
	return n;
}

static void cycle(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		driver_poll();
		CHECK_INT(tare_gpu_count(), 2);
		tr_gpu_stop();
		/* It waits for a moment only. */
		while (driver_threads() > 0)
			(void)sched_yield();
	}
}

static void start_and_stop(void *arg)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	unsigned n = scratch_times(CYCLES), files;
	uint64_t before, after;

	(void)arg;
	driver->n_boards = 2;
	cycle(100);
	before = resident_bytes();
	files = open_files();
	cycle(n);
	after = resident_bytes();
	CHECK_INT(open_files(), files);
	/* A leak of a page a cycle would be 40 MB. Sanitizers keep what is
	 * freed for a while. */
	if (!SCRATCH_ASAN && !SCRATCH_TSAN &&
	    !CHECK(after < before + (4u << 20)))
		printf("# %llu bytes more\n",
		       (unsigned long long)(after - before));
	CHECK_INT(driver->n_calls[CALL_INIT], n + 100);
	CHECK_INT(driver->n_shutdowns, n + 100);
	end_child();
}

TEST(ten_thousand_starts_and_stops_leave_nothing)
{
	CHECK(scratch_run(start_and_stop, NULL, 100));
}

/* ---- asking while others stop ------------------------------------------ */

static void *ask(void *arg)
{
	uint64_t *n = arg;

	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		tare_gpu gpu = { .struct_size = sizeof(gpu) };

		driver_poll();
		if (tare_gpu_read(0, &gpu) == 0 && !isnan(gpu.load_percent))
			DONE(*n, 1);
	}
	return NULL;
}

static uint64_t least(const uint64_t answers[ASKERS])
{
	uint64_t n = UINT64_MAX;

	for (unsigned i = 0; i < ASKERS; i++)
		if (READ(answers[i]) < n)
			n = READ(answers[i]);
	return n;
}

static void ask_and_stop(void *arg)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	uint64_t answers[ASKERS] = { 0 };
	pthread_t thread[ASKERS];

	(void)arg;
	tr_gpu_set_interval(1);
	for (unsigned i = 0; i < ASKERS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, ask, &answers[i]),
			  0);
	/* Nobody is left waiting: patience here is a minute. */
	while (least(answers) < scratch_times(1000))
		tr_gpu_stop();
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < ASKERS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	tr_gpu_stop();
	while (driver_threads() > 0)
		(void)sched_yield();
	CHECK_INT(driver->n_calls[CALL_INIT], driver->n_shutdowns);
	end_child();
}

TEST(questions_are_answered_while_others_stop)
{
	CHECK(scratch_run(ask_and_stop, NULL, 50));
}

/* ---- forks ------------------------------------------------------------- */

/* A child starts anew: its own thread, its own start of the driver. */
static void be_child(struct stand_in *driver)
{
	uint64_t inits = driver->n_calls[CALL_INIT];
	tare_gpu gpu = { .struct_size = sizeof(gpu) };

	if (tare_gpu_read(0, &gpu) || isnan(gpu.load_percent) ||
	    gpu.energy_j != 0)
		_exit(1);
	if (driver->n_calls[CALL_INIT] != inits + 1)
		_exit(2);
	if (driver_threads() != 1)
		_exit(3);
	tr_gpu_stop();
	_exit(0);
}

static void fork_often(void *arg)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	pthread_t thread;
	uint64_t answers = 0;
	int status;

	(void)arg;
	CHECK_INT(pthread_create(&thread, NULL, ask, &answers), 0);
	for (unsigned i = 0; i < scratch_times(FORKS); i++) {
		pid_t child;

		driver_poll();
		child = fork();
		if (child == 0)
			be_child(driver);
		status = scratch_wait(child, 20);
		CHECK_INT(status, 0);
	}
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	CHECK_INT(pthread_join(thread, NULL), 0);
	CHECK(READ(answers) > 0);
	end_child();
}

TEST(forks_while_gpus_are_read)
{
	if (SCRATCH_TSAN)
		SKIP("a child of threads may not make threads there");
	CHECK(scratch_run(fork_often, NULL, 100));
}

/* ---- the end of a process ---------------------------------------------- */

static void end_while_hanging(void *arg)
{
	struct stand_in *driver = driver_use("nvml_stand_in");
	tare_gpu gpu = { .struct_size = sizeof(gpu) };

	(void)arg;
	tr_gpu_patience_ns = 0; /* as in a real program */
	CHECK_INT(tare_gpu_count(), 1);
	__atomic_store_n(&driver->hangs[CALL_POWER], 1, __ATOMIC_RELEASE);
	driver_poll();
	(void)!tare_gpu_read(0, &gpu);
	exit(check_failures() > 0);
}

TEST(a_process_ends_while_its_driver_hangs)
{
	CHECK(scratch_run(end_while_hanging, NULL, 20));
}

static void read_at_the_end(void)
{
	tare_gpu gpu = { .struct_size = sizeof(gpu) };

	/* What was read last is still told. */
	if (tare_gpu_read(0, &gpu) || gpu.load_percent != 10)
		_exit(9);
}

static void end_while_asked(void *arg)
{
	(void)arg;
	(void)driver_use("nvml_stand_in");
	(void)atexit(read_at_the_end); /* runs after ours */
	driver_poll();
	exit(check_failures() > 0);
}

TEST(gpus_may_be_asked_for_at_the_end)
{
	CHECK(scratch_run(end_while_asked, NULL, 20));
}
