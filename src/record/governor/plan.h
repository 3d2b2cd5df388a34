/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plan: how much of each site may be measured so that all of it together
 * stays below a limit. Numbers in, numbers out: nothing here is measured.
 */
#ifndef TR_RECORD_GOVERNOR_PLAN_H
#define TR_RECORD_GOVERNOR_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All rates and costs are of a second of the process's CPU time. */
struct tr_plan_site {
	uint32_t site;
	bool is_scope;	 /* else it can only be paused */
	double rate;	 /* calls, if none is passed over */
	double cost;	 /* what it took, as it is measured now */
	uint8_t level;	 /* enum tr_level, planned */
};

struct tr_plan {
	struct tr_plan_site *site; /* most expensive first */
	size_t n;
	double limit;	/* share */
	double fixed;	/* share of what cannot be changed */
	double scope_s, untimed_s, value_s; /* costs of a call, seconds */
	/* What comes of it: */
	double full;	/* share, were everything measured */
	double share;	/* share under this plan */
	double on;	/* part of the time that paused sites are on */
	uint32_t level; /* the highest */
	bool is_enough; /* false: only off altogether would do */
};

/* Sorts the sites and chooses their levels. */
void tr_plan_make(struct tr_plan *plan);

#endif
