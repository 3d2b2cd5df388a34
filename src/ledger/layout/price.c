/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Price: the cost of a call of a site, from the sums of its trials.
 *
 * Trials compare with calls that are counted, and counting is not free either.
 * Its cost comes from trials in which each call is counted twice: the second
 * count costs d. Where the second count costs as much as in a loop without any
 * work (`tight`), the processor has no idle cycles, and the first count costs
 * the same. Where the second count costs less, the processor has idle cycles,
 * and more of the first count was hidden in them than of the second: with a
 * share m = d / tight, the first count costs about tight * m^4. That fits
 * chains of dependent instructions, code that is limited by its number of
 * instructions, and code that waits for memory (bench own_cost); it lies
 * between 0 and d in any case, and this range is part of the error.
 */
#include "ledger/layout.h"

/* With fewer batches their spread says little. */
#define ENOUGH 4u

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
	part = tight > 0 && f.second < tight ? f.second / tight : 1;
	f.counted = f.second * part * part * part;
	f.timed = (over > 0 ? over : 0) + f.counted;
	*ret_figures = f;
	return true;
}
