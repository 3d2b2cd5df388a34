/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of `scope` / `aggregate` with uftrace: a scope is a call of a
 * function compiled with -pg. The function is empty, so its entry and exit are
 * measured. The plain call, about 1 ns, is not subtracted.
 */
#include "../bench.h"

__attribute__((noinline, noclone)) static void scope(uint64_t i)
{
	BENCH_OPAQUE(i);
}

__attribute__((noinline, noclone, no_instrument_function))
static void plain(uint64_t i)
{
	BENCH_OPAQUE(i);
}

static void scopes(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		scope(i);
}

static void calls(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		plain(i);
}

static void part(const char *name)
{
	struct bench_case cases[] = {
		{ "pair", bench_pair, 0, 0 },
		{ "calls", calls, 0, 0 },
		{ "scopes", scopes, 1000, 0 },
	};

	bench_run(cases, 3, 300);
	bench_report(name, cases[2].best_ns, "ns",
		     cases[2].best_ns / cases[0].best_ns, BENCH_PAIR);
}

static void on_part(void)
{
	part("uftrace");
}

static void off_part(void)
{
	part("uftrace_off");
}

const struct bench_part bench_parts[] = {
	{ "on", on_part, { NULL } },
	{ "off", off_part, { NULL } },
	{ NULL, NULL, { NULL } },
};
