/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions with hooks, built once and linked twice: with empty hooks, and with
 * those of the preloaded library. All are as short as possible.
 */
#include <stdint.h>

#define NOINLINE __attribute__((noinline))
#define UNSEEN __attribute__((no_instrument_function))
#define KEEP(x) __asm__ volatile("" : "+r"(x))

void body_leaf(uint64_t n);
void body_pipe(uint64_t n);
void body_recursion(uint64_t n);

NOINLINE static uint64_t leaf(uint64_t x)
{
	KEEP(x);
	return x * 3 + 1;
}

/* One operation: one call. */
UNSEEN void body_leaf(uint64_t n)
{
	uint64_t x = n;

	while (n--)
		x = leaf(x);
	KEEP(x);
}

NOINLINE static uint64_t generate(uint64_t x)
{
	KEEP(x);
	return x * 5 + 1;
}

NOINLINE static uint64_t filter(uint64_t x)
{
	KEEP(x);
	return x ^ 7;
}

NOINLINE static uint64_t normalise(uint64_t x)
{
	KEEP(x);
	return x + 9;
}

NOINLINE static uint64_t variance(uint64_t x)
{
	KEEP(x);
	return x - 1;
}

NOINLINE static uint64_t window(uint64_t x)
{
	return variance(x) + leaf(x);
}

NOINLINE static uint64_t record(uint64_t x)
{
	return window(normalise(filter(generate(x))));
}

/* Seven calls per record. */
UNSEEN void body_pipe(uint64_t n)
{
	uint64_t x = n;

	for (uint64_t i = 0; i < n; i += 7)
		x = record(x);
	KEEP(x);
}

NOINLINE static uint64_t fib(uint64_t n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

/* fib(12) is 465 calls. */
UNSEEN void body_recursion(uint64_t n)
{
	uint64_t x = 0;

	for (uint64_t i = 0; i < n; i += 465)
		x += fib(12);
	KEEP(x);
}
