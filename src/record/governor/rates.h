/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates: how often each site was called since the last check, from what the
 * threads wrote into the ledger.
 */
#ifndef TR_RECORD_GOVERNOR_RATES_H
#define TR_RECORD_GOVERNOR_RATES_H

#include "ledger/write.h"

/* Cost in seconds of a scope, of an untimed scope, and of a value. */
struct tr_costs {
	double scope_s, untimed_s, value_s;
	double more_s; /* as much more a scope may cost */
};

/* The same of a site, small: there is one for every site that fits. */
struct tr_known {
	float scope_s, untimed_s, more_s;
};

struct tr_rate {
	uint64_t timed, untimed, values;
};

struct tr_rates {
	struct tr_rate *now;	/* by site, since the start */
	struct tr_rate *before; /* at the previous check */
	struct tr_known *known; /* by site, where measured: scope_s > 0 */
	uint32_t most, n;	/* sites that fit, sites in use */
	/* Of the interval between the last two checks: */
	double cost_s;		/* of all threads */
	double more_s;		/* as much more it may be */
	double events;		/* calls of all threads */
	double thread_share;	/* of the thread with the highest share */
	struct tr_costs costs;	/* of a call, mean over the threads */
	struct tr_costs measured; /* mean over sites with trials; 0: none */
};

/* Allocates memory for `most` sites; false: none. */
bool tr_rates_open(struct tr_rates *rates, uint32_t most);
/* Reads all threads. `on`: part of the time in which sites were on. */
void tr_rates_look(struct tr_rates *rates, double on);
/* Costs of a call of the site: as measured in the program, else the mean. */
struct tr_costs tr_rates_costs(const struct tr_rates *rates, uint32_t site);
/* Calls of a site between the last two checks. */
struct tr_rate tr_rates_new(const struct tr_rates *rates, uint32_t site);

#endif
