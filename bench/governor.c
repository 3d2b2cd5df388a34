/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The governor: does tare know its own cost, and does it stay below its limit?
 * Hosts compute between their scopes; the amount is random in each run, around
 * 1e5, 1e6 and 5e7 scopes per second, in one thread and in two.
 *
 * The real cost of measuring is the additional CPU time of a call compared with
 * phases of the same host in which measuring is off.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <tare/control.h>
#include <tare/probe.h>
#include <tare/read/view.h>

#include "bench.h"

#define MOST_THREADS 2u
#define PHASE_MS 100u
#define TARE_OFF "the same host with tare off"

/* ---- a host ------------------------------------------------------------ */

struct host {
	pthread_t thread[MOST_THREADS];
	unsigned n_threads;
	unsigned work;	  /* multiplications between two scopes */
	unsigned rest_us; /* >0: sleep this long after each call */
	uint64_t calls[MOST_THREADS];
	/* Minimum ticks of a call in a block of calls, off and on. */
	double best[MOST_THREADS][2];
	unsigned phase; /* 0 off, 1 on, 2 neither */
	unsigned stop;
};

static struct host host;

static uint64_t compute(uint64_t x, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		BENCH_OPAQUE(x);
	}
	return x;
}

static __attribute__((noinline)) uint64_t call(uint64_t x, unsigned n)
{
	TARE_SCOPE("call");
	return compute(x, n);
}

/* A block of calls; its time counts if the phase did not change. */
static uint64_t live_block(unsigned self, uint64_t x, unsigned n)
{
	unsigned phase = __atomic_load_n(&host.phase, __ATOMIC_RELAXED);
	uint64_t start = bench_ticks();
	double ticks;

	for (unsigned i = 0; i < n; i++)
		x = call(x, host.work);
	ticks = (double)(bench_ticks() - start) / n;
	if (phase < 2 && ticks < host.best[self][phase] &&
	    __atomic_load_n(&host.phase, __ATOMIC_RELAXED) == phase)
		host.best[self][phase] = ticks;
	return x;
}

static void *live(void *arg)
{
	unsigned self = (unsigned)(uintptr_t)arg;
	uint64_t x = self, n = 0;

	bench_pin(self);
	while (!__atomic_load_n(&host.stop, __ATOMIC_RELAXED)) {
		unsigned rest = __atomic_load_n(&host.rest_us,
						__ATOMIC_RELAXED);
		unsigned block = rest ? 1 : host.work > 5000 ? 8 : 64;

		x = live_block(self, x, block);
		n += block;
		__atomic_store_n(&host.calls[self], n, __ATOMIC_RELAXED);
		if (rest)
			(void)usleep(rest);
	}
	BENCH_OPAQUE(x);
	return NULL;
}

static void start_host(double rate, unsigned n_threads)
{
	double best = 1e18;

	for (int i = 0; i < 50; i++) {
		uint64_t start = bench_ns();

		BENCH_OPAQUE(compute(1, 20000));
		best = fmin(best, (double)(bench_ns() - start));
	}
	memset(&host, 0, sizeof(host));
	host.n_threads = n_threads;
	host.phase = 2;
	for (unsigned i = 0; i < MOST_THREADS; i++)
		host.best[i][0] = host.best[i][1] = 1e18;
	host.work = (unsigned)fmax(1, 1e9 / rate / (best / 20000));
	for (unsigned i = 0; i < n_threads; i++)
		if (pthread_create(&host.thread[i], NULL, live,
				   (void *)(uintptr_t)i))
			bench_fail("host", "no thread");
}

static void stop_host(void)
{
	__atomic_store_n(&host.stop, 1, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < host.n_threads; i++)
		(void)pthread_join(host.thread[i], NULL);
}

struct spent {
	double cpu_s, calls;
};

static struct spent spent_so_far(void)
{
	struct spent s = { 0, 0 };
	struct timespec now;
	clockid_t clock;

	for (unsigned i = 0; i < host.n_threads; i++) {
		if (pthread_getcpuclockid(host.thread[i], &clock) ||
		    clock_gettime(clock, &now))
			bench_fail("host", "no clock of its threads");
		s.cpu_s += (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
		s.calls += (double)__atomic_load_n(&host.calls[i],
						   __ATOMIC_RELAXED);
	}
	return s;
}

static struct spent spend(unsigned ms)
{
	struct spent before = spent_so_far(), after;

	(void)usleep(ms * 1000);
	after = spent_so_far();
	return (struct spent){ after.cpu_s - before.cpu_s,
			       after.calls - before.calls };
}

/* ---- what tare reports ------------------------------------------------- */

static tare_health health_now(void)
{
	tare_health health = { 0 };
	tare_view *view;

	if (tare_view_open("self", &view))
		bench_fail("view", "cannot be opened");
	health = *tare_view_health(view);
	tare_view_close(view);
	return health;
}

static double draw(double around)
{
	srandom((unsigned)bench_ns());
	return around * (0.7 + 0.6 * (double)(random() % 1000) / 1000);
}

/* ---- is the estimate right --------------------------------------------- */

static void be_in(unsigned phase, unsigned ms)
{
	__atomic_store_n(&host.phase, phase, __ATOMIC_RELAXED);
	(void)spend(ms);
	__atomic_store_n(&host.phase, 2, __ATOMIC_RELAXED);
}

/*
 * Alternates phases with and without measuring. Blocks of calls are timed in
 * both, and the minimum counts: other guests of this machine only add time.
 * tare's estimate is what it reports for all calls of the measured phases.
 */
static void estimate(const char *name, double around, unsigned n_threads)
{
	unsigned phases = bench_is_quick() ? 8 : 20;
	double told, real = 0;

	start_host(draw(around), n_threads);
	(void)spend(300);
	for (unsigned i = 0; i < phases; i++) {
		(void)tare_enable(false);
		(void)spend(20);
		be_in(0, PHASE_MS);
		(void)tare_enable(true);
		(void)spend(20);
		be_in(1, PHASE_MS * 2);
	}
	stop_host();
	/* Covers all calls except some thousand at the end. */
	told = health_now().measuring_ns / (double)health_now().events;
	for (unsigned i = 0; i < n_threads; i++)
		real += (host.best[i][1] - host.best[i][0]) * bench_tick_ns() /
			n_threads;
	bench_report(name, told, "ns", told / real, TARE_OFF);
}

#define ESTIMATE(name, rate, n) \
	static void estimate_##name##_##n(void) \
	{ \
		estimate("estimate_" #name "_" #n, rate, n); \
	}
ESTIMATE(1e5, 1e5, 1)
ESTIMATE(1e6, 1e6, 1)
ESTIMATE(5e7, 5e7, 1)
ESTIMATE(1e5, 1e5, 2)
ESTIMATE(1e6, 1e6, 2)
ESTIMATE(5e7, 5e7, 2)

/* ---- is the limit kept ------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* CPU time of a call, the median of `n` windows; stores each in `all`. */
static double cpu_of_call(double *all, unsigned n)
{
	double sorted[64];

	for (unsigned i = 0; i < n; i++) {
		struct spent s = spend(PHASE_MS);

		all[i] = sorted[i] = s.calls > 0 ? s.cpu_s / s.calls : 0;
	}
	qsort(sorted, n, sizeof(*sorted), by_value);
	return sorted[n / 2];
}

static double wait_for_release(void)
{
	uint64_t start = bench_ns();

	__atomic_store_n(&host.rest_us, 1000, __ATOMIC_RELAXED);
	while (health_now().governed && bench_ns() - start < 30000000000u)
		(void)usleep(20000);
	return (double)(bench_ns() - start) * 1e-9;
}

/* When the share of CPU time was last above the limit, in seconds. */
static double settled_after(const double *windows, unsigned n, double off)
{
	double settled = 0;

	for (unsigned i = 0; i < n; i++)
		if (1 - off / windows[i] > 0.05)
			settled = (i + 1) * PHASE_MS * 1e-3;
	return settled;
}

static void limit(const char *name, double around, unsigned n_threads)
{
	double off, on, told, first[10], windows[20];
	char text[40];

	(void)tare_enable(false);
	start_host(draw(around), n_threads);
	(void)spend(300);
	off = cpu_of_call(windows, 10);
	(void)tare_enable(true);
	(void)cpu_of_call(first, 10);
	on = cpu_of_call(windows, 20);
	told = health_now().measuring_now;
	(void)snprintf(text, sizeof(text), "%s_release", name);
	bench_report(text, wait_for_release(), "s", NAN, NULL);
	__atomic_store_n(&host.rest_us, 0, __ATOMIC_RELAXED);
	(void)tare_enable(false);
	(void)spend(100);
	off = (off + cpu_of_call(windows, 10)) / 2;
	stop_host();
	(void)snprintf(text, sizeof(text), "%s_settled", name);
	bench_report(text, settled_after(first, 10, off), "s", NAN, NULL);
	bench_report(name, 100 * (1 - off / on), "%", told / (1 - off / on),
		     "own estimate of it");
}

#define LIMIT(name, rate, n) \
	static void limit_##name##_##n(void) \
	{ \
		limit("limit_" #name "_" #n, rate, n); \
	}
LIMIT(1e6, 1e6, 1)
LIMIT(5e7, 5e7, 1)
LIMIT(5e7, 5e7, 2)

#define FREE { "TARE=on", "TARE_AUTO_DISABLE_ON_SLOW=0", NULL }
#define GOVERNED { "TARE=on", "TARE_AUTO_DISABLE_ON_SLOW=1", NULL }

const struct bench_part bench_parts[] = {
	{ "estimate_1e5_1", estimate_1e5_1, FREE },
	{ "estimate_1e6_1", estimate_1e6_1, FREE },
	{ "estimate_5e7_1", estimate_5e7_1, FREE },
	{ "estimate_1e5_2", estimate_1e5_2, FREE },
	{ "estimate_1e6_2", estimate_1e6_2, FREE },
	{ "estimate_5e7_2", estimate_5e7_2, FREE },
	{ "limit_1e6_1", limit_1e6_1, GOVERNED },
	{ "limit_5e7_1", limit_5e7_1, GOVERNED },
	{ "limit_5e7_2", limit_5e7_2, GOVERNED },
	{ NULL, NULL, { NULL } },
};
