/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live: a process is switched, filtered, cleared and read from outside and
 * from inside while its threads record. A scope is counted completely or
 * not at all; a reader finds nothing damaged.
 */
#include "scratch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../check.h"
#include "read/view.h"

#define THREADS 4u
#define SWITCHES 700u /* more than the control page has words for */
#define READS 300u
#define CLEARS 40u

struct produced {
	_Alignas(64) uint64_t one, two; /* scopes that were on */
	uint64_t asked;			/* all of `one` */
	uint64_t counted;		/* counter calls, on or off */
	uint64_t values;
};

struct shared {
	struct produced of[THREADS];
	uint32_t ready, stop;
	uint64_t reads;
	char path[512];
};

static struct shared *shared;

static void pass(tare_site *site, uint64_t *on)
{
	tare_scope scope = tare_scope_begin(site);

	tare_scope_end(scope);
	DONE(*on, scope.frame != NULL);
}

static void *record(void *arg)
{
	struct produced *p = &shared->of[(uintptr_t)arg];
	TARE_SCOPE_SITE_DEFINE(one, "one");
	TARE_SCOPE_SITE_DEFINE(two, "two");
	TARE_SCOPE_SITE_DEFINE(around, "around");
	tare_scope outer;

	(void)__atomic_fetch_add(&shared->ready, 1, __ATOMIC_RELEASE);
	while (!READ(shared->stop)) {
		outer = tare_scope_begin(&around);
		DONE(p->asked, 1);
		pass(&one, &p->one);
		pass(&two, &p->two);
		tare_scope_end(outer);
		DONE(p->counted, 1);
		TARE_COUNT("counter", 1);
		TARE_VALUE("value", "1", 1);
		DONE(p->values, 1);
	}
	return NULL;
}

static void run_threads(void *(*extra)(void *arg))
{
	pthread_t thread[THREADS], reader;

	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, record, (void *)i))
			_exit(98);
	if (extra && pthread_create(&reader, NULL, extra, NULL))
		_exit(98);
	for (unsigned i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
	if (extra)
		(void)pthread_join(reader, NULL);
}

static void be_watched(void *arg)
{
	scratch_start(arg);
	strcpy(shared->path, tare_ledger_path());
	run_threads(NULL);
}

static struct produced sum_of_produced(void)
{
	struct produced sum = { 0 };

	for (unsigned i = 0; i < THREADS; i++) {
		sum.one += READ(shared->of[i].one);
		sum.two += READ(shared->of[i].two);
		sum.asked += READ(shared->of[i].asked);
		sum.counted += READ(shared->of[i].counted);
		sum.values += READ(shared->of[i].values);
	}
	return sum;
}

static void wait_until_ready(void)
{
	double until = scratch_seconds() + 20;

	while (READ(shared->ready) < THREADS && scratch_seconds() < until)
		(void)usleep(100);
	CHECK_INT(READ(shared->ready), THREADS);
}

static void stop_and_wait(pid_t pid)
{
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	CHECK_INT(scratch_wait(pid, 60), 0);
}

static void enter(void)
{
	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
}

static void leave(void)
{
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}

/* ---- switches ---------------------------------------------------------- */

/* Everything off and on, and one of two names. */
static void switch_often(pid_t pid, unsigned times)
{
	for (unsigned i = 0; i < times; i++) {
		int err = i % 3 == 2 ?
				  tare_remote_set(pid, "exclude",
						  i & 1 ? "one" : "") :
				  tare_remote_enable(pid, i % 3 == 1);

		if (!CHECK_INT(err, 0))
			return;
		(void)usleep(i % 7 * 100);
	}
	CHECK_INT(tare_remote_enable(pid, true), 0);
	CHECK_INT(tare_remote_set(pid, "exclude", ""), 0);
}

static bool is_recording(uint64_t before)
{
	double until = scratch_seconds() + 10;

	while (scratch_seconds() < until) {
		if (sum_of_produced().one > before + 100)
			return true;
		(void)usleep(100);
	}
	return false;
}

TEST(a_scope_is_counted_completely_or_not_at_all)
{
	struct scratch_reading r;
	struct produced sum;
	pid_t pid;

	enter();
	pid = scratch_fork(be_watched, NULL);
	wait_until_ready();
	switch_often(pid, SCRATCH_TSAN ? SWITCHES / 10 : SWITCHES);
	/* On at last: every thread notices. */
	CHECK(is_recording(sum_of_produced().one));
	stop_and_wait(pid);
	if (scratch_read(shared->path, &r)) {
		sum = sum_of_produced();
		CHECK_INT(scratch_row(&r, "one", TARE_KIND_SCOPE).count,
			  sum.one);
		CHECK_INT(scratch_row(&r, "two", TARE_KIND_SCOPE).count,
			  sum.two);
		CHECK(sum.one < sum.two && sum.two < sum.asked);
		CHECK(scratch_row(&r, "counter", TARE_KIND_COUNTER).count <
		      sum.counted);
		CHECK_INT(tare_view_health(r.view)->lost, 0);
		CHECK_INT(tare_view_health(r.view)->stray_ends, 0);
		CHECK_INT(tare_view_health(r.view)->repairs, 0);
		scratch_close(&r);
	}
	leave();
}

/* ---- readers ----------------------------------------------------------- */

/* All that there is to be read, twice as fast as anybody would. */
static uint64_t read_all(const char *which, uint64_t *ret_damaged)
{
	const tare_stats *row;
	const tare_node *node;
	const tare_record *record_;
	const tare_event *event;
	tare_view *view;
	uint64_t count = 0;
	size_t n;

	if (tare_view_open(which, &view))
		return UINT64_MAX;
	if (tare_view_stats(view, NULL, &row, &n) == 0)
		for (size_t i = 0; i < n; i++)
			if (strcmp(row[i].name, "one") == 0)
				count = row[i].count;
	if (tare_view_tree(view, &node, &n) ||
	    tare_view_records(view, NULL, &record_, &n) ||
	    tare_view_events(view, &event, &n))
		count = UINT64_MAX;
	*ret_damaged = tare_view_health(view)->damaged;
	tare_view_close(view);
	return count;
}

/* Between what was done before it was opened and after. */
static bool read_one(const char *which, uint64_t *last)
{
	uint64_t before = sum_of_produced().one, damaged = 0;
	uint64_t is = read_all(which, &damaged), after;

	after = sum_of_produced().one;
	if (damaged || is < *last || is < before || is > after + THREADS) {
		printf("# read %llu, done %llu to %llu, read before %llu, "
		       "damaged %llu\n",
		       (unsigned long long)is, (unsigned long long)before,
		       (unsigned long long)after, (unsigned long long)*last,
		       (unsigned long long)damaged);
		return false;
	}
	*last = is;
	return true;
}

static void *read_self(void *arg)
{
	uint64_t last = 0;

	for (unsigned i = 0; i < scratch_times(READS); i++) {
		if (!read_one("self", &last))
			_exit(97);
		shared->reads++;
	}
	__atomic_store_n(&shared->stop, 1, __ATOMIC_RELEASE);
	return arg;
}

static void be_reader(void *arg)
{
	scratch_start(arg);
	strcpy(shared->path, tare_ledger_path());
	run_threads(read_self);
}

TEST(a_process_may_read_its_own_ledger_at_any_time)
{
	static const char *const options[] = { "trace", "true", "trace_events",
					       "1024", "keep_values", "8",
					       "keep_kinds", "all",
					       NULL };

	enter();
	if (scratch_run(be_reader, (void *)(uintptr_t)options, 100))
		CHECK_INT(shared->reads, scratch_times(READS));
	leave();
}

TEST(a_process_may_be_read_at_any_time)
{
	unsigned times = scratch_times(READS), bad = 0;
	uint64_t last = 0;
	pid_t pid;

	enter();
	pid = scratch_fork(be_watched, NULL);
	wait_until_ready();
	while (!shared->path[0])
		(void)usleep(100);
	for (unsigned i = 0; i < times && !bad; i++)
		bad += !read_one(shared->path, &last);
	CHECK_INT(bad, 0);
	stop_and_wait(pid);
	leave();
}

/* ---- clearing ---------------------------------------------------------- */

TEST(a_process_may_be_cleared_at_any_time)
{
	struct scratch_reading r;
	struct produced sum;
	const tare_health *health;
	pid_t pid;

	enter();
	pid = scratch_fork(be_watched, NULL);
	wait_until_ready();
	for (unsigned i = 0; i < scratch_times(CLEARS); i++) {
		CHECK_INT(tare_remote_clear(pid), 0);
		(void)usleep(2000);
	}
	stop_and_wait(pid);
	if (scratch_read(shared->path, &r)) {
		sum = sum_of_produced();
		health = tare_view_health(r.view);
		for (size_t i = 0; i < r.n; i++)
			CHECK(r.rows[i].count <= sum.asked);
		CHECK(health->cleared > 0);
		CHECK(scratch_row(&r, "one", TARE_KIND_SCOPE).count < sum.one);
		/* "around" is begun as often as it was asked for. */
		CHECK_INT(health->events + health->cleared,
			  sum.asked + sum.one + sum.two + sum.values);
		scratch_close(&r);
	}
	leave();
}
