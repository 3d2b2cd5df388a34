/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sampling: how much slower a sampled program is, and whether the weights of
 * its samples add up to its CPU time.
 *
 * A sample costs time only at its signal, so a timed piece of work must be long
 * enough to have its share of them: 40 ms, 10 signals at 250 Hz. Pieces with
 * and without sampling run in turn, in forked children, and the shortest of
 * each counts. Whole programs: sampling_programs.c.
 */
#include <math.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <tare/control.h>
#include <tare/read/profile.h>
#include <tare/read/view.h>

#include "bench.h"
#include "sampling_programs.h"

#define PIECE_MS 40u
#define PIECES 12u
#define TURNS 10u
#define UNSAMPLED "the same, not sampled"

static __attribute__((noinline)) uint64_t work(uint64_t x, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		BENCH_OPAQUE(x);
	}
	return x;
}

/* Stacks of a typical depth. */
static __attribute__((noinline)) uint64_t deep(unsigned depth, uint64_t n)
{
	uint64_t x = depth ? deep(depth - 1, n) : work(1, n);

	BENCH_OPAQUE(x);
	return x + 1;
}

static uint64_t piece_of_work(void)
{
	double best = 1e18;

	for (int i = 0; i < 20; i++) {
		uint64_t start = bench_ns();

		BENCH_OPAQUE(work(1, 200000));
		best = fmin(best, (double)(bench_ns() - start));
	}
	return (uint64_t)(PIECE_MS * 1e6 / (best / 200000));
}

/* ---- slowdown ---------------------------------------------------------- */

/* CPU time, which includes the kernel's part of a signal. */
static double thread_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double shortest_piece(uint64_t n, unsigned pieces)
{
	double best = 1e18;

	/* The first piece opens the ledger. */
	for (unsigned i = 0; i <= pieces; i++) {
		double start = thread_ns(), took;

		BENCH_OPAQUE(deep(20, n));
		took = thread_ns() - start;
		if (i && took < best)
			best = took;
	}
	return best;
}

/* In a child: a fork stops all timers, and libtare starts its own. */
static double in_child(uint64_t n, unsigned pieces, bool is_sampled)
{
	double best = 0;
	int fd[2], status;
	pid_t pid;

	if (pipe(fd))
		bench_fail("sampling", "no pipe");
	pid = fork();
	if (pid == 0) {
		if (!is_sampled)
			(void)tare_stop();
		best = shortest_piece(n, pieces);
		_exit(write(fd[1], &best, sizeof(best)) != sizeof(best));
	}
	(void)close(fd[1]);
	if (pid < 0 || read(fd[0], &best, sizeof(best)) != sizeof(best))
		bench_fail("sampling", "no child");
	(void)close(fd[0]);
	(void)waitpid(pid, &status, 0);
	return best;
}

static void report_slowdown(const char *name)
{
	unsigned turns = bench_is_quick() ? 2 : TURNS;
	uint64_t n = piece_of_work();
	double with = 1e18, without = 1e18;

	bench_pin(0);
	for (unsigned i = 0; i < turns; i++) {
		without = fmin(without, in_child(n, PIECES, false));
		with = fmin(with, in_child(n, PIECES, true));
	}
	bench_report(name, (with / without - 1) * 100, "%", with / without,
		     UNSAMPLED);
}

static void slow_250(void)
{
	report_slowdown("hz_250");
}

static void slow_1000(void)
{
	report_slowdown("hz_1000");
}

/* ---- weights ----------------------------------------------------------- */

static void *live(void *arg)
{
	BENCH_OPAQUE(deep(20, *(uint64_t *)arg));
	return NULL;
}

static double cpu_ns(void)
{
	struct rusage usage;

	(void)getrusage(RUSAGE_SELF, &usage);
	return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e9 +
	       (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e3;
}

static double weight_ns(void)
{
	tare_view *view;
	double weight;

	if (tare_view_open("self", &view))
		bench_fail("sampling", "no view");
	weight = tare_view_sampling(view)->weight_ns;
	tare_view_close(view);
	return weight;
}

/* For eight threads, and for the first one alone. */
static void report_weights(const char *one, const char *eight)
{
	uint64_t n = piece_of_work() * (bench_is_quick() ? 5 : 20);
	double cpu = cpu_ns(), weight = weight_ns();
	pthread_t thread[8];

	BENCH_OPAQUE(deep(20, n));
	cpu = cpu_ns() - cpu;
	weight = weight_ns() - weight;
	bench_report(one, weight / cpu * 100, "%", weight / cpu,
		     "CPU time of the process");
	cpu = cpu_ns();
	weight = weight_ns();
	n /= 4;
	for (int i = 0; i < 8; i++)
		if (pthread_create(&thread[i], NULL, live, &n))
			bench_fail("sampling", "no thread");
	for (int i = 0; i < 8; i++)
		(void)pthread_join(thread[i], NULL);
	cpu = cpu_ns() - cpu;
	weight = weight_ns() - weight;
	bench_report(eight, weight / cpu * 100, "%", weight / cpu,
		     "CPU time of the process");
}

static void weights_250(void)
{
	report_weights("weights_1_250", "weights_8_250");
}

static void weights_1000(void)
{
	report_weights("weights_1_1000", "weights_8_1000");
}

const struct bench_part bench_parts[] = {
	{ "hz_250", slow_250, { "TARE=on", "TARE_SAMPLE=1", NULL } },
	{ "hz_1000", slow_1000,
	  { "TARE=on", "TARE_SAMPLE=1", "TARE_SAMPLE_RATE=1000", NULL } },
	{ "weights_250", weights_250, { "TARE=on", "TARE_SAMPLE=1", NULL } },
	{ "weights_1000", weights_1000,
	  { "TARE=on", "TARE_SAMPLE=1", "TARE_SAMPLE_RATE=1000", NULL } },
	{ "zstd", sampling_zstd, { "TARE=off", NULL } },
	{ "deep", sampling_deep, { "TARE=off", NULL } },
	{ "threads16", sampling_threads16, { "TARE=off", NULL } },
	{ NULL, NULL, { NULL } },
};
