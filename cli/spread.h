/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spread: quantiles of what came in between two views.
 *
 * Histograms only grow, so the difference of two is the histogram of the time
 * between them. Error: half a bucket, 1.1 %.
 */
#ifndef CLI_SPREAD_H
#define CLI_SPREAD_H

#include <tare/read/view.h>

struct spread {
	double p50;
	double p99;
	double max;
};

/* Where a series stands in the last tare_view_stats() of its view. */
struct series {
	const tare_view *view;
	const tare_stats *stats;
	size_t index;
};

/* `before.view` may be NULL: then since the beginning. NAN if nothing came. */
struct spread spread_between(const struct series *before,
			     const struct series *now);

#endif
