/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates: how often each site was called since the last look, from what the
 * threads wrote into the ledger.
 */
#ifndef TR_RECORD_GOVERNOR_RATES_H
#define TR_RECORD_GOVERNOR_RATES_H

#include "ledger/write.h"

/* Seconds that a scope, one that is only counted, and a value cost. */
struct tr_costs {
	double scope_s, untimed_s, value_s;
};

struct tr_rate {
	uint64_t timed, untimed, values;
};

struct tr_rates {
	struct tr_rate *now;	/* by site, since the start */
	struct tr_rate *before; /* at the look before */
	uint32_t most, n;	/* sites there is room for, sites there are */
	/* Of the interval between the last two looks: */
	double cost_s;		/* of all threads */
	double events;		/* calls of all threads */
	double thread_share;	/* of the thread that it costs most */
	struct tr_costs costs;	/* of a call, on average over the threads */
};

/* Memory for `most` sites; false if there is none. */
bool tr_rates_open(struct tr_rates *rates, uint32_t most);
/* Looks at all threads. `on`: part of the time that they could measure. */
void tr_rates_look(struct tr_rates *rates, double on);
/* Calls of a site between the last two looks. */
struct tr_rate tr_rates_new(const struct tr_rates *rates, uint32_t site);

#endif
