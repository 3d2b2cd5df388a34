/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Price: the cost of a call of a site, from the sums of its trials.
 *
 * Trials compare timed calls with calls that are counted, and with calls that
 * are counted without a frame (`light`). The difference of both results is the
 * cost of a frame. What remains is the cost of a light call, which the program
 * counts inline: some twenty instructions. It is a small part of a count in an
 * empty loop (`tight`): LIGHT fits chains of dependent instructions, code
 * without idle cycles and calls of small functions (bench own_cost). It is
 * between nothing and twice that in any case, which is part of the error.
 */
#include "ledger/layout.h"

#include "base/maths.h"

/* With fewer batches their spread says little. */
#define ENOUGH 4u
#define LIGHT 0.2
#define TRIES 32u

struct mean {
	double of, variance;
	bool is_exact; /* also without a mean */
};

static double load(const double *from)
{
	double value;

	__atomic_load(from, &value, __ATOMIC_ACQUIRE);
	return value;
}

static void order(double *x, double *y)
{
	double upper = *x;

	if (!(*y < upper))
		return;
	*x = *y;
	*y = upper;
}

/*
 * Variance of the mean of a batch, by the spread of the newest eight samples
 * without the lowest and the highest, which is 1.7 standard deviations of one.
 * Twice that, since eight samples know their spread badly.
 */
static double batch_variance(const struct tr_price_sums *sums)
{
	double x[TR_PRICE_BATCH], deviation;

	for (unsigned i = 0; i < TR_PRICE_BATCH; i++)
		x[i] = load(&sums->recent[i]);
	for (unsigned i = 0; i < TR_PRICE_BATCH; i++)
		for (unsigned j = 1; j < TR_PRICE_BATCH; j++)
			order(&x[j - 1], &x[j]);
	deviation = (x[TR_PRICE_BATCH - 2] - x[1]) / 1.7;
	return 2 * deviation * deviation / TR_PRICE_BATCH;
}

/*
 * Copies sums of the same batches. While a sample is counted and its batch is
 * not, the sums may hold that batch or not: false, after some tries. The writer
 * may be waiting for a processor, or was killed; a damaged ledger may say so.
 */
static bool copy_sums(const struct tr_price_sums *sums,
		      struct tr_price_sums *copy)
{
	for (unsigned i = 0; i < TRIES; i++) {
		copy->batches = TR_ACQUIRE(sums->batches);
		copy->sum = load(&sums->sum);
		copy->squares = load(&sums->squares);
		if (TR_LOAD(sums->samples) / TR_PRICE_BATCH == copy->batches)
			return true;
	}
	return false;
}

static bool mean_of(const struct tr_price_sums *sums, struct mean *ret_mean)
{
	struct tr_price_sums now;
	double n, mean, variance;

	ret_mean->is_exact = copy_sums(sums, &now);
	n = (double)now.batches;
	if (n < 1)
		return false;
	mean = now.sum / n;
	variance = now.squares / n - mean * mean;
	/* A damaged ledger may hold anything. */
	if (!(mean > -1e9 && mean < 1e9 && variance < 1e18))
		return false;
	if (n < ENOUGH)
		variance = batch_variance(sums) / n;
	else
		variance = variance > 0 ? variance / (n - 1) : 0;
	if (!(variance < 1e18))
		return false;
	ret_mean->of = mean;
	ret_mean->variance = variance;
	return true;
}

static double positive(double x)
{
	return x > 0 ? x : 0;
}

/* Without light trials, which a scope with others inside has not. */
static void guess(const struct mean *counted, double tight,
		  struct tr_price_figures *f)
{
	f->counted = f->counted_error = tight / 2;
	f->timed = positive(counted->of) + f->counted;
	f->timed_error = 2 * tr_maths_sqrt(counted->variance) + tight / 2;
}

/*
 * What the work of a light call costs: calls that do it twice take so much
 * longer. Without such trials, a part of a count in an empty loop.
 */
static void rest_of(const struct tr_price *row, const struct mean *light,
		    double tight, double *ret_rest, double *ret_error)
{
	double n = (double)TR_ACQUIRE(row->twice_batches);
	double mean = n >= 1 ? load(&row->twice_sum) / n : 0;
	double variance = n >= 1 ? load(&row->twice_squares) / n - mean * mean :
				   0;

	*ret_rest = *ret_error = LIGHT * tight;
	/* A damaged ledger may hold anything. */
	if (!(n >= 1 && mean > -1e9 && mean < 1e9 && variance < 1e18))
		return;
	/* Few batches: as well known as the other ones. */
	variance = n < ENOUGH ? 2 * light->variance :
				positive(variance) / (n - 1);
	*ret_rest = positive(light->of - mean);
	if (*ret_rest > tight)
		*ret_rest = tight;
	*ret_error = *ret_rest / 4 + 2 * tr_maths_sqrt(variance);
}

bool tr_price_figures(const struct tr_price *row, double tight,
		      struct tr_price_figures *ret_figures)
{
	struct tr_price_figures f = {
		.samples = (double)TR_LOAD(row->counted.samples),
	};
	struct mean counted, light;
	double frame, rest, error;

	if (!mean_of(&row->counted, &counted))
		return false;
	if (!mean_of(&row->light, &light)) {
		guess(&counted, tight, &f);
		f.is_exact = counted.is_exact && light.is_exact;
		*ret_figures = f;
		return true;
	}
	f.is_exact = counted.is_exact && light.is_exact;
	rest_of(row, &light, tight, &rest, &error);
	frame = light.of - counted.of;
	f.counted = positive(frame) + rest;
	f.timed = positive(light.of) + rest;
	f.timed_error = 2 * tr_maths_sqrt(light.variance) + error;
	f.counted_error = f.timed_error + 2 * tr_maths_sqrt(counted.variance);
	*ret_figures = f;
	return true;
}
