/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums: several series as one: count, mean, extremes, quantiles.
 *
 * The buckets of all histograms lie on one grid, so adding series up is
 * adding their buckets, and a quantile is as exact as that of one series.
 */
#ifndef SERVER_SUMS_H
#define SERVER_SUMS_H

#include <tare/read/view.h>

#include "cli/json.h"

#define SUMS_BUCKETS 4096u /* a power of two; a grid has under 2,200 */

struct sums {
	uint64_t count;
	uint64_t timed;
	uint64_t failures;
	double total;
	double min;
	double max;
	size_t n_buckets;
	tare_bucket buckets[SUMS_BUCKETS]; /* by hash, then in order */
};

/* NULL: out of memory. Free with free(). */
struct sums *sums_new(void);
void sums_add(struct sums *sums, const tare_merge *merge, size_t index);
/* Puts the buckets in order; once, after the last sums_add(). */
void sums_finish(struct sums *sums);
double sums_quantile(const struct sums *sums, double q);

#endif
