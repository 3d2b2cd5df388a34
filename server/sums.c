/* SPDX-License-Identifier: Apache-2.0 */
#include "sums.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 512u /* buckets of a series that are read at once */

struct sums *sums_new(void)
{
	struct sums *sums = calloc(1, sizeof(*sums));

	if (sums) {
		sums->min = NAN;
		sums->max = NAN;
	}
	return sums;
}

static size_t place_of(double upper)
{
	uint64_t bits;

	(void)memcpy(&bits, &upper, sizeof(bits));
	return (size_t)((bits * UINT64_C(0x9e3779b97f4a7c15)) >> 52);
}

/* A full table gives up the bucket: the count stays, its place is lost. */
static void add_bucket(struct sums *sums, const tare_bucket *bucket)
{
	size_t at = place_of(bucket->upper);

	for (size_t i = 0; i < SUMS_BUCKETS; i++) {
		tare_bucket *slot = &sums->buckets[at];

		if (slot->count && slot->upper == bucket->upper) {
			slot->count += bucket->count;
			return;
		}
		if (!slot->count) {
			*slot = *bucket;
			return;
		}
		at = (at + 1) % SUMS_BUCKETS;
	}
}

static void add_buckets(struct sums *sums, const tare_merge *merge,
			size_t index)
{
	tare_bucket few[BATCH], *all = few;
	size_t n = tare_merge_buckets(merge, index, few, BATCH);

	if (n > BATCH) {
		all = calloc(n, sizeof(*all));
		if (!all)
			return;
		n = tare_merge_buckets(merge, index, all, n);
	}
	for (size_t i = 0; i < n; i++)
		if (all[i].count)
			add_bucket(sums, &all[i]);
	if (all != few)
		free(all);
}

void sums_add(struct sums *sums, const tare_merge *merge, size_t index)
{
	size_t n;
	const tare_stats *stats = &tare_merge_stats(merge, &n)[index];

	sums->count += stats->count;
	sums->timed += stats->timed;
	sums->failures += stats->failures;
	if (!isnan(stats->total))
		sums->total += stats->total;
	sums->min = fmin(sums->min, stats->min);
	sums->max = fmax(sums->max, stats->max);
	add_buckets(sums, merge, index);
}

static int by_upper(const void *a, const void *b)
{
	const tare_bucket *x = a, *y = b;

	return (x->upper > y->upper) - (x->upper < y->upper);
}

void sums_finish(struct sums *sums)
{
	size_t n = 0;

	for (size_t i = 0; i < SUMS_BUCKETS; i++)
		if (sums->buckets[i].count)
			sums->buckets[n++] = sums->buckets[i];
	sums->n_buckets = n;
	qsort(sums->buckets, n, sizeof(sums->buckets[0]), by_upper);
}

/* The middle of its bucket, but never beyond what was really seen. */
double sums_quantile(const struct sums *sums, double q)
{
	uint64_t n = 0, rank, seen = 0;

	for (size_t i = 0; i < sums->n_buckets; i++)
		n += sums->buckets[i].count;
	if (!n)
		return NAN;
	rank = (uint64_t)ceil(q * (double)n);
	for (size_t i = 0; i < sums->n_buckets; i++) {
		const tare_bucket *bucket = &sums->buckets[i];

		seen += bucket->count;
		if (seen >= rank)
			return fmax(sums->min,
				    fmin(sums->max, (bucket->lower +
						     bucket->upper) / 2));
	}
	return sums->max;
}
