/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes in tight loops, each compared with a bare pair of time stamps on the
 * same data. Tracing is on or off for the whole process.
 */
#include "scope.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "body.h"

static void nested8(uint64_t n)
{
	for (uint64_t i = 0; i < n; i += 8) {
		TARE_SCOPE("bench.nested.1");
		BENCH_OPAQUE(i);
		TARE_SCOPE("bench.nested.2");
		BENCH_OPAQUE(i);
		TARE_SCOPE("bench.nested.3");
		BENCH_OPAQUE(i);
		TARE_SCOPE("bench.nested.4");
		BENCH_OPAQUE(i);
		TARE_SCOPE("bench.nested.5");
		BENCH_OPAQUE(i);
		TARE_SCOPE("bench.nested.6");
		BENCH_OPAQUE(i);
		TARE_SCOPE("bench.nested.7");
		BENCH_OPAQUE(i);
		TARE_SCOPE("bench.nested.8");
		BENCH_OPAQUE(i);
	}
}

static inline tare_site *random_site(uint64_t i, uint64_t n_sites)
{
	return scope_sites[bench_random[i & 65535] & (n_sites - 1)];
}

static inline void pair_random(uint64_t n, uint64_t n_sites)
{
	for (uint64_t i = 0; i < n; i++) {
		BENCH_OPAQUE(random_site(i, n_sites));
		bench_stamps();
	}
}

static inline void scope_random(uint64_t n, uint64_t n_sites)
{
	for (uint64_t i = 0; i < n; i++) {
		tare_site *site = random_site(i, n_sites);

		BENCH_OPAQUE(site);
		TARE_SCOPE_SITE(site);
		BENCH_OPAQUE(i);
	}
}

static void pair_random64(uint64_t n)
{
	pair_random(n, 64);
}

static void pair_random2048(uint64_t n)
{
	pair_random(n, 2048);
}

static void random64(uint64_t n)
{
	scope_random(n, 64);
}

static void random2048(uint64_t n)
{
	scope_random(n, 2048);
}

static void body_pair(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		BENCH_OPAQUE(bench_ticks());
		body();
		BENCH_OPAQUE(bench_ticks());
	}
}

static void body_scope(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_SCOPE("bench.body");
		body();
	}
}

static struct bench_case cases[] = {
	{ "empty_loop", bench_empty, 0, 0 },
	{ "pair", bench_pair, 0, 0 },
	{ "one", scope_one, 0, 0 },
	{ "nested8", nested8, 0, 0 },
	{ "pair_random64", pair_random64, 0, 0 },
	{ "random64", random64, 0, 0 },
	{ "pair_random2048", pair_random2048, 0, 0 },
	{ "random2048", random2048, 0, 0 },
	{ "body", body_bare, 0, 0 },
	{ "body_pair", body_pair, 0, 0 },
	{ "body_scope", body_scope, 0, 0 },
	{ "clock_pair", bench_clock_pair, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static double best(const char *name)
{
	return bench_best(cases, N_CASES, name);
}

static void report(const char *mode, const char *suffix, const char *name,
		   const char *reference, const char *against)
{
	char full[40];

	(void)snprintf(full, sizeof(full), "%s%s", mode, suffix);
	bench_report(full, best(name), "ns", best(name) / best(reference),
		     against);
}

/* What the scope adds compared with a bare pair around the same body. */
static void report_marginal(const char *name)
{
	double scope = best("body_scope"), pair = best("body_pair");

	bench_report(name, scope - pair, "ns", scope / pair,
		     BENCH_PAIR " around a 100 ns body");
}

static void run(const char *mode)
{
	scope_sites_make(2048);
	body_calibrate();
	bench_run(cases, N_CASES, 700);
	report(mode, "", "one", "pair", BENCH_PAIR);
	report(mode, "_nested8", "nested8", "pair", BENCH_PAIR);
	report(mode, "_random64", "random64", "pair_random64",
	       BENCH_PAIR " with the same table");
}

void scope_aggregate_part(void)
{
	run("aggregate");
	report("random2048", "", "random2048", "pair_random2048",
	       BENCH_PAIR " with the same table");
	report_marginal("marginal");
	bench_report("pair", best("pair"), "ns", NAN, NULL);
	bench_report("clock_pair", best("clock_pair"), "ns",
		     best("clock_pair") / best("pair"), BENCH_PAIR);
	bench_report("empty_loop", best("empty_loop"), "ns", NAN, NULL);
	bench_report("pair_around_body", best("body_pair") - best("body"),
		     "ns", NAN, NULL);
}

void scope_trace_part(void)
{
	run("trace");
	report("trace_random2048", "", "random2048", "pair_random2048",
	       BENCH_PAIR " with the same table");
	report_marginal("trace_marginal");
}
