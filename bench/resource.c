/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a resource scope costs, on and off, beside an operation without figures.
 * Most of the cost is system calls at both ends.
 */
#include <math.h>

#include <tare/tare.h>

#include "bench.h"

static void resource(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_RESOURCE_SCOPE("bench.resource");
		BENCH_OPAQUE(i);
	}
}

static void operation(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_OPERATION("bench.operation");
		BENCH_OPAQUE(i);
	}
}

static struct bench_case cases[] = {
	{ "pair", bench_pair, 0, 0 },
	{ "empty", bench_empty, 0, 0 },
	{ "resource", resource, 0, 0 },
	{ "operation", operation, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void on_part(void)
{
	double ns;

	bench_run(cases, N_CASES, 800);
	ns = bench_best(cases, N_CASES, "resource");
	bench_report("scope", ns, "ns",
		     ns / bench_best(cases, N_CASES, "operation"),
		     "an operation");
}

static void off_part(void)
{
	bench_run(cases, N_CASES, 300);
	bench_report("off", bench_best(cases, N_CASES, "resource") -
				    bench_best(cases, N_CASES, "empty"),
		     "ns", NAN, NULL);
}

const struct bench_part bench_parts[] = {
	{ "on", on_part, { "TARE=on" } },
	{ "off", off_part, { "TARE=0" } },
	{ NULL, NULL, { NULL } },
};
