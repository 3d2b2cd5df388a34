/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a fine histogram to a coarse list of bounds. */
#include "read/view.h"
#include "read/stats.h"

#include <assert.h>
#include <math.h>

struct climb {
	const double *bound;
	uint64_t *below; /* counts of each step; cumulative at the end */
	size_t n, at;
	uint64_t above;
};

static uint32_t bucket_of(double bound)
{
	return (uint32_t)tr_bucket_index(tr_bucket_bits(fabs(bound)));
}

static void add(struct climb *climb, uint64_t count)
{
	if (climb->at < climb->n)
		climb->below[climb->at] += count;
	else
		climb->above += count;
}

/* Buckets of negative values: the highest bucket number is the lowest value. */
static void climb_negative(struct climb *climb, const struct tr_hist *hist)
{
	for (uint32_t i = hist->n; i-- > 0;)
		for (unsigned k = TR_PAGE_BUCKETS; k-- > 0;) {
			uint32_t b = hist->page[i].number * TR_PAGE_BUCKETS + k;

			if (!hist->page[i].count[k])
				continue;
			while (climb->at < climb->n &&
			       climb->bound[climb->at] < 0 &&
			       b < bucket_of(climb->bound[climb->at]))
				climb->at++;
			add(climb, hist->page[i].count[k]);
		}
}

static void climb_positive(struct climb *climb, const struct tr_hist *hist)
{
	for (uint32_t i = 0; i < hist->n; i++)
		for (unsigned k = 0; k < TR_PAGE_BUCKETS; k++) {
			uint32_t b = hist->page[i].number * TR_PAGE_BUCKETS + k;

			if (!hist->page[i].count[k])
				continue;
			while (climb->at < climb->n &&
			       (climb->bound[climb->at] <= 0 ||
				b > bucket_of(climb->bound[climb->at])))
				climb->at++;
			add(climb, hist->page[i].count[k]);
		}
}

uint64_t tr_series_cumulate(const struct tr_series *series,
			    const double *bound, uint64_t *below, size_t n)
{
	struct climb climb = { bound, below, n, 0, 0 };
	uint64_t sum = 0;

	assert(bound || !n);
	for (size_t i = 0; i < n; i++)
		below[i] = 0;
	climb_negative(&climb, &series->negative);
	while (climb.at < n && bound[climb.at] < 0)
		climb.at++;
	add(&climb, series->positive.zeros);
	climb_positive(&climb, &series->positive);
	for (size_t i = 0; i < n; i++)
		below[i] = sum += below[i];
	return sum + climb.above;
}
