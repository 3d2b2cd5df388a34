/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Noise: how much values scatter without any change, and how much each of them
 * depends on the one before.
 *
 * Both come from differences of neighbours, of which a shift spoils one and
 * slow drift none.
 */
#include "read/changes.h"

#include "base/maths.h"

/* Median absolute difference of neighbours to standard deviation, for normal
 * noise: 1.4826 / sqrt(2). The mean has sqrt(pi) / 2. */
#define MEDIAN_TO_SIGMA 1.04835
#define MEAN_TO_SIGMA 0.88623

/* Spikes are clipped that many sigmas from the running median. */
#define CLIP_HALF 5u
#define CLIP_SIGMAS 3.0

/* A series of more sigmas than that would lose digits in sums of squares. */
#define RANGE_SIGMAS 1e5

/* Independent values seem to depend on each other by about that. */
#define CORRELATION_FREE 0.05
#define CORRELATION_MOST 0.95

static double size_of(double x)
{
	return x < 0 ? -x : x;
}

static double clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/* Median of |x[i + lag] - x[i]|. */
static double median_step(const double *x, size_t n, size_t lag,
			  double *scratch)
{
	for (size_t i = 0; i + lag < n; i++)
		scratch[i] = size_of(x[i + lag] - x[i]);
	return tr_median(scratch, n - lag);
}

double tr_noise_sigma(const double *x, size_t n, double *scratch)
{
	double sigma = MEDIAN_TO_SIGMA * median_step(x, n, 1, scratch);
	double sum = 0;

	if (sigma > 0)
		return sigma;
	/* Most values are as the one before: they are counts, or rounded. */
	for (size_t i = 1; i < n; i++)
		sum += size_of(x[i] - x[i - 1]) / (double)(n - 1);
	return MEAN_TO_SIGMA * sum;
}

/* ---- dependence -------------------------------------------------------- */

/*
 * Of differences over two steps and over one: if each value is the one before
 * times p and something new, the ratio of their squares is 1 + p, and shifts
 * do not matter. Uncertain by about 0.2 for 200 values.
 */
static double by_differences(const struct tr_changes *c)
{
	double one = median_step(c->x, c->n, 1, c->scratch);
	double two = median_step(c->x, c->n, 2, c->scratch);
	double ratio = one > 0 ? two / one : 1;

	return clamp(ratio * ratio - 1 - CORRELATION_FREE, 0,
		     CORRELATION_MOST);
}

/*
 * Of deviations from the level of each proposed segment, without spikes. Less
 * uncertain, but too low: surplus proposals follow slow noise.
 */
static double by_deviations(const struct tr_changes *c)
{
	double most = CLIP_SIGMAS * c->sigma, both = 0, squares = 0;

	for (size_t i = 0; i + 1 < c->n_edges; i++) {
		size_t from = c->edge[i], n = c->edge[i + 1] - from;
		double level = tr_median_of(c->x + from, n, c->scratch);
		double last = 0;

		for (size_t t = from; t < from + n; t++) {
			double d = clamp((c->x[t] - level) / most, -1, 1);

			squares += d * d;
			both += d * last;
			last = d;
		}
	}
	return squares > 0 ? clamp(both / squares, 0, CORRELATION_MOST) : 0;
}

/*
 * The second estimate is the lower bound, and twice as much the upper bound of
 * the first one, which is too high if most of the series consists of shifts.
 */
double tr_noise_correlation(const struct tr_changes *c)
{
	double least = by_deviations(c);
	double likely = by_differences(c);

	if (likely > 2 * least)
		likely = 2 * least;
	return clamp(likely > least ? likely : least, 0, CORRELATION_MOST);
}

/* ---- spikes ------------------------------------------------------------ */

static double running_median(const struct tr_changes *c, size_t t)
{
	size_t from = t > CLIP_HALF ? t - CLIP_HALF : 0;
	size_t to = t + CLIP_HALF + 1 < c->n ? t + CLIP_HALF + 1 : c->n;

	return tr_median_of(c->x + from, to - from, c->scratch);
}

void tr_noise_clip(const struct tr_changes *c, double *ret_y)
{
	double centre = tr_median_of(c->x, c->n, c->scratch);
	double sigma = c->sigma, most = CLIP_SIGMAS * sigma, far = 0;

	for (size_t t = 0; t < c->n; t++) {
		double m = running_median(c, t);

		ret_y[t] = clamp(c->x[t], m - most, m + most) - centre;
		if (size_of(ret_y[t]) > far)
			far = size_of(ret_y[t]);
	}
	if (sigma < far / RANGE_SIGMAS)
		sigma = far / RANGE_SIGMAS;
	for (size_t t = 0; t < c->n; t++)
		ret_y[t] /= sigma;
}
