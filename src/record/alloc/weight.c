/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Weight: the allocations that one sampled allocation represents.
 *
 * Sampling is a Poisson process over the allocated bytes: the distance to the
 * next sample is exponential. An allocation of s bytes is sampled with
 * probability 1 - exp(-s / mean), so a sampled one counts with the reciprocal
 * of that, and sums are unbiased for any mix of sizes.
 *
 * The functions are written out: libm is not linked into the library.
 */
#include "record/alloc.h"
#include "record/alloc/alloc.h"

#include <assert.h>

/* 1 - exp(-x), x >= 0 */
static double chance_of(double x)
{
	double rest;

	if (x < 1e-4)
		return x - x * x / 2; /* relative error below 2e-9 */
	if (x > 40)
		return 1;
	x /= 1024;
	rest = 1 - x * (1 - x / 2 * (1 - x / 3 * (1 - x / 4)));
	for (int i = 0; i < 10; i++)
		rest *= rest;
	return 1 - rest;
}

/* -log(x), 0 < x <= 1 */
static double minus_log(double x)
{
	double sum = 0, z, z2, power;

	assert(x > 0 && x <= 1);
	for (; x < 0.70710678; x *= 2)
		sum += 0.69314718055994531;
	z = (x - 1) / (x + 1);
	z2 = z * z;
	power = 2 * z;
	for (int i = 1; i < 20; i += 2, power *= z2)
		sum -= power / i;
	return sum;
}

int64_t tr_weight_draw(uint64_t *random, double mean)
{
	uint64_t x = *random;
	double unit;

	assert(*random && mean > 0);
	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*random = x;
	x *= UINT64_C(0x2545F4914F6CDD1D);
	unit = ((double)(x >> 11) + 1) / 9007199254740992.0;
	return (int64_t)(minus_log(unit) * mean);
}

void tr_weight_of(uint64_t size, double mean, uint64_t *ret_count,
		  uint64_t *ret_bytes)
{
	double n = 1 / chance_of((double)tr_alloc_step(size) / mean);

	assert(mean > 0);
	*ret_count = (uint64_t)(n * TR_SAMPLED_UNIT + 0.5);
	*ret_bytes = (uint64_t)(n * (double)size + 0.5);
}
