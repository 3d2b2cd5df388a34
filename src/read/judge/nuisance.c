/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adjustment for what disturbs a run and can be counted, such as how often it
 * was interrupted: each time it loses its caches.
 *
 * The slope is the median of the pairs' ratios, weighted by how much they were
 * disturbed. It does not change if the two runs of a pair are exchanged, so
 * the rate of false alarms stays what it was; and a difference between the
 * programs does not change it, since each side is disturbed as often.
 */
#include <math.h>
#include <stdlib.h>

#include "base/maths.h"
#include "read/judge.h"

/* The noise must fall by so much, or nothing is adjusted. */
#define WORTH 0.95

struct point {
	double ratio, weight;
};

static int by_ratio(const void *a, const void *b)
{
	const struct point *x = a, *y = b;

	return TR_ORDER(x->ratio, y->ratio);
}

/* Through the origin, by least absolute differences. */
static double slope_of(struct point *at, size_t n)
{
	double all = 0, sum = 0;

	for (size_t i = 0; i < n; i++)
		all += at[i].weight;
	qsort(at, n, sizeof(*at), by_ratio);
	for (size_t i = 0; i < n; i++) {
		sum += at[i].weight;
		if (sum >= all / 2)
			return at[i].ratio;
	}
	return 0;
}

void tr_judge_adjust(const double *old, double *now, const double *nuisance,
		     size_t n)
{
	struct point *at = malloc((n + 1) * sizeof(*at));
	double before = 0, after = 0, slope;
	size_t used = 0;

	for (size_t i = 0; at && i < n; i++) {
		double d = tr_maths_log(now[i] / old[i]);

		if (tr_is_number(d) && tr_is_number(nuisance[i]) &&
		    fabs(nuisance[i]) > 0)
			at[used++] = (struct point){ d / nuisance[i],
						     fabs(nuisance[i]) };
	}
	slope = used > 8 ? slope_of(at, used) : 0;
	free(at);
	for (size_t i = 0; i < n; i++) {
		double d = tr_maths_log(now[i] / old[i]);

		if (!tr_is_number(d) || !tr_is_number(nuisance[i]))
			continue;
		before += fabs(d);
		after += fabs(d - slope * nuisance[i]);
	}
	/* What disturbs makes nothing faster. */
	if (!(slope > 0) || after > WORTH * before)
		return;
	for (size_t i = 0; i < n; i++)
		if (tr_is_number(nuisance[i]))
			now[i] *= tr_maths_exp(-slope * nuisance[i]);
}
