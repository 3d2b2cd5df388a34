/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What measuring adds to a step of 1 ms: timing, throughput and memory are on,
 * as by default.
 *
 * A step is real work, calibrated to 1 ms. Steps with and without measuring
 * alternate, and `basic` is the difference of their minima, plus the cost of
 * memory readings: their number, times the minimum extra time of a step with
 * one, divided by the elapsed time. Checks for leaks (some 70 us, once there
 * are a sixteenth more samples) are not included.
 *
 * `in_place` is the mean time of the call divided by the step's, with
 * everything that is due, and with caches as the work and other guests left
 * them. Calls during which the kernel gave the CPU to another thread are left
 * out, and of the rest the slowest hundredth, since a hypervisor does so
 * unseen: a figure for an otherwise idle machine. `lines` is the same with a
 * log that takes a line every 10 steps. `call` is the call in a tight loop.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

#include <tare/tare.h>

#include "bench.h"

static uint64_t rounds = 1000;

/* Dependent arithmetic: the compiler cannot shorten it. */
static void work(uint64_t n)
{
	uint64_t x = n;

	for (uint64_t i = 0; i < n; i++)
		x = x * UINT64_C(6364136223846793005) + i;
	BENCH_OPAQUE(x);
}

static void calibrate(void)
{
	double best = 1e18;

	for (int i = 0; i < 50; i++) {
		uint64_t start = bench_ns();
		double ns;

		work(100000);
		ns = (double)(bench_ns() - start);
		best = ns < best ? ns : best;
	}
	rounds = (uint64_t)(100000 * 1e6 / best);
}

/* ---- in place ---------------------------------------------------------- */

#define MOST_STEPS 10000

static double took[MOST_STEPS];

static long preemptions(void)
{
	struct rusage r;

	return getrusage(RUSAGE_THREAD, &r) ? 0 : r.ru_nivcsw;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double mean_of_most(double *v, size_t n)
{
	size_t most = n - n / 100;
	double sum = 0;

	qsort(v, n, sizeof(*v), ascending);
	for (size_t i = 0; i < most; i++)
		sum += v[i];
	return sum / (double)most;
}

static double call_in_place(void)
{
	size_t n = bench_is_quick() ? 1000 : MOST_STEPS, counted = 0;

	bench_pin(0);
	calibrate();
	for (size_t i = 0; i < n + 200; i++) {
		uint64_t start, end;
		long before;

		work(rounds);
		before = preemptions();
		start = bench_ticks();
		TARE_STEP_ITEMS(32);
		end = bench_ticks();
		/* The first steps create series and pages. */
		if (i >= 200 && preemptions() == before)
			took[counted++] = (double)(end - start) *
					  bench_tick_ns();
	}
	if (counted < n / 2)
		bench_fail("in_place", "few steps were undisturbed");
	return mean_of_most(took, counted);
}

static void in_place_part(void)
{
	double ns = call_in_place();

	bench_report("in_place", 100 * ns / 1e6, "%", NAN, NULL);
	bench_report("in_place_ns", ns, "ns", NAN, NULL);
}

static unsigned n_lines;

static void take_line(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	(void)level;
	BENCH_OPAQUE(text);
	n_lines++;
}

static void lines_part(void)
{
	double ns;

	tare_log_set(take_line, NULL);
	ns = call_in_place();
	if (!n_lines)
		bench_fail("lines", "no line came");
	bench_report("lines", 100 * ns / 1e6, "%", NAN, NULL);
}

/* ---- with and without measuring ---------------------------------------- */

static double step_ns(bool is_measured)
{
	uint64_t start = bench_ticks();

	work(rounds);
	if (is_measured)
		TARE_STEP_ITEMS(32);
	return (double)(bench_ticks() - start) * bench_tick_ns();
}

/* The extra time of a step with a reading; one is due after a pause. */
static double reading_ns(double call_ns)
{
	double least = 1e18;

	for (int i = 0; i < 30; i++) {
		uint64_t start;

		work(rounds * 80);
		start = bench_ticks();
		TARE_STEP_ITEMS(32);
		least = fmin(least, (double)(bench_ticks() - start) *
					    bench_tick_ns());
	}
	return least - call_ns;
}

static uint64_t readings(void)
{
	tare_leak leak;

	return tare_leak_check(&leak, 1) ? leak.samples : 0;
}

static void basic_part(void)
{
	size_t n = bench_is_quick() ? 500 : 5000;
	double plain = 1e18, measured = 1e18, passed, rare;
	uint64_t before, start;

	bench_pin(0);
	calibrate();
	(void)step_ns(true);
	before = readings();
	start = bench_ns();
	for (size_t i = 0; i < n; i++) {
		plain = fmin(plain, step_ns(false));
		measured = fmin(measured, step_ns(true));
	}
	passed = (double)(bench_ns() - start);
	rare = (double)(readings() - before);
	if (rare < 2)
		bench_fail("basic", "the memory was not read");
	rare *= reading_ns(measured - plain) / passed;
	bench_report("basic", 100 * ((measured - plain) / plain + rare), "%",
		     NAN, NULL);
	bench_report("readings", 100 * rare, "%", NAN, NULL);
	bench_report("step", plain, "ns", NAN, NULL);
}

/* ---- the call alone ---------------------------------------------------- */

static void call(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		TARE_STEP_ITEMS(32);
}

static struct bench_case cases[] = {
	{ "pair", bench_pair, 0, 0 },
	{ "call", call, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void call_part(void)
{
	double ns;

	bench_run(cases, N_CASES, 500);
	ns = bench_best(cases, N_CASES, "call");
	bench_report("call", ns, "ns",
		     ns / bench_best(cases, N_CASES, "pair"), BENCH_PAIR);
}

const struct bench_part bench_parts[] = {
	{ "basic", basic_part, { "TARE=on" } },
	{ "in_place", in_place_part, { "TARE=on" } },
	{ "lines", lines_part, { "TARE=on" } },
	{ "call", call_part, { "TARE=on" } },
	{ NULL, NULL, { NULL } },
};
