/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bounds of rank statistics, for intervals without a normal distribution.
 *
 * Exact by counting up to EXACT_MOST values; beyond it the normal approximation
 * is right to a rank or two. Doubles count far enough: 2^60 has 53 exact bits,
 * and only shares are compared.
 */
#include <stdlib.h>

#include "base/maths.h"
#include "read/judge.h"

#define EXACT_MOST 60u

/* The last index at which the running sum is at most `most`; -1: none. */
static int64_t bound_of(const double *ways, size_t n, double most)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		sum += ways[i];
		if (sum > most)
			return (int64_t)i - 1;
	}
	return (int64_t)n - 1;
}

/* Mean and deviation of the statistic, for many values. */
static int64_t bound_normal(double mean, double variance, double tail)
{
	double z = tr_student(1e7, 2 * tail);

	return (int64_t)tr_maths_floor(mean - z * tr_maths_sqrt(variance) -
				       0.5);
}

uint32_t tr_signed_rank_cap(size_t n)
{
	return (uint32_t)((6 * n + 9) / 10);
}

int64_t tr_signed_rank_bound(size_t n, double tail)
{
	/* [s]: how many sets of the scores have the sum s. */
	double ways[EXACT_MOST * (EXACT_MOST + 1) / 2 + 1] = { 1 };
	double all = 1, sum = 0, squares = 0;
	size_t cap = tr_signed_rank_cap(n), top = 0;

	if (!n || !(tail > 0) || tail >= 0.5)
		return -1;
	for (size_t rank = 1; rank <= n; rank++) {
		size_t score = rank < cap ? rank : cap;

		sum += (double)score;
		squares += (double)score * (double)score;
		if (n > EXACT_MOST)
			continue;
		top += score;
		for (size_t s = top; s >= score; s--)
			ways[s] += ways[s - score];
		all *= 2;
	}
	return n > EXACT_MOST ? bound_normal(sum / 2, squares / 4, tail) :
				bound_of(ways, top + 1, all * tail);
}

/* Ways in which n of n + m ranks give U, by Gauss's binomial. */
static void count_ways(double *ways, size_t n, size_t m)
{
	size_t top = n * m;

	ways[0] = 1;
	for (size_t i = 1; i <= n; i++) {
		for (size_t s = top; s >= m + i; s--)
			ways[s] -= ways[s - m - i];
		for (size_t s = i; s <= top; s++)
			ways[s] += ways[s - i];
	}
}

/* Beyond this the differences of large numbers lose too many digits. */
#define EXACT_SET 20u

int64_t tr_rank_sum_bound(size_t n, size_t m, double tail)
{
	double a = (double)n, b = (double)m, all = 0;
	double ways[EXACT_SET * EXACT_SET + 1] = { 0 };

	if (!n || !m || !(tail > 0) || tail >= 0.5)
		return -1;
	if (n > EXACT_SET || m > EXACT_SET) {
		int64_t bound = bound_normal(a * b / 2,
					     a * b * (a + b + 1) / 12, tail);

		return bound > -1 ? bound : -1;
	}
	count_ways(ways, n, m);
	for (size_t s = 0; s <= n * m; s++)
		all += ways[s];
	return bound_of(ways, n * m + 1, all * tail);
}
