/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of TR_REGION_PRICES: what timing the calls of a site costs.
 */
#ifndef TR_LEDGER_LAYOUT_PRICE_H
#define TR_LEDGER_LAYOUT_PRICE_H

#include "ledger/layout/file.h"

/*
 * What timing a call of a site costs, as trials in the program found it, in
 * ticks, and how well its calls are known. A trial gives one sample, its mean
 * over TR_PRICE_BATCH trials without the highest and lowest quarter one batch:
 * means of batches are added up. One thread writes a row at a time.
 */
#define TR_PRICE_BATCH 8u
#define TR_PRICE_ROWS 512u
#define TR_PRICE_SURE 16u /* samples after which the governor acts on it */

struct tr_price_sums {
	uint64_t samples; /* ever; the last (samples % TR_PRICE_BATCH) are in
			   * `recent` only */
	uint64_t batches;
	double sum, squares; /* of their means */
	double recent[TR_PRICE_BATCH];
};

struct tr_price {
	uint32_t site;
	uint32_t busy;	  /* a thread writes it */
	uint64_t untimed; /* calls that trials counted and did not time */
	struct tr_price_sums counted; /* of timing, compared with counting */
	struct tr_price_sums light;   /* with counting without a frame */
	/*
	 * Calls while the site was paused, tr_site.missed: least and most for
	 * what the cost of counting may be, and the variance of the estimate.
	 */
	double missed_low, missed_high, missed_variance;
	/* As `light`, of calls that are counted with twice the work. */
	uint64_t twice_batches;
	double twice_sum, twice_squares;
};

_Static_assert(sizeof(struct tr_price) == 4 * TR_LINE, "four lines a price");

/*
 * Sums are read while they are written. A writer counts a sample, adds the
 * batch to the sums, and counts the batch: a reader that sees one of these
 * sees those before.
 */
TR_INLINE void tr_price_store(double *to, double value)
{
	__atomic_store(to, &value, __ATOMIC_RELEASE);
}

/* What timed calls are compared with. */
enum tr_trial_kind { TR_TRIAL_COUNTED, TR_TRIAL_LIGHT, TR_TRIAL_TWICE };

/* The cost of a call in ticks, see price.c. */
struct tr_price_figures {
	double timed, counted; /* of a timed call, of a counted one */
	double timed_error, counted_error; /* half of the interval of 95 % */
	double samples;	 /* trials so far: as often as the site is called */
	bool is_exact;	 /* false: off by one batch, which is being added */
};

/* `tight`: the cost of counting in an empty loop. False: no trials. */
bool tr_price_figures(const struct tr_price *row, double tight,
		      struct tr_price_figures *ret_figures);

#endif
