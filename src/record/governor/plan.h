/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plan: how much of each site may be measured so that the total cost stays
 * below a limit. A pure calculation: nothing here is measured.
 */
#ifndef TR_RECORD_GOVERNOR_PLAN_H
#define TR_RECORD_GOVERNOR_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All rates and costs are per second of the process's CPU time. */
struct tr_plan_site {
	uint32_t site;
	bool is_scope;	 /* else the site can only be paused */
	double rate;	 /* calls, if all are counted */
	double cost;	 /* at its present level */
	/* Seconds of a call, timed and counted, if known; 0: the plan's. */
	double scope_s, untimed_s;
	uint8_t level;	 /* enum tr_level, planned */
};

struct tr_plan {
	struct tr_plan_site *site; /* most expensive first */
	size_t n;
	double limit;	/* share */
	double fixed;	/* share of what cannot be changed */
	double scope_s, untimed_s, value_s; /* costs of a call, seconds */
	/* Results: */
	double full;	/* share, if everything were measured */
	double share;	/* share under this plan */
	double on;	/* part of the time that paused sites are on */
	uint32_t level; /* the highest */
	bool is_enough; /* false: only switching all off would do */
};

/* Sorts the sites and chooses their levels. */
void tr_plan_make(struct tr_plan *plan);

#endif
