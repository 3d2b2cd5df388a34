/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Price: the cost of a call of a site, from the sums of its trials.
 *
 * Trials compare with calls that are counted, and counting is not free either.
 * Its cost comes from trials in which each call is counted twice. Where the
 * second count costs as much as in a loop without any work (`tight`), the
 * processor has no idle cycles, and the first count costs about the same.
 * Where the second count costs less, there are idle cycles, and the first
 * count used them first: it costs nothing if the second costs less than
 * HIDDEN of `tight`, and the more the closer the second comes to it. Both
 * constants fit chains of dependent instructions, code that is limited by its
 * number of instructions, and calls of small functions (bench own_cost). The
 * first count costs between nothing and the second in any case, and this range
 * is part of the error.
 */
#include "ledger/layout.h"

/* With fewer batches their spread says little. */
#define ENOUGH 4u
#define HIDDEN 0.6
#define FIRST 0.8 /* of the second count, in code without idle cycles */

static bool mean_of(const struct tr_price_sums *sums, double *ret_mean,
		    double *ret_variance)
{
	double n = (double)TR_ACQUIRE(sums->batches), mean, variance;

	if (n < 1)
		return false;
	mean = sums->sum / n;
	variance = sums->squares / n - mean * mean;
	/* A damaged ledger may hold anything. */
	if (!(mean > -1e9 && mean < 1e9 && variance < 1e18))
		return false;
	*ret_mean = mean;
	if (n < ENOUGH)
		*ret_variance = mean * mean;
	else
		*ret_variance = variance > 0 ? variance / (n - 1) : 0;
	return true;
}

bool tr_price_figures(const struct tr_price *row, double tight,
		      struct tr_price_figures *ret_figures)
{
	struct tr_price_figures f = { .second = tight / 2,
				      .samples = (double)row->timed.samples };
	double over, twice, part;

	if (!mean_of(&row->timed, &over, &f.variance))
		return false;
	if (mean_of(&row->counted, &twice, &f.counted_variance)) {
		f.second = over - twice;
		f.counted_variance += f.variance;
	}
	if (f.second < 0)
		f.second = 0;
	part = tight > 0 && f.second < tight ?
		       (f.second / tight - HIDDEN) / (1 - HIDDEN) :
		       1;
	f.counted = part > 0 ? FIRST * f.second * part * part : 0;
	f.timed = (over > 0 ? over : 0) + f.counted;
	*ret_figures = f;
	return true;
}
