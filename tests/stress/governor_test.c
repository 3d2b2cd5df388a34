/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Governor: hosts that call their probes so often that it must step in. It
 * must let go when they rest, keep every count unless it paused the site, and
 * leave alone what is not hot. A child goes its own way.
 *
 * How often is enough depends on the processor: hosts do less and less between
 * two calls until it steps in.
 */
#include "scratch.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"
#include "read/view.h"

#define RARITY 50000 /* hot calls to a rare one, which is no cost then */
/* In a tenth of a second, at rest: nothing to worry about. A probe under the
 * thread sanitizer takes microseconds, and more where others are at work. */
#define AT_REST (SCRATCH_TSAN ? 5 : 100)
#define TENTHS 600 /* of a second that anything here may take */

static uint32_t stop, rests;

static __attribute__((noinline)) uint64_t hot(uint64_t x)
{
	TARE_SCOPE("hot");
	return x * UINT64_C(6364136223846793005) + 1;
}

static uint64_t work(uint64_t x, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static unsigned between; /* work between two calls; written by the host */

struct runner {
	pthread_t thread;
	uint64_t hot, rare;
};

static void *run(void *arg)
{
	struct runner *r = arg;
	uint64_t x = 1;

	while (!READ(stop)) {
		TARE_SCOPE("rare");
		bool resting = READ(rests);
		unsigned n = READ(between);

		r->rare++;
		for (int i = 0; i < (resting ? AT_REST : RARITY); i++, r->hot++)
			x = work(hot(x), n);
		if (resting)
			(void)usleep(100000);
	}
	__asm__ volatile("" ::"r"(x));
	return NULL;
}

static tare_health health_now(void)
{
	tare_health health = { 0 };
	tare_view *view;

	if (tare_view_open("self", &view) == 0) {
		health = *tare_view_health(view);
		tare_view_close(view);
	}
	return health;
}

/* Waits until it has or has not stepped in; false: it never does. */
static bool wait_for(bool governed)
{
	for (int i = 0; i < TENTHS; i++) {
		if ((health_now().governed > 0) == governed)
			return true;
		(void)usleep(100000);
	}
	return false;
}

#define SECONDS_OF_ONE 3 /* tenths would do, if nobody else had the CPUs */

/* The same, with less and less work between calls. */
static bool wait_until_governed(void)
{
	for (int i = 1; i <= TENTHS; i++) {
		if (health_now().governed > 0)
			return true;
		(void)usleep(100000);
		if (i % (SECONDS_OF_ONE * 10) == 0)
			__atomic_store_n(&between, READ(between) / 2,
					 __ATOMIC_RELAXED);
	}
	return false;
}

struct shared {
	uint64_t hot, rare, told_hot, told_rare, timed, missed;
	uint64_t stepped_in, let_go, is_estimate, damaged, lost, records;
	uint64_t reasons, odd_reasons;
};

static struct shared *shared;

static void look(void)
{
	const tare_record *records;
	const tare_stats *rows;
	tare_view *view;
	size_t n;

	if (tare_view_open("self", &view))
		_exit(97);
	if (tare_view_stats(view, NULL, &rows, &n))
		_exit(96);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(rows[i].name, "rare") == 0)
			shared->told_rare = rows[i].count;
		if (strcmp(rows[i].name, "hot"))
			continue;
		shared->told_hot = rows[i].count;
		shared->timed = rows[i].timed;
		shared->is_estimate = rows[i].is_estimate;
	}
	shared->missed = tare_view_health(view)->missed;
	shared->damaged = tare_view_health(view)->damaged;
	shared->lost = tare_view_health(view)->lost;
	if (tare_view_records(view, NULL, &records, &n))
		_exit(95);
	for (size_t i = 0; i < n; i++)
		shared->records += records[i].kind == TARE_RECORD_GOVERNOR;
	tare_view_close(view);
}

/* A line that says it measures less has the figures that it is due to. */
static void note_reason(void *arg, enum tare_level level, const char *text)
{
	double share, limit;

	(void)arg;
	(void)level;
	if (!strstr(text, "of the CPU time") || strstr(text, " again"))
		return;
	(void)__atomic_add_fetch(&shared->reasons, 1, __ATOMIC_RELAXED);
	if (sscanf(text, "measuring took %lf %% of the CPU time, more than "
		   "%lf %%:", &share, &limit) == 2 && share >= limit)
		return;
	(void)__atomic_add_fetch(&shared->odd_reasons, 1, __ATOMIC_RELAXED);
	printf("# %s\n", text);
	(void)fflush(stdout);
}

static void start(const char *limit)
{
	const char *options[] = { "auto_disable_on_slow",
				  limit ? "true" : "false",
				  "performance_threshold",
				  limit ? limit : "0.05", NULL };

	scratch_start(options);
	tare_log_set(note_reason, NULL);
}

static void be_governed(unsigned n, unsigned first, const char *limit)
{
	struct runner runner[4] = { 0 };

	start(limit);
	between = first;
	for (unsigned i = 0; i < n; i++) {
		if (pthread_create(&runner[i].thread, NULL, run, &runner[i]))
			_exit(98);
	}
	shared->stepped_in = wait_until_governed();
	(void)usleep(500000);
	__atomic_store_n(&rests, 1, __ATOMIC_RELEASE);
	shared->let_go = wait_for(false);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (unsigned i = 0; i < n; i++) {
		(void)pthread_join(runner[i].thread, NULL);
		shared->hot += runner[i].hot;
		shared->rare += runner[i].rare;
	}
	look();
}

static void play(void (*host)(void *))
{
	pid_t pid;

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	pid = scratch_fork(host, NULL);
	if (CHECK_INT(scratch_wait(pid, 200), 0)) {
		CHECK(shared->stepped_in);
		CHECK(shared->let_go);
		CHECK(shared->is_estimate);
		CHECK(shared->timed < shared->hot);
		CHECK_INT(shared->told_rare, shared->rare);
		CHECK_INT(shared->damaged, 0);
		CHECK_INT(shared->lost, 0);
		/* Stepped in, let go: each is in the history. */
		CHECK(shared->records >= 2);
		CHECK(shared->reasons > 0);
		CHECK_INT(shared->odd_reasons, 0);
	}
	printf("# %llu calls, %llu told, %llu timed, %llu missed\n",
	       (unsigned long long)shared->hot,
	       (unsigned long long)shared->told_hot,
	       (unsigned long long)shared->timed,
	       (unsigned long long)shared->missed);
}

static void end_play(void)
{
	scratch_unshare(shared, sizeof(*shared));
	scratch_leave();
}

static void host_counted(void *arg)
{
	(void)arg;
	be_governed(2, 200, "0.05");
}

TEST(counts_are_exact_where_counting_is_cheap_enough)
{
	play(host_counted);
	if (!shared->missed)
		CHECK_INT(shared->told_hot, shared->hot);
	end_play();
}

static void host_paused(void *arg)
{
	(void)arg;
	be_governed(1, 1, "0.01");
}

TEST(where_counting_costs_too_much_the_limit_wins)
{
	if (SCRATCH_TSAN)
		SKIP("so slow that the rare scope is hot, too");
	play(host_paused);
	CHECK(shared->missed > 0);
	/*
	 * What was seen, and an estimate of what was not. How far that is off
	 * depends on who else wants the CPUs.
	 */
	CHECK(shared->told_hot > shared->missed);
	CHECK(shared->told_hot - shared->missed < shared->hot);
	end_play();
}

/* ---- never, and in children -------------------------------------------- */

static void host_free(void *arg)
{
	struct runner runner = { 0 };

	(void)arg;
	start(NULL);
	between = 1;
	if (pthread_create(&runner.thread, NULL, run, &runner))
		_exit(98);
	(void)usleep(1500000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	(void)pthread_join(runner.thread, NULL);
	shared->hot = runner.hot;
	look();
	shared->stepped_in = health_now().governor_actions;
}

TEST(switched_off_it_never_steps_in)
{
	pid_t pid;

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	pid = scratch_fork(host_free, NULL);
	if (CHECK_INT(scratch_wait(pid, 100), 0)) {
		CHECK_INT(shared->stepped_in, 0);
		CHECK_INT(shared->told_hot, shared->hot);
		/* Trials of what timing costs leave out some times. */
		CHECK(shared->timed <= shared->hot &&
		      shared->hot - shared->timed <= shared->hot / 50);
	}
	end_play();
}

static void be_child(void)
{
	for (int i = 0; i < 1000; i++)
		(void)hot((uint64_t)i);
	shared->hot = 1000;
	look();
	_exit(0);
}

static void host_with_child(void *arg)
{
	struct runner runner = { 0 };
	int status = -1;
	pid_t pid;

	(void)arg;
	start("0.01");
	between = 1;
	if (pthread_create(&runner.thread, NULL, run, &runner))
		_exit(98);
	shared->stepped_in = wait_for(true);
	pid = fork();
	if (!pid)
		be_child();
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
		printf("# the child: status %x\n", (unsigned)status);
		(void)fflush(stdout);
		_exit(94);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	(void)pthread_join(runner.thread, NULL);
}

TEST(a_child_of_a_governed_program_starts_in_full)
{
	pid_t pid;

	if (SCRATCH_TSAN)
		SKIP("a child of a program with threads measures nothing");
	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	pid = scratch_fork(host_with_child, NULL);
	if (CHECK_INT(scratch_wait(pid, 100), 0)) {
		CHECK(shared->stepped_in);
		CHECK_INT(shared->told_hot, shared->hot);
		/* Too few calls for trials of what timing costs. */
		CHECK_INT(shared->timed, shared->hot);
	}
	end_play();
}

/* ---- the last resort --------------------------------------------------- */

static void host_hopeless(void *arg)
{
	struct runner runner = { 0 };

	(void)arg;
	/* So low that no part of the time is short enough. */
	start("0.0001");
	between = 1;
	if (pthread_create(&runner.thread, NULL, run, &runner))
		_exit(98);
	for (int i = 0; i < TENTHS && tare_is_enabled(); i++)
		(void)usleep(100000);
	shared->stepped_in = !tare_is_enabled();
	/* Who switches it on again has it on. */
	(void)tare_enable(true);
	(void)usleep(300000);
	shared->let_go = tare_is_enabled();
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	(void)pthread_join(runner.thread, NULL);
}

TEST(where_nothing_helps_measuring_is_off)
{
	pid_t pid;

	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	pid = scratch_fork(host_hopeless, NULL);
	if (CHECK_INT(scratch_wait(pid, 100), 0)) {
		CHECK(shared->stepped_in);
		CHECK(shared->let_go);
		CHECK(shared->reasons > 0);
		CHECK_INT(shared->odd_reasons, 0);
	}
	end_play();
}

/* ---- more sites than are looked at one by one -------------------------- */

#define MANY 100
#define PARTS 4
#define OF_A_PART 9 /* that are seen; of all parts more than 32 */

/* Calls one part of them until enough of it was found to be hot. */
static void heat(tare_site *const *site, int part)
{
	for (int i = 0; i < TENTHS * 10; i++) {
		for (int n = 0; n < 10000; n++)
			for (int k = part; k < MANY; k += PARTS)
				tare_scope_end(tare_scope_begin(site[k]));
		if (health_now().governed_ever >=
		    (uint64_t)(part + 1) * OF_A_PART)
			return;
	}
}

static void host_many(void *arg)
{
	tare_site *site[MANY];
	char name[16];

	(void)arg;
	start("0.02");
	for (int i = 0; i < MANY; i++) {
		(void)snprintf(name, sizeof(name), "many.%d", i);
		site[i] = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, name,
					NULL, NULL);
	}
	/* A quarter of them at a time, so that others become the hottest. */
	for (int part = 0; part < PARTS; part++)
		heat(site, part);
	shared->let_go = wait_for(false);
	shared->is_estimate = health_now().governed_ever;
}

TEST(all_of_many_sites_are_let_go)
{
	pid_t pid;

	if (SCRATCH_TSAN)
		SKIP("it takes too long");
	(void)scratch_enter();
	shared = scratch_share(sizeof(*shared));
	pid = scratch_fork(host_many, NULL);
	if (CHECK_INT(scratch_wait(pid, 200), 0)) {
		CHECK(shared->is_estimate > 32);
		CHECK(shared->let_go);
	}
	end_play();
}
