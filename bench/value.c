/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one observed value costs: a distribution's histogram, sum, extremes.
 *
 * Values come from a table of log-normal ones, so that buckets change from one
 * to the next as in real data; `observe_same` is a constant.
 */
#include <math.h>

#include <tare/probe.h>

#include "bench.h"

#define N_VALUES 4096u

static double values[N_VALUES];

/* Box-Muller; the logarithm of the result has mean 0 and sigma 1. */
static void fill(void)
{
	for (size_t i = 0; i < N_VALUES; i++) {
		double u = (bench_random[2 * i] + 1.0) / 65537.0;
		double v = bench_random[2 * i + 1] / 65536.0;

		values[i] = exp(sqrt(-2 * log(u)) * cos(6.283185307 * v));
	}
}

static inline void opaque(double value)
{
#if defined(__x86_64__)
	__asm__ volatile("" : : "x"(value) : "memory");
#else
	__asm__ volatile("" : : "w"(value) : "memory");
#endif
}

static void read_only(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		opaque(values[i & (N_VALUES - 1)]);
}

static void observe(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		TARE_VALUE("bench.value", "1", values[i & (N_VALUES - 1)]);
}

static void observe_same(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		TARE_VALUE("bench.same", "1", 42.0);
}

static void gauge_set(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		TARE_GAUGE("bench.gauge", "1", values[i & (N_VALUES - 1)]);
}

static struct bench_case cases[] = {
	{ "pair", bench_pair, 0, 0 },
	{ "read_only", read_only, 0, 0 },
	{ "observe", observe, 0, 0 },
	{ "observe_same", observe_same, 0, 0 },
	{ "gauge_set", gauge_set, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void report(const char *name)
{
	double ns = bench_best(cases, N_CASES, name);

	bench_report(name, ns, "ns", ns / bench_best(cases, N_CASES, "pair"),
		     BENCH_PAIR);
}

static void value_part(void)
{
	fill();
	bench_run(cases, N_CASES, 800);
	report("observe");
	report("observe_same");
	report("gauge_set");
	report("read_only");
}

const struct bench_part bench_parts[] = {
	{ "observe", value_part, { "TARE=on" } },
	{ NULL, NULL, { NULL } },
};
