/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The monitor at a reading a millisecond, while all goes on around it: it is
 * switched on and off, the process is forked, killed, ended, its module is
 * closed, and there is no thread to be had.
 */
#include "scratch.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tare/tare.h>

#include "../check.h"
#include "read/view.h"

static const char *const quick[] = { "monitor", "system,process",
				     "monitor_interval", "0.001", NULL };

/* ---- a pthread_create that can fail ------------------------------------ */

typedef int (*create_fn)(pthread_t *, const pthread_attr_t *,
			 void *(*)(void *), void *);

static unsigned refusals; /* the next so many calls fail */

/* Before libc's: the library is linked into this program. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr,
		   void *(*start)(void *), void *arg)
{
	static create_fn real;

	if (READ(refusals)) {
		refusals--;
		return EAGAIN;
	}
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(thread, attr, start, arg);
}

/* ---- helpers ----------------------------------------------------------- */

/* Values of a series of a run so far. */
static uint64_t readings_of(const char *run, const char *source,
			    const char *name)
{
	const tare_stats *rows;
	tare_view *view;
	uint64_t count = 0;
	size_t n;

	if (tare_view_open(run, &view))
		return 0;
	if (tare_view_stats(view, NULL, &rows, &n))
		n = 0;
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].source, source) == 0 &&
		    strcmp(rows[i].name, name) == 0)
			count = rows[i].count;
	tare_view_close(view);
	return count;
}

static uint64_t readings(const char *source, const char *name)
{
	return readings_of("self", source, name);
}

static void wait_for_readings(const char *source, uint64_t n)
{
	while (readings(source, source[0] == 's' ? "memory.used" : "rss") < n)
		sched_yield();
}

static void pause_ns(long ns)
{
	struct timespec pause = { .tv_nsec = ns };

	(void)nanosleep(&pause, NULL);
}

/* ---- on and off -------------------------------------------------------- */

struct recorder {
	uint64_t done;
	uint32_t stop;
};

static void *record(void *arg)
{
	struct recorder *r = arg;

	while (!READ(r->stop)) {
		{
			TARE_SCOPE("work");
			TARE_VALUE("size", "B", 7);
		}
		DONE(r->done, 1);
	}
	return NULL;
}

static void be_switched(void *arg)
{
	struct recorder r[2] = { { 0, 0 }, { 0, 0 } };
	unsigned n = scratch_times(10000);
	pthread_t thread[2];

	scratch_start(quick);
	for (int i = 0; i < 2; i++)
		if (pthread_create(&thread[i], NULL, record, &r[i]))
			_exit(1);
	for (unsigned i = 0; i < n; i++) {
		if (tare_monitor_enable(1u << i % 2) ||
		    tare_monitor_disable(i % 3 ? 3 : 1u << i % 2))
			_exit(2);
	}
	if (tare_monitor_enable(TARE_MONITOR_PROCESS))
		_exit(3);
	wait_for_readings("process", 1);
	for (int i = 0; i < 2; i++) {
		__atomic_store_n(&r[i].stop, 1, __ATOMIC_RELEASE);
		(void)pthread_join(thread[i], NULL);
	}
	*(uint64_t *)arg = r[0].done + r[1].done;
	_exit(0);
}

static void check_ledger(pid_t pid, uint64_t wanted)
{
	struct scratch_reading reading;
	char path[512];

	if (!CHECK(scratch_ledger(pid, path, sizeof(path))) ||
	    !CHECK(scratch_read(path, &reading)))
		return;
	CHECK_INT(scratch_row(&reading, "work", TARE_KIND_SCOPE).count,
		  wanted);
	CHECK_INT(scratch_row(&reading, "size", TARE_KIND_VALUE).count,
		  wanted);
	CHECK_INT(tare_view_health(reading.view)->lost, 0);
	CHECK(scratch_row(&reading, "rss", TARE_KIND_GAUGE).count > 0);
	scratch_close(&reading);
}

TEST(on_and_off_ten_thousand_times_while_threads_record)
{
	uint64_t *done = scratch_share(sizeof(*done));
	pid_t pid;

	scratch_enter();
	pid = scratch_fork(be_switched, done);
	if (CHECK_INT(scratch_wait(pid, 200), 0))
		check_ledger(pid, *done);
	scratch_leave();
	scratch_unshare(done, sizeof(*done));
}

/* ---- fork -------------------------------------------------------------- */

/* The child's own thread reads; with a parent's it would find nothing. */
static int be_forked(void)
{
	TARE_COUNT("child", 1);
	wait_for_readings("process", 2);
	(void)tare_stop();
	return 0;
}

static void be_parent(void *arg)
{
	unsigned n = scratch_times(100);

	(void)arg;
	scratch_start(quick);
	wait_for_readings("system", 1);
	for (unsigned i = 0; i < n; i++) {
		pid_t child = fork();
		int status = -1;

		if (!child)
			_exit(i % 2 ? be_forked() : 0);
		if (waitpid(child, &status, 0) != child || status)
			_exit(2);
	}
	wait_for_readings("process", readings("process", "rss") + 1);
	_exit(0);
}

TEST(a_fork_while_it_reads_leaves_a_child_that_can)
{
	if (SCRATCH_TSAN)
		SKIP("the sanitizer's own locks do not survive it");
	scratch_enter();
	CHECK(scratch_run(be_parent, NULL, 200));
	scratch_leave();
}

/* A child that never measures gets no thread, and ends. */
static void be_parent_of_idle(void *arg)
{
	pid_t child;
	int status = -1;

	(void)arg;
	scratch_start(quick);
	wait_for_readings("system", 1);
	child = fork();
	if (!child) {
		pause_ns(5000000);
		_exit(tare_monitor_cost_ns() == 0 ? 0 : 1);
	}
	if (waitpid(child, &status, 0) != child || status)
		_exit(2);
	_exit(0);
}

TEST(a_child_that_measures_nothing_has_no_monitor)
{
	scratch_enter();
	CHECK(scratch_run(be_parent_of_idle, NULL, 60));
	scratch_leave();
}

/* ---- kill and exit ----------------------------------------------------- */

static void be_killed(void *arg)
{
	uint32_t *ready = arg;

	scratch_start(quick);
	__atomic_store_n(ready, 1, __ATOMIC_RELEASE);
	for (;;) {
		TARE_SCOPE("work");
	}
}

TEST(a_kill_while_it_reads_leaves_a_ledger_that_is_whole)
{
	uint32_t *ready = scratch_share(sizeof(*ready));
	unsigned n = scratch_times(100);
	uint64_t dice = 4711;

	for (unsigned i = 0; i < n; i++) {
		struct scratch_reading reading;
		char path[512];
		pid_t pid;

		scratch_enter();
		*ready = 0;
		pid = scratch_fork(be_killed, ready);
		while (!READ(*ready))
			sched_yield();
		pause_ns((long)(scratch_random(&dice) % 4000000));
		(void)kill(pid, SIGKILL);
		(void)waitpid(pid, NULL, 0);
		if (CHECK(scratch_ledger(pid, path, sizeof(path))) &&
		    CHECK(scratch_read(path, &reading)))
			scratch_close(&reading);
		scratch_leave();
	}
	scratch_unshare(ready, sizeof(*ready));
}

static void be_ended(void *arg)
{
	uint64_t dice = 1 + *(const unsigned *)arg;

	scratch_start(quick);
	TARE_COUNT("before", 1);
	pause_ns((long)(scratch_random(&dice) % 3000000));
	exit(0);
}

TEST(an_exit_while_it_reads_is_an_exit)
{
	unsigned n = scratch_times(100);

	for (unsigned i = 0; i < n; i++) {
		scratch_enter();
		CHECK(scratch_run(be_ended, &i, 30));
		scratch_leave();
	}
}

/* ---- no thread --------------------------------------------------------- */

static unsigned messages;

static void count_message(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	if (level == TARE_LEVEL_WARNING && strstr(text, "no thread"))
		messages++;
}

static void be_refused(void *arg)
{
	(void)arg;
	tare_log_set(count_message, NULL);
	refusals = 1000;
	scratch_start(quick); /* measures all the same */
	if (messages != 1)
		_exit(1);
	for (int i = 0; i < 10; i++)
		if (tare_monitor_enable(TARE_MONITOR_PROCESS) != TARE_ENOMEM)
			_exit(2);
	if (messages != 1 || readings("process", "rss") != 0)
		_exit(3);
	if (tare_monitor_sample() || readings("process", "rss") != 1)
		_exit(4);
	/* There is one at last. */
	refusals = 0;
	if (tare_monitor_enable(TARE_MONITOR_PROCESS))
		_exit(5);
	wait_for_readings("process", 3);
	(void)tare_stop();
	_exit(messages == 1 ? 0 : 6);
}

TEST(without_a_thread_it_says_so_once_and_reads_when_asked)
{
	scratch_enter();
	CHECK(scratch_run(be_refused, NULL, 60));
	scratch_leave();
}

/* ---- dlclose ----------------------------------------------------------- */

static void wait_for_more(const char *ledger)
{
	uint64_t n = readings_of(ledger, "process", "rss");

	while (readings_of(ledger, "process", "rss") < n + 3)
		sched_yield();
}

/* The module has a copy of the library in it, and that one measures. */
static void be_closed(void *arg)
{
	const char *build = getenv("TARE_TEST_BUILD");
	char path[512];
	void *module;

	(void)arg;
	(void)snprintf(path, sizeof(path), "%s/copy_one.so",
		       build ? build : ".");
	scratch_environment();
	(void)setenv("TARE_MONITOR", "system,process", 1);
	(void)setenv("TARE_MONITOR_INTERVAL", "0.001", 1);
	module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!module) {
		fprintf(stderr, "%s\n", dlerror());
		_exit(1);
	}
	if (!scratch_ledger(getpid(), path, sizeof(path)))
		_exit(2);
	wait_for_more(path);
	if (dlclose(module))
		_exit(3);
	wait_for_more(path);
	_exit(0);
}

TEST(a_module_that_is_closed_leaves_its_monitor_alive)
{
	struct scratch_reading reading;
	char path[512];
	pid_t pid;

	scratch_enter();
	pid = scratch_fork(be_closed, NULL);
	if (CHECK_INT(scratch_wait(pid, 100), 0) &&
	    CHECK(scratch_ledger(pid, path, sizeof(path))) &&
	    CHECK(scratch_read(path, &reading))) {
		CHECK(scratch_row(&reading, "rss", TARE_KIND_GAUGE).count >= 6);
		scratch_close(&reading);
	}
	scratch_leave();
}
