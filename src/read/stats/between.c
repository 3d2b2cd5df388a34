/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between: quantiles of the measurements between two views of one run.
 *
 * Histograms only grow, so the difference of two is the histogram of the time
 * between them. Ranks and values are computed as for any other histogram.
 */
#include "read/stats.h"

#include <math.h>

static uint64_t less(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

/* Counts never go below 0, even for two crafted files. Both ascend. */
static void subtract(struct tr_hist *now, const struct tr_hist *before)
{
	uint32_t j = 0;

	now->zeros = less(now->zeros, before->zeros);
	for (uint32_t i = 0; i < now->n; i++) {
		while (j < before->n &&
		       before->page[j].number < now->page[i].number)
			j++;
		if (j == before->n)
			return;
		if (before->page[j].number != now->page[i].number)
			continue;
		for (unsigned k = 0; k < TR_PAGE_BUCKETS; k++)
			now->page[i].count[k] = less(now->page[i].count[k],
						     before->page[j].count[k]);
	}
}

/* Is the overall maximum in the same bucket as the highest new value? */
static bool is_in_highest(struct tr_pool *pool, const struct tr_series *fresh,
			  const tare_stats *now)
{
	double max = now->max / (now->kind == TARE_KIND_SCOPE ? 1e9 : 1);
	struct tr_series one = { .site = fresh->site };

	return max > 0 &&
	       tr_hist_add_one(pool, &one.positive, tr_bucket_bits(max), 1) &&
	       tr_series_quantile(&one, 1) == tr_series_quantile(fresh, 1);
}

/*
 * Exact if the maximum is new. Else a value of the highest bucket: the overall
 * maximum if it is in that bucket, or the bucket's middle.
 */
static double highest(struct tr_pool *pool, const struct tr_series *fresh,
		      const tare_stats *before, const tare_stats *now)
{
	if (now->max > before->max || is_in_highest(pool, fresh, now))
		return now->max;
	return tr_stats_quantile(fresh, now, 1);
}

int tr_stats_between(const tare_view *before, const tare_stats *then,
		     const tare_view *now, tare_stats *row)
{
	const struct tr_series *a = &before->shown->series[then->site];
	const struct tr_series *b = &now->shown->series[row->site];
	struct tr_series fresh = { .site = b->site };
	struct tr_pool pool = { NULL, NULL, 0 };
	int err = TARE_ENOMEM;

	if (tr_hist_merge(&pool, &fresh.positive, &b->positive) &&
	    tr_hist_merge(&pool, &fresh.negative, &b->negative)) {
		double max = NAN;

		subtract(&fresh.positive, &a->positive);
		subtract(&fresh.negative, &a->negative);
		row->timed = tr_series_timed(&fresh);
		if (row->timed)
			max = highest(&pool, &fresh, then, row);
		tr_stats_quantiles(&fresh, row);
		row->max = max;
		err = 0;
	}
	tr_pool_release(&pool);
	return err;
}
