/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The largest error of a quantile of the histogram against the exact one.
 *
 * A million values go through tare_value_observe(); every quantile from 1 % to
 * 99.99 % in steps of 0.01 % is compared with the sorted values. Where a rank
 * is between two values (the gap of bimodal data), both neighbours are correct.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <tare/probe.h>
#include <tare/read/view.h>

#include "bench.h"

#define N_VALUES 1000000u

static double values[N_VALUES];
static uint64_t state = 88172645463325252u;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307 * uniform());
}

static void fill_lognormal(void)
{
	for (size_t i = 0; i < N_VALUES; i++)
		values[i] = exp(normal());
}

/* Hits and misses of a cache: 100 +- 5 and 10000 +- 500. */
static void fill_bimodal(void)
{
	for (size_t i = 0; i < N_VALUES; i++) {
		double mode = uniform() < 0.9 ? 100 : 10000;

		values[i] = mode * (1 + 0.05 * normal());
	}
}

static void fill_constant(void)
{
	for (size_t i = 0; i < N_VALUES; i++)
		values[i] = 12345.678;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double error_of(double estimate, double q)
{
	double rank = q * (N_VALUES - 1);
	double below = values[(size_t)floor(rank)];
	double above = values[(size_t)ceil(rank)];

	return fmin(fabs(estimate - below) / below,
		    fabs(estimate - above) / above);
}

static size_t find(tare_view *view, const char *name)
{
	const tare_stats *stats;
	size_t n;

	if (tare_view_stats(view, NULL, &stats, &n))
		bench_fail(name, "no statistics");
	for (size_t i = 0; i < n; i++) {
		if (strcmp(stats[i].name, name))
			continue;
		if (stats[i].count != N_VALUES)
			bench_fail(name, "values are missing");
		return i;
	}
	bench_fail(name, "not in the view");
	return 0;
}

static double worst_error(const char *name)
{
	double worst = 0;
	tare_view *view;
	size_t index;

	if (tare_view_open("self", &view))
		bench_fail(name, "cannot open a view");
	index = find(view, name);
	for (unsigned i = 100; i <= 9999; i++) {
		double q = i / 10000.0;

		worst = fmax(worst, error_of(tare_view_quantile(view, index,
								q), q));
	}
	tare_view_close(view);
	return worst;
}

static void measure(const char *name, void (*fill)(void))
{
	tare_site *site = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM,
					name, "1", NULL);

	fill();
	for (size_t i = 0; i < N_VALUES; i++)
		tare_value_observe(site, values[i]);
	qsort(values, N_VALUES, sizeof(values[0]), by_size);
	bench_report(name, worst_error(name) * 100, "%", NAN, NULL);
}

static void quantile_part(void)
{
	measure("lognormal", fill_lognormal);
	measure("bimodal", fill_bimodal);
	measure("constant", fill_constant);
}

const struct bench_part bench_parts[] = {
	{ "quantile", quantile_part, { "TARE=on" } },
	{ NULL, NULL, { NULL } },
};
