/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Line fits through a few points: by least squares, with a known error, and by
 * Theil-Sen, which is robust to outliers. Without libm: the library is not
 * linked with it.
 */
#include "record/step/leak.h"

#define PAIRS (TR_BLOCKS * (TR_BLOCKS - 1) / 2)

/* Newton's method; from within a factor of two, five rounds are exact. */
static double root(double square)
{
	union {
		double value;
		uint64_t bits;
	} u = { square };

	if (!(square > 0))
		return 0;
	u.bits = (u.bits >> 1) + (UINT64_C(1023) << 51);
	for (int i = 0; i < 5; i++)
		u.value = 0.5 * (u.value + square / u.value);
	return u.value;
}

/* erf by Abramowitz and Stegun 7.1.28: error below 3e-7. */
double tr_normal_below(double z)
{
	double x = (z < 0 ? -z : z) * 0.70710678118654752, p;

	p = 1 + x * (0.0705230784 +
		     x * (0.0422820123 +
			  x * (0.0092705272 +
			       x * (0.0001520143 +
				    x * (0.0002765672 + x * 0.0000430638)))));
	for (int i = 0; i < 4; i++)
		p *= p;
	return z < 0 ? 0.5 / p : 1 - 0.5 / p;
}

static double mean_of(const double *v, unsigned n)
{
	double sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += v[i];
	return sum / n;
}

struct tr_line tr_line_fit(const struct tr_points *points)
{
	struct tr_line line = { 0, 0, 0 };
	unsigned n = points->n;
	double mx, my, xx = 0, xy = 0, rr = 0, next = 0, before = 0;

	if (n < 3)
		return line;
	mx = mean_of(points->x, n);
	my = mean_of(points->y, n);
	for (unsigned i = 0; i < n; i++) {
		xx += (points->x[i] - mx) * (points->x[i] - mx);
		xy += (points->x[i] - mx) * (points->y[i] - my);
	}
	if (!(xx > 0))
		return line;
	line.slope = xy / xx;
	for (unsigned i = 0; i < n; i++) {
		double r = points->y[i] - my - line.slope * (points->x[i] - mx);

		rr += r * r;
		next += r * before;
		before = r;
	}
	line.error = root(rr / (n - 2) / xx);
	line.repeat = rr > 0 ? next / rr : 0;
	return line;
}

/* ---- Theil-Sen --------------------------------------------------------- */

/* Shell sort: no recursion, and fast enough for a few hundred. */
static void put_in_order(double *v, size_t n)
{
	static const size_t gaps[] = { 301, 132, 57, 23, 10, 4, 1 };

	for (size_t g = 0; g < sizeof(gaps) / sizeof(gaps[0]); g++)
		for (size_t i = gaps[g]; i < n; i++) {
			double one = v[i];
			size_t at = i;

			for (; at >= gaps[g] && v[at - gaps[g]] > one;
			     at -= gaps[g])
				v[at] = v[at - gaps[g]];
			v[at] = one;
		}
}

static double at_rank(const double *v, size_t n, double rank)
{
	if (rank <= 0)
		return v[0];
	if (rank >= (double)(n - 1))
		return v[n - 1];
	return v[(size_t)rank] + (rank - (double)(size_t)rank) *
					 (v[(size_t)rank + 1] -
					  v[(size_t)rank]);
}

struct tr_slopes tr_line_slopes(const struct tr_points *points)
{
	struct tr_slopes slopes = { 0, 0, 0 };
	double v[PAIRS], k = points->n, wide;
	size_t n = 0;

	for (unsigned j = 1; j < points->n; j++)
		for (unsigned i = 0; i < j; i++)
			if (points->x[j] > points->x[i])
				v[n++] = (points->y[j] - points->y[i]) /
					 (points->x[j] - points->x[i]);
	if (!n)
		return slopes;
	put_in_order(v, n);
	/* Kendall's variance of the number of rising pairs. */
	wide = 1.96 * root(k * (k - 1) * (2 * k + 5) / 18) / 2;
	slopes.median = at_rank(v, n, (double)(n - 1) / 2);
	slopes.low = at_rank(v, n, (double)(n - 1) / 2 - wide);
	slopes.high = at_rank(v, n, (double)(n - 1) / 2 + wide);
	return slopes;
}
