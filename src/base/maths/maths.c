/* SPDX-License-Identifier: Apache-2.0 */
#include "base/maths.h"

#include <math.h>
#include <string.h>

#define LN2 0.693147180559945309417

static uint64_t bits_of(double x)
{
	uint64_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* 2^n, -1022 <= n <= 1023 */
static double power_of_two(int n)
{
	uint64_t bits = (uint64_t)(n + 1023) << 52;
	double x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

/* x = result x 2^*ret_n, 0.5 <= result < 1; x is above 0 and finite. */
static double split(double x, int *ret_n)
{
	bool is_small = x < 0x1p-900;
	int n;

	/* Subnormal numbers have no bits for their exponents. */
	if (is_small)
		x *= 0x1p100;
	n = (int)(bits_of(x) >> 52 & 0x7ff) - 1022;
	*ret_n = is_small ? n - 100 : n;
	/* In two steps: the inverse of the largest power is subnormal. */
	return x * power_of_two(-n / 2) * power_of_two(-n - -n / 2);
}

double tr_maths_sqrt(double x)
{
	double m, root;
	int n;

	if (!(x > 0) || x > 1.7976931348623157e308)
		return x < 0 ? (double)NAN : x;
	m = split(x, &n);
	if (n % 2) {
		m *= 2;
		n--;
	}
	/* 0.5 <= m < 2: the line is within 3 %; Newton doubles digits. */
	root = 0.417 + 0.59 * m;
	for (int i = 0; i < 5; i++)
		root = 0.5 * (root + m / root);
	return root * power_of_two(n / 2);
}

double tr_maths_log(double x)
{
	double m, s, square, sum = 0;
	int n;

	if (!(x > 0))
		return x < 0 ? (double)NAN : x == 0 ? -(double)INFINITY : x;
	if (x > 1.7976931348623157e308)
		return x;
	m = split(x, &n);
	if (m < 0.70710678118654752) {
		m *= 2;
		n--;
	}
	/* log m = 2 artanh s, |s| < 0.172 */
	s = (m - 1) / (m + 1);
	square = s * s;
	for (int k = 25; k > 0; k -= 2)
		sum = sum * square + 1. / k;
	return n * LN2 + 2 * s * sum;
}

double tr_maths_exp(double x)
{
	double rest, sum = 1;
	int n;

	if (x != x)
		return x;
	if (x > 709.7)
		return (double)INFINITY;
	if (x < -708)
		return 0;
	n = (int)(x / LN2 + (x < 0 ? -0.5 : 0.5));
	rest = x - n * LN2;
	for (int k = 16; k > 0; k--)
		sum = 1 + rest / k * sum;
	return sum * power_of_two(n / 2) * power_of_two(n - n / 2);
}

double tr_maths_floor(double x)
{
	double whole;

	/* From 2^52 on all doubles are integers. */
	if (!(x > -0x1p52 && x < 0x1p52))
		return x;
	whole = (double)(int64_t)x;
	return whole > x ? whole - 1 : whole;
}

/* ---- Student's t ------------------------------------------------------- */

/* Stirling's series; from 15 on the error is below 1e-15. */
static double log_gamma(double x)
{
	double shift = 0, inverse, square;

	for (; x < 15; x++)
		shift += tr_maths_log(x);
	inverse = 1 / x;
	square = inverse * inverse;
	/* Half the logarithm of 2 pi. */
	return (x - 0.5) * tr_maths_log(x) - x + 0.91893853320467274178 +
	       inverse * (1. / 12 - square * (1. / 360 - square / 1260)) -
	       shift;
}

/* One step of a continued fraction by Lentz's method. */
static void lentz(double factor, double *c, double *d, double *f)
{
	*d = 1 / (1 + factor * *d);
	*c = 1 + factor / *c;
	*f *= *c * *d;
}

/* The regularised incomplete beta function, a > 0, b = 1/2, 0 < x < 1. */
static double beta_share(double a, double b, double x)
{
	double front = tr_maths_exp(log_gamma(a + b) - log_gamma(a) -
				    log_gamma(b) + a * tr_maths_log(x) +
				    b * tr_maths_log(1 - x));
	double c = 1, d, f;

	if (x > (a + 1) / (a + b + 2))
		return 1 - beta_share(b, a, 1 - x);
	d = 1 / (1 - (a + b) * x / (a + 1));
	f = d;
	for (int m = 1; m < 300; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x /
			     ((a + 2 * m) * (a + 2 * m + 1));

		lentz(even, &c, &d, &f);
		lentz(odd, &c, &d, &f);
	}
	return front * f / a;
}

double tr_student(double freedom, double outside)
{
	double low = 0, high = 1e6;

	freedom = freedom >= 1 ? freedom : 1;
	freedom = freedom < 1e7 ? freedom : 1e7;
	/* The probability outside of +-t falls with t. */
	for (int i = 0; i < 90; i++) {
		double t = 0.5 * (low + high);

		if (beta_share(freedom / 2, 0.5,
			       freedom / (freedom + t * t)) > outside)
			low = t;
		else
			high = t;
	}
	return 0.5 * (low + high);
}

double tr_student_95(double freedom)
{
	/* Above this the normal distribution is exact to a double. */
	return freedom > 1e7 ? 1.959963984540054 : tr_student(freedom, 0.05);
}
