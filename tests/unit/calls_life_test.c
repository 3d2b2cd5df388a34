/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions in the call tree while measuring is switched, across threads,
 * forks and kills, and in a trace.
 */
#include "letters.h"
#include "read/view.h"

#include <tare/control.h>

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- switches ---------------------------------------------------------- */

static void play_off(void)
{
	start("off");
	run("m(ab)");
	check_tree("");
}

TEST(no_function_is_seen_while_calls_are_off)
{
	scene_play(play_off);
}

static void play_switch(void)
{
	start("timed");
	begin('m');
	run("a");
	CHECK_INT(tare_enable(false), 0);
	run("bb"); /* the first of them may still count */
	begin('c');
	CHECK_INT(tare_enable(true), 0);
	run("d");
	end(); /* began while it was off */
	run("a");
	CHECK_INT(tare_enable(false), 0);
	end(); /* and the other way round */
	run("x");
	CHECK_INT(tare_enable(true), 0);
	run("z");
	CHECK_INT(call_of_letter('a').calls, 2);
	CHECK_INT(call_of_letter('d').calls, 1);
	CHECK_INT(call_of_letter('x').calls, 0);
	CHECK_INT(call_of_letter('z').calls, 1);
	CHECK_INT(call_of_letter('m').timed, 1);
	check_tree(call_of_letter('b').calls ? "m1(a2b1d1)z1" :
					       "m1(a2d1)z1");
}

TEST(functions_are_in_order_when_measuring_is_switched)
{
	scene_play(play_switch);
}

static void play_fork(void)
{
	int status = -1;
	pid_t pid;

	if (!scene_fork_wipes())
		return;
	start("counts");
	begin('m');
	begin('a');
	pid = fork();
	if (pid == 0) {
		run("b(c)");
		end();
		end();
		check_tree("b1(c1)");
		CHECK_INT(health().stray_ends, 2);
		_exit(check_failures() != 0);
	}
	CHECK_INT(waitpid(pid, &status, 0), pid);
	CHECK_INT(status, 0);
	end();
	end();
	check_tree("m1(a1)");
	CHECK_INT(health().stray_ends, 0);
}

TEST(a_child_has_its_own_tree)
{
	scene_play(play_fork);
}

/* ---- threads ----------------------------------------------------------- */

#define THREADS 4
#define TURNS 3000

static uint32_t threads_done;

/* By its own stack, since the letters are the test's. */
static void *work(void *arg)
{
	uint64_t stack = STACK + (uintptr_t)arg * (1 << 24);

	enter_at('w', stack, '_', 20);
	for (int i = 0; i < TURNS; i++) {
		enter_at('a', stack - 64, 'w', 20);
		if (i % 3 == 0) {
			enter_at('b', stack - 128, 'a', 20);
			exit_at('b', stack - 128, 'a');
		}
		exit_at('a', stack - 64, 'w');
	}
	if ((uintptr_t)arg % 2)
		exit_at('w', stack, '_');
	(void)__atomic_fetch_add(&threads_done, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void play_threads(void)
{
	pthread_t thread[THREADS];
	tare_call a;

	start("sparse");
	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, work, (void *)i),
			  0);
	/* Somebody reads meanwhile; counts only grow. */
	for (uint64_t before = 0;
	     __atomic_load_n(&threads_done, __ATOMIC_ACQUIRE) < THREADS;) {
		a = call_of_letter('a');
		CHECK(a.calls >= before && a.calls <= THREADS * TURNS);
		before = a.calls;
	}
	for (int i = 0; i < THREADS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	/* One more takes a dead thread's track over. */
	CHECK_INT(pthread_create(&thread[0], NULL, work, (void *)9), 0);
	CHECK_INT(pthread_join(thread[0], NULL), 0);
	CHECK_INT(call_of_letter('a').calls, (THREADS + 1) * TURNS);
	CHECK_INT(call_of_letter('b').calls, (THREADS + 1) * TURNS / 3);
	CHECK_INT(call_of_letter('w').calls, THREADS + 1);
	CHECK_INT(health().stray_ends, 0);
}

TEST(threads_count_side_by_side)
{
	scene_play(play_threads);
}

/* ---- kill -------------------------------------------------------------- */

/*
 * The thread sanitizer knows no store of two words: with it a kill can leave
 * the first of a pair without the second, and so one call too many.
 */
#if defined(__SANITIZE_THREAD__)
#define TWO_STORES true
#else
#define TWO_STORES false
#endif

static void play_killed(void)
{
	volatile uint64_t *begun = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
					MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	static const char *const modes[] = { "counts", "sparse", "timed" };
	const tare_call *calls;
	char which[32];
	tare_view *view;
	size_t n;

	for (int i = 0; i < 9; i++) {
		pid_t pid;

		*begun = 0;
		pid = fork();
		if (pid == 0) {
			start(modes[i % 3]);
			begin('m');
			for (;;) {
				*begun = *begun + 1;
				run("a");
			}
		}
		while (*begun < 20000 + 3001 * (uint64_t)i)
			usleep(100);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		snprintf(which, sizeof(which), "%d", (int)pid);
		if (!CHECK_INT(tare_view_open(which, &view), 0))
			return;
		CHECK_INT(tare_view_calls(view, &calls, &n), 0);
		for (size_t k = 0; k < n; k++) {
			if (calls[k].address != (uintptr_t)code('a'))
				continue;
			CHECK(calls[k].calls == *begun ||
			      calls[k].calls + 1 == *begun ||
			      (TWO_STORES && calls[k].calls == *begun + 1));
			CHECK(i % 3 != 2 || calls[k].timed == *begun ||
			      calls[k].timed + 1 == *begun);
		}
		CHECK_INT(n, 2);
		tare_view_close(view);
	}
}

TEST(a_kill_leaves_the_counts_exact)
{
	if (!scene_fork_wipes())
		SKIP("forks do not wipe memory here");
	scene_play(play_killed);
}

/* ---- trace ------------------------------------------------------------- */

static void play_trace(void)
{
	const char *const options[] = { "calls", "timed", "trace", "true",
					NULL };
	const tare_event *events;
	tare_view *view;
	size_t n, seen = 0;

	scene_start(options);
	run("m(aab)");
	CHECK_INT(call_of_letter('a').calls, 2);
	CHECK_INT(call_of_letter('a').timed, 2);
	view = scene_view();
	if (!view || !CHECK_INT(tare_view_events(view, &events, &n), 0))
		return;
	for (size_t i = 0; i < n; i++)
		seen += events[i].address == (uintptr_t)code('a') &&
			events[i].depth == 1;
	CHECK_INT(seen, 2);
	CHECK_INT(n, 4);
	tare_view_close(view);
}

TEST(functions_are_in_the_trace)
{
	scene_play(play_trace);
}
