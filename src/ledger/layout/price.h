/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of TR_REGION_PRICES: what timing the calls of a site costs.
 */
#ifndef TR_LEDGER_LAYOUT_PRICE_H
#define TR_LEDGER_LAYOUT_PRICE_H

#include "ledger/layout/file.h"

/*
 * What timing a call of a site costs, as trials in the program found it, in
 * ticks. A trial gives one sample, its mean over TR_PRICE_BATCH trials without
 * the highest and lowest quarter one batch: means of batches are added up. One
 * thread writes a row at a time.
 */
#define TR_PRICE_BATCH 8u
#define TR_PRICE_ROWS 512u
#define TR_PRICE_SURE 32u /* samples after which the governor acts on it */

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
	struct tr_price_sums timed;   /* cost of timing, over counting */
	struct tr_price_sums counted; /* cost of counting */
	uint64_t reserved[6];
};

_Static_assert(sizeof(struct tr_price) == 4 * TR_LINE, "four lines a price");

/* The cost of a call in ticks, see price.c. */
struct tr_price_figures {
	double timed, counted; /* of a timed call, of a counted one */
	double second;	 /* of counting once more: `counted` is 0 to that */
	double variance; /* of the mean of timing over counting */
	double counted_variance; /* of `second` */
	double samples;	 /* trials so far: as often as the site is called */
};

/* `tight`: the cost of counting in an empty loop. False: no trials. */
bool tr_price_figures(const struct tr_price *row, double tight,
		      struct tr_price_figures *ret_figures);

#endif
