/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose probes stand in one kind of code, for the benchmark
 * own_cost: host CODE CALLS.
 *
 * Writes the wall time of all calls, in ns, to the file BENCH_TIME, if that is
 * set: what the scope around them says less tare's cost is compared with it.
 *
 * The cost of a probe depends on the code around it: a processor that waits
 * for a multiplication executes a probe meanwhile, one that is busy does not.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <tare/probe.h>

#define TABLE_BITS 24u
#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

static uint32_t *table;

/* Each operation waits for the one before. */
static __attribute__((noinline)) uint64_t chain(uint64_t x)
{
	TARE_SCOPE("call");
	for (unsigned i = 0; i < 20; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		OPAQUE(x);
	}
	return x;
}

/* Four operations at a time: the processor has no idle cycle. */
static __attribute__((noinline)) uint64_t wide(uint64_t x)
{
	uint64_t a = x, b = x + 1, c = x + 2, d = x + 3;

	TARE_SCOPE("call");
	for (unsigned i = 0; i < 24; i++) {
		a ^= a << 1;
		b += b >> 3;
		c ^= c >> 2;
		d += d << 5;
	}
	return a + b + c + d;
}

/* Four loads that miss the caches. */
static __attribute__((noinline)) uint64_t memory(uint64_t x)
{
	uint64_t sum = 0;

	TARE_SCOPE("call");
	for (unsigned i = 0; i < 4; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		sum += table[x >> (64 - TABLE_BITS)];
	}
	return sum ^ x;
}

static __attribute__((noinline)) uint64_t leaf(uint64_t x)
{
	OPAQUE(x);
	return x * 3 + 1;
}

static __attribute__((noinline)) uint64_t calls(uint64_t x)
{
	TARE_SCOPE("call");
	TARE_COUNT("calls", 1);
	for (unsigned i = 0; i < 6; i++)
		x = leaf(x);
	return x;
}

static const struct {
	const char *name;
	uint64_t (*call)(uint64_t x);
} codes[] = {
	{ "chain", chain },
	{ "wide", wide },
	{ "memory", memory },
	{ "calls", calls },
};

static int fill_table(void)
{
	table = malloc(sizeof(*table) << TABLE_BITS);
	if (!table)
		return 1;
	for (uint32_t i = 0; i < 1u << TABLE_BITS; i++)
		table[i] = i;
	return 0;
}

static double now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static uint64_t call_all(uint64_t (*call)(uint64_t x), uint64_t n)
{
	uint64_t x = 1;

	TARE_SCOPE("all");
	for (uint64_t i = 0; i < n; i++)
		x = call(x + i);
	return x;
}

static int write_time(double ns)
{
	const char *path = getenv("BENCH_TIME");
	FILE *file;

	if (!path)
		return 0;
	file = fopen(path, "w");
	if (!file)
		return 1;
	(void)fprintf(file, "%.0f\n", ns);
	return fclose(file) != 0;
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, x;
	size_t code = 0;
	double start;

	while (code < 4 && (argc < 2 || strcmp(argv[1], codes[code].name)))
		code++;
	if (code == 4 || fill_table()) {
		(void)fprintf(stderr, "usage: host "
				      "chain|wide|memory|calls CALLS\n");
		return 2;
	}
	start = now_ns();
	x = call_all(codes[code].call, n);
	if (write_time(now_ns() - start))
		return 1;
	return x == 42;
}
