/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a counter costs.
 *
 * The reference is the lowest possible cost of a counter in memory: the same
 * `add` to a variable. If a CPU cannot rename memory, each addition to one
 * place waits for the previous store (about 5 cycles), in any implementation;
 * `add_64` uses 64 counters in turn and shows the cost without that wait.
 */
#include <math.h>

#include <tare/probe.h>

#include "bench.h"

#define ROUND_ADDS 30000u
#define ROUNDS 2000u

static uint64_t plain[64];

static inline void plain_add_one(uint64_t *x)
{
#if defined(__x86_64__)
	__asm__ volatile("addq $1, %0" : "+m"(*x) : : "cc", "memory");
#else
	__atomic_store_n(x, *x + 1, __ATOMIC_RELAXED);
	BENCH_OPAQUE(x);
#endif
}

static void plain_add(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		plain_add_one(plain);
}

#define PLAIN_ADD(name) plain_add_one(x++);

static void plain_add_64(uint64_t n)
{
	for (uint64_t i = 0; i < n; i += 64) {
		uint64_t *x = plain;

		BENCH_64(PLAIN_ADD, "")
	}
}

static void add(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_COUNT("bench.add", 1);
		BENCH_OPAQUE(i);
	}
}

#define ADD(name) { TARE_COUNT(name, 1); BENCH_OPAQUE(i); }

static void add_64(uint64_t n)
{
	for (uint64_t i = 0; i < n; i += 64) {
		BENCH_64(ADD, "bench.add.")
	}
}

static struct bench_case cases[] = {
	{ "empty_loop", bench_empty, 0, 0 },
	{ "pair", bench_pair, 0, 0 },
	{ "plain", plain_add, 0, 0 },
	{ "plain_64", plain_add_64, 0, 0 },
	{ "add", add, 0, 0 },
	{ "add_64", add_64, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static double best(const char *name)
{
	return bench_best(cases, N_CASES, name);
}

static void add_part(void)
{
	bench_run(cases, N_CASES, 600);
	bench_report("add", best("add"), "ns", best("add") / best("plain"),
		     "an add to a variable");
	bench_report("add_64", best("add_64"), "ns",
		     best("add_64") / best("plain_64"),
		     "an add to each of 64 variables");
	bench_report("plain_add", best("plain"), "ns", NAN, NULL);
	bench_report("pair", best("pair"), "ns", NAN, NULL);
}

static _Alignas(128) _Thread_local uint64_t own;

static void own_add(uint64_t n)
{
	uint64_t *x = &own;

	for (uint64_t i = 0; i < n; i++)
		plain_add_one(x);
}

/* The reference shares nothing: the best that two CPUs can do. */
static void two_threads_part(void)
{
	unsigned rounds = bench_is_quick() ? ROUNDS / 10 : ROUNDS;
	struct bench_threads counter, variable;

	if (bench_cpus() < 2)
		return;
	counter = bench_two_threads(add, add, ROUND_ADDS, rounds);
	variable = bench_two_threads(own_add, own_add, ROUND_ADDS, rounds);
	bench_report("add_two_threads", counter.two_ns, "ns",
		     counter.two_ns / variable.two_ns,
		     "two threads adding to a variable each");
	bench_report("add_one_of_two", counter.one_ns, "ns",
		     counter.one_ns / variable.one_ns,
		     "the same, each alone");
}

const struct bench_part bench_parts[] = {
	{ "add", add_part, { "TARE=on" } },
	{ "add_two_threads", two_threads_part, { "TARE=on" } },
	{ NULL, NULL, { NULL } },
};
