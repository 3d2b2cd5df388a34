/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TR_RECORD_PRICE_PRICE_H
#define TR_RECORD_PRICE_PRICE_H

#include "record/price.h"

/* What a trial found. */
struct tr_trial_result {
	double ticks;	  /* additional ticks of a call */
	uint64_t untimed; /* calls that it counted */
	bool is_usable;
	enum tr_trial_kind kind;
};

/* Makes the site's row, before its first trial. False: no room. Busy. */
bool tr_price_prepare(uint32_t site);
/* Into the site's row. Busy. */
void tr_price_add(uint32_t site, const struct tr_trial_result *result);

#endif
