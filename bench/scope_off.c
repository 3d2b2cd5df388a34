/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes that are off, and scopes that are compiled out.
 *
 * Off: 64 static sites one after the other, so that each check reads its own
 * cache lines and the predictor has 64 branches. Around each is one dependent
 * addition, the minimum work of a loop; the reference is the same code without
 * the scopes. `off_bare` is without the addition: it shows the throughput of
 * the two loads of a check alone.
 */
#include "scope.h"

#include <math.h>
#include <string.h>

#include "scope_body.h"

/* Opaque: prevents merging the 64 additions into one. */
#define STEP(i) \
	(i)++; \
	__asm__ volatile("" : "+r"(i) : : "memory")

#define NOTHING(name) { STEP(i); }
#define SCOPE(name) { TARE_SCOPE(name); STEP(i); }
#define COUNT(name) { TARE_COUNT(name, 1); STEP(i); }
#define BARE_NOTHING(name) { BENCH_OPAQUE(i); }
#define BARE_SCOPE(name) { TARE_SCOPE(name); BENCH_OPAQUE(i); }

static void off_empty(uint64_t n)
{
	for (uint64_t i = 0; i < n; ) {
		BENCH_64(NOTHING, "")
	}
}

static void off_scopes(uint64_t n)
{
	for (uint64_t i = 0; i < n; ) {
		BENCH_64(SCOPE, "bench.off.")
	}
}

static void off_counters(uint64_t n)
{
	for (uint64_t i = 0; i < n; ) {
		BENCH_64(COUNT, "bench.off.count.")
	}
}

static void off_bare_empty(uint64_t n)
{
	for (uint64_t i = 0; i < n; i += 64) {
		BENCH_64(BARE_NOTHING, "")
	}
}

static void off_bare_scopes(uint64_t n)
{
	for (uint64_t i = 0; i < n; i += 64) {
		BENCH_64(BARE_SCOPE, "bench.off.bare.")
	}
}

static struct bench_case cases[] = {
	{ "empty_loop", bench_empty, 0, 0 },
	{ "empty", off_empty, 0, 0 },
	{ "scopes", off_scopes, 0, 0 },
	{ "bare_empty", off_bare_empty, 0, 0 },
	{ "bare_scopes", off_bare_scopes, 0, 0 },
	{ "counters", off_counters, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void report(const char *name, const char *what, const char *reference)
{
	double ns = bench_best(cases, N_CASES, what);
	double empty = bench_best(cases, N_CASES, reference);

	bench_report(name, ns - empty, "ns", ns / empty,
		     "the same loop without scopes");
}

void scope_off_part(void)
{
	bench_run(cases, N_CASES, 500);
	report("off", "scopes", "empty");
	report("off_bare", "bare_scopes", "bare_empty");
	report("off_counter", "counters", "empty");
}

/* The same with a control page open: the gates point into it. */
void scope_standby_part(void)
{
	bench_run(cases, N_CASES, 500);
	report("off_standby", "scopes", "empty");
	report("off_standby_bare", "bare_scopes", "bare_empty");
}

/* Number of machine code bytes in which the two differ. */
static size_t different_bytes(void)
{
	size_t plain = scope_body_plain_size(), off = scope_body_off_size();
	size_t n = plain > off ? plain - off : off - plain;
	size_t common = plain < off ? plain : off;

	for (size_t i = 0; i < common; i++)
		n += scope_body_plain_code()[i] != scope_body_off_code()[i];
	return n;
}

void scope_compiled_out_part(void)
{
	struct bench_case body[] = {
		{ "plain", scope_body_plain, 0, 0 },
		{ "off", scope_body_off, 0, 0 },
	};

	bench_run(body, 2, 200);
	bench_report("compiled_out", (double)different_bytes(), "B",
		     body[1].best_ns / body[0].best_ns,
		     "the same source without probes");
	bench_report("compiled_out_code", (double)scope_body_off_size(), "B",
		     NAN, NULL);
}
