/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/changes/: since when a series has another level.
 *
 * Comes in: values in the order of time. Goes out: tare_change. Called by:
 * cli.
 *
 *	values -> noise, spikes clipped -> far too many proposals (partition.c)
 *		-> the weakest go, one by one (steps.c) -> ramps are one change
 *		(ramps.c)
 *
 * Proposals come from the whole series, which finds the right places;
 * decisions from the 20 values on both sides, which is where people look.
 * docs/internals/changes.md has the reasons of all constants, and the figures.
 */
#ifndef TR_READ_CHANGES_H
#define TR_READ_CHANGES_H

#include <tare/read/changes.h>
#include <tare/read/run_file.h>

/* Values on each side of a change that are looked at. */
#define TR_CHANGE_WINDOW 20u

/* One series under examination. */
struct tr_changes {
	const double *x; /* numbers, no gaps */
	size_t n;
	double *scratch; /* n values, for medians */
	double sigma;	 /* noise, from successive differences */
	size_t *edge;	 /* 0, the changes, n */
	double *score;	 /* of each edge; 1 is just enough */
	size_t n_edges;
	double least;	 /* of tare_changes_options */
};

/* ---- order.c ----------------------------------------------------------- */

/* Value of this rank, from 0; reorders. */
double tr_select(double *x, size_t n, size_t rank);
/* Median of n > 0 values; reorders. */
double tr_median(double *x, size_t n);
/* The same of a copy in `scratch`. */
double tr_median_of(const double *x, size_t n, double *scratch);
/* Quantile q with interpolation; reorders. */
double tr_quantile_of(double *x, size_t n, double q);

/* ---- noise.c ----------------------------------------------------------- */

/* Standard deviation of the noise; 0: the series is constant. */
double tr_noise_sigma(const double *x, size_t n, double *scratch);
/* How much a value depends on the one before, 0 to 0.95: see noise.c. */
double tr_noise_correlation(const struct tr_changes *c);
/* Values without spikes, in units of sigma, about 0. */
void tr_noise_clip(const struct tr_changes *c, double *ret_y);

/* ---- partition.c ------------------------------------------------------- */

/* Fills in the edges. 0 or TARE_ENOMEM. */
int tr_changes_propose(struct tr_changes *c);

/* ---- steps.c ----------------------------------------------------------- */

/* Removes edges that are no clear steps. 0 or TARE_ENOMEM. */
int tr_changes_decide(struct tr_changes *c);

/* ---- ramps.c ----------------------------------------------------------- */

/*
 * The last edge of the ramp that begins at this one, or the edge itself. A
 * ramp has at least three steps in one direction, and a line describes it no
 * worse than they do.
 */
size_t tr_changes_ramp(const struct tr_changes *c, size_t edge);

/* ---- values_file.c ----------------------------------------------------- */

struct tr_value_list {
	double *value; /* a row each; NAN: a gap */
	size_t n;
};

/*
 * One column of a CSV text: that of this name or number (from 1), or NULL: the
 * one called "value", or else the last. TARE_EFORMAT: the problem (may be NULL)
 * says why. Gives the values, free with tr_value_list_release().
 */
int tr_value_list_parse(const char *text, size_t len, const char *column,
		    struct tr_value_list *ret_list, tare_run_problem *problem);
int tr_value_list_open(const char *path, const char *column,
		   struct tr_value_list *ret_list, tare_run_problem *problem);
void tr_value_list_release(struct tr_value_list *series);

#endif
