/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the leak check: a bounded series, line fits, a verdict.
 */
#ifndef TR_RECORD_STEP_LEAK_H
#define TR_RECORD_STEP_LEAK_H

#include <tare/step.h>

#include "base/platform.h"

#define TR_BINS 512u	/* points of a series, at any length */
#define TR_BLOCKS 32u	/* points of a line */

/*
 * Consecutive samples. The minimum is kept beside the sum: between two garbage
 * collections a program's memory only grows, and the level that it returns to
 * is what it really uses.
 */
struct tr_bin {
	double least, sum;
	double at; /* sum of the samples' positions */
	uint32_t n;
};

struct tare_leak_series {
	char what[32];
	double least_growth; /* bytes: smaller growth is no leak */
	uint64_t samples;
	uint32_t n_bins;
	uint32_t width; /* samples per bin */
	struct tr_bin bin[TR_BINS];
};

/* Empties the series. */
void tr_series_clear(tare_leak_series *series);
/* `at` is the position: the number of the step. */
void tr_series_add(tare_leak_series *series, double at, double bytes);

/* ---- slope.c ----------------------------------------------------------- */

/* Points of a line, in order of x. */
struct tr_points {
	double x[TR_BLOCKS], y[TR_BLOCKS];
	unsigned n;
};

struct tr_line {
	double slope;  /* least squares */
	double error;  /* its standard error */
	double repeat; /* autocorrelation of the residuals, -1 to 1 */
};

struct tr_line tr_line_fit(const struct tr_points *points);

/* Theil-Sen: the median of the slopes of all pairs, and its 95 % interval. */
struct tr_slopes {
	double median, low, high;
};
struct tr_slopes tr_line_slopes(const struct tr_points *points);

/* Probability that a normal variable is below z. */
double tr_normal_below(double z);

/* ---- verdict.c --------------------------------------------------------- */

void tr_leak_judge(const tare_leak_series *series, tare_leak *ret_leak);

#endif
