/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Means with intervals.
 *
 * For a mean: Student's t with n - 1 degrees of freedom. For a ratio of two
 * means: the logarithm of the ratio is assumed to be normal. Its variance is
 * the sum of the squared relative errors of both means, with the degrees of
 * freedom of Welch and Satterthwaite. So the interval of a ratio has no
 * negative end, is symmetric in factors, and is right for repeats that differ
 * by some percent. Fieller's interval was rejected: it has no ends if the means
 * are uncertain, and equals this one if they are not.
 */

#include <math.h>

#include "base/maths.h"
#include "read/view.h"
#include "read/judge.h"

struct moments {
	double mean;
	double variance; /* of the mean, not of the values; NAN: n < 2 */
	uint32_t n;
};

static struct moments moments_of(const double *value, size_t n)
{
	struct moments m = { NAN, NAN, 0 };
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		if (tr_is_number(value[i])) {
			sum += value[i];
			m.n++;
		}
	if (!m.n)
		return m;
	m.mean = sum / m.n;
	for (size_t i = 0; i < n; i++)
		if (tr_is_number(value[i]))
			squares += (value[i] - m.mean) * (value[i] - m.mean);
	if (m.n > 1)
		m.variance = squares / (m.n - 1) / m.n;
	return m;
}

tare_estimate tr_estimate_none(void)
{
	return (tare_estimate){ NAN, NAN, NAN, 0 };
}

tare_estimate tr_estimate_of(const double *value, size_t n)
{
	struct moments m = moments_of(value, n);
	tare_estimate estimate = { m.mean, NAN, NAN, m.n };

	if (m.n > 1) {
		double half = tr_student_95(m.n - 1) *
			      tr_maths_sqrt(m.variance);

		estimate.low = m.mean - half;
		estimate.high = m.mean + half;
	}
	return estimate;
}

/* Squared relative errors add up, as variances of logarithms. */
static void add_interval(tare_estimate *ratio, const struct moments *a,
			 const struct moments *b)
{
	double u = a->variance / (a->mean * a->mean);
	double v = b->variance / (b->mean * b->mean);
	double freedom = u * u / (a->n - 1) + v * v / (b->n - 1);
	double half = 0;

	if (freedom > 0)
		half = tr_student_95((u + v) * (u + v) / freedom) *
		       tr_maths_sqrt(u + v);
	ratio->low = ratio->mean * tr_maths_exp(-half);
	ratio->high = ratio->mean * tr_maths_exp(half);
}

tare_estimate tr_estimate_ratio(const double *a, size_t n_a, const double *b,
				size_t n_b)
{
	struct moments x = moments_of(a, n_a), y = moments_of(b, n_b);
	tare_estimate ratio = tr_estimate_none();

	if (!(x.mean > 0) || !(y.mean > 0))
		return ratio;
	ratio.mean = x.mean / y.mean;
	ratio.n = y.n;
	if (x.n > 1 && y.n > 1)
		add_interval(&ratio, &x, &y);
	return ratio;
}

tare_estimate tr_estimate_scaled(tare_estimate estimate, double factor)
{
	estimate.mean *= factor;
	estimate.low *= factor;
	estimate.high *= factor;
	return estimate;
}

tare_estimate tr_estimate_within(tare_estimate estimate, double least,
				 double most)
{
	if (estimate.low < least)
		estimate.low = tr_least(least, estimate.mean);
	if (estimate.high > most)
		estimate.high = tr_most(most, estimate.mean);
	return estimate;
}
