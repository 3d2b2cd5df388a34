/* SPDX-License-Identifier: Apache-2.0 */
/* Compiled twice, with and without frame pointers, under two names. */
#include <stdint.h>

#include "bench.h"

uint64_t BENCH_CHAIN(unsigned depth, void (*end)(uint64_t), uint64_t n);

/* Two that call each other: one recursive function has one address only. */
__attribute__((noinline)) static uint64_t
between(unsigned depth, void (*end)(uint64_t), uint64_t n)
{
	uint64_t sum = 0;

	if (depth == 0)
		end(n);
	else
		sum = BENCH_CHAIN(depth - 1, end, n) + depth;
	BENCH_OPAQUE(sum);
	return sum;
}

__attribute__((noinline)) uint64_t
BENCH_CHAIN(unsigned depth, void (*end)(uint64_t), uint64_t n)
{
	uint64_t sum = 0;

	if (depth == 0)
		end(n);
	else
		sum = between(depth - 1, end, n) * 3 + n;
	BENCH_OPAQUE(sum);
	return sum;
}
