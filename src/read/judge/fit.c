/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Amdahl's law fitted to the speedups of a family, by least squares:
 *
 *	1/S = f + (1 - f)/p, so that y = f x with y = 1/S - 1/p, x = 1 - 1/p
 *
 * A line through the origin: f is the sum of x y divided by the sum of x^2.
 * With as many workers as the baseline, x is 0 and the point says nothing. Each
 * configuration is one point. The standard error has n - 1 degrees of freedom.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "read/judge.h"

struct sums {
	double xx, xy, yy;
	uint32_t n;
};

static bool is_point(const tare_comparison *c, size_t index)
{
	const tare_compared_config *config = &c->config[index];

	return tr_compared_scale(c, config) > 1 && config->speedup.mean > 0;
}

static void add_point(struct sums *sums, double speedup, double p)
{
	double x = 1 - 1 / p, y = 1 / speedup - 1 / p;

	sums->xx += x * x;
	sums->xy += x * y;
	sums->yy += y * y;
	sums->n++;
}

static struct sums sums_of(const tare_comparison *c, const char *family)
{
	struct sums sums = { 0, 0, 0, 0 };

	for (size_t i = 0; i < c->result.n_configs; i++)
		if (is_point(c, i) &&
		    strcmp(c->config[i].family, family) == 0)
			add_point(&sums, c->config[i].speedup.mean,
				  tr_compared_scale(c, &c->config[i]));
	return sums;
}

static double squares_left(const tare_comparison *c, const char *family,
			   double f)
{
	double sum = 0;

	for (size_t i = 0; i < c->result.n_configs; i++) {
		double p, rest;

		if (!is_point(c, i) ||
		    strcmp(c->config[i].family, family) != 0)
			continue;
		p = tr_compared_scale(c, &c->config[i]);
		rest = 1 / c->config[i].speedup.mean - f - (1 - f) / p;
		sum += rest * rest;
	}
	return sum;
}

static void fit_family(tare_comparison *c, const char *family)
{
	struct sums sums = sums_of(c, family);
	tare_compared_fit *fit = &c->fit[c->result.n_fits++];
	double f = sums.xy / sums.xx;
	double left = squares_left(c, family, f);

	*fit = (tare_compared_fit){
		.family = family, .n_points = sums.n, .serial = f,
		.error = NAN, .residual = tr_maths_sqrt(left / sums.n),
		.most = f > 0 ? 1 / f : (double)INFINITY,
	};
	if (sums.n > 1)
		fit->error = tr_maths_sqrt(left / (sums.n - 1) / sums.xx);
}

static bool is_fitted(const tare_comparison *c, const char *family)
{
	for (size_t i = 0; i < c->result.n_fits; i++)
		if (strcmp(c->fit[i].family, family) == 0)
			return true;
	return false;
}

int tr_compared_fits(tare_comparison *c)
{
	c->fit = calloc(c->result.n_configs, sizeof(*c->fit));
	if (!c->fit)
		return TARE_ENOMEM;
	c->result.fits = c->fit;
	for (size_t i = 0; i < c->result.n_configs; i++)
		if (is_point(c, i) && !is_fitted(c, c->config[i].family))
			fit_family(c, c->config[i].family);
	return 0;
}
