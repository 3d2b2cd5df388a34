/* SPDX-License-Identifier: Apache-2.0 */
#include "spread.h"

#include <math.h>
#include <stdlib.h>

struct buckets {
	tare_bucket *at;
	size_t n;
};

/* Gives the buckets (free `at`); none when memory is short. */
static struct buckets buckets_of(const struct series *series)
{
	struct buckets buckets = { NULL, 0 };
	size_t n = tare_view_buckets(series->view, series->index, NULL, 0);

	if (n)
		buckets.at = calloc(n, sizeof(*buckets.at));
	if (buckets.at)
		buckets.n = tare_view_buckets(series->view, series->index,
					      buckets.at, n);
	return buckets;
}

/* Takes what `before` has out of `now`. Both ascend. */
static void subtract(struct buckets now, struct buckets before)
{
	size_t j = 0;

	for (size_t i = 0; i < now.n && j < before.n; i++) {
		while (j < before.n && before.at[j].lower < now.at[i].lower)
			j++;
		if (j == before.n || before.at[j].lower != now.at[i].lower)
			continue;
		now.at[i].count = now.at[i].count > before.at[j].count
					  ? now.at[i].count -
						    before.at[j].count
					  : 0;
	}
}

static uint64_t total(struct buckets buckets)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < buckets.n; i++)
		sum += buckets.at[i].count;
	return sum;
}

static double within(double value, const tare_stats *stats)
{
	if (value < stats->min)
		return stats->min;
	return value > stats->max ? stats->max : value;
}

static double middle(const tare_bucket *bucket)
{
	return (bucket->lower + bucket->upper) / 2;
}

/* Middle of the bucket that holds the value of rank q. */
static double quantile(struct buckets buckets, uint64_t n, double q)
{
	uint64_t rank = (uint64_t)(q * (double)n), seen = 0;

	for (size_t i = 0; i < buckets.n; i++) {
		seen += buckets.at[i].count;
		if (seen > rank)
			return middle(&buckets.at[i]);
	}
	return NAN;
}

/*
 * Exact when it is a new record. Else of the highest bucket: the highest of
 * all, if that is in it, or its middle.
 */
static double highest(struct buckets buckets, const struct series *before,
		      const struct series *now)
{
	size_t i = buckets.n;

	if (now->stats->max > before->stats->max)
		return now->stats->max;
	while (i > 0 && buckets.at[i - 1].count == 0)
		i--;
	if (i && now->stats->max <= buckets.at[i - 1].upper)
		return now->stats->max;
	return i ? middle(&buckets.at[i - 1]) : NAN;
}

static struct spread since_beginning(const struct series *now)
{
	return (struct spread){ now->stats->p50, now->stats->p99,
				now->stats->max };
}

struct spread spread_between(const struct series *before,
			     const struct series *now)
{
	struct spread spread = { NAN, NAN, NAN };
	struct buckets then, fresh;
	uint64_t n;

	if (!before->view)
		return since_beginning(now);
	fresh = buckets_of(now);
	then = buckets_of(before);
	subtract(fresh, then);
	n = total(fresh);
	if (n) {
		spread.p50 = within(quantile(fresh, n, 0.50), now->stats);
		spread.p99 = within(quantile(fresh, n, 0.99), now->stats);
		spread.max = within(highest(fresh, before, now), now->stats);
	}
	free(then.at);
	free(fresh.at);
	return spread;
}
