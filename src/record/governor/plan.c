/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plan: reduces the most expensive sites most, and drops first what costs most
 * and matters least: the times of most calls, then all times, finally the
 * counts during a part of the time. Levels are coarse, so that a varying load
 * does not change the plan constantly.
 */
#include "record/governor/plan.h"

#include "ledger/write.h"

static const uint8_t steps[] = { 3, 6, 10 };

/* On for less of the time is not a useful measurement. */
#define LEAST_ON (1.0 / 256)
#define MINOR 0.02 /* of the limit */

static double cost_of(const struct tr_plan *plan, const struct tr_plan_site *s,
		      uint32_t level)
{
	bool is_known = s->scope_s > 0;
	double scope_s = is_known ? s->scope_s : plan->scope_s;
	double untimed_s = is_known ? s->untimed_s : plan->untimed_s;
	double timed = 0;

	if (!s->is_scope)
		return s->rate * plan->value_s;
	if (!level)
		return s->rate * scope_s;
	if (level != TR_LEVEL_COUNTED)
		timed = 1.0 / (double)(1u << level);
	/* A call that is timed by chance first looks like a counted one. */
	return s->rate * (timed * scope_s + untimed_s);
}

/* Insertion sort: a few dozen sites, almost in the order of last time. */
static void sort(struct tr_plan *plan)
{
	for (size_t i = 1; i < plan->n; i++) {
		struct tr_plan_site one = plan->site[i];
		double cost = cost_of(plan, &one, 0);
		size_t at = i;

		for (; at > 0 && cost_of(plan, &plan->site[at - 1], 0) < cost;
		     at--)
			plan->site[at] = plan->site[at - 1];
		plan->site[at] = one;
	}
}

static double sum_of(const struct tr_plan *plan)
{
	double sum = plan->fixed;

	for (size_t i = 0; i < plan->n; i++) {
		const struct tr_plan_site *s = &plan->site[i];
		double on = s->level & TR_LEVEL_PAUSED ? plan->on : 1;

		sum += on * cost_of(plan, s, s->level & TR_LEVEL_COUNTED);
	}
	return sum;
}

/* Is the site too cheap to gain anything? */
static bool is_minor(const struct tr_plan *plan, const struct tr_plan_site *s)
{
	return cost_of(plan, s, s->level) < plan->limit * MINOR;
}

/* True: the plan is sufficient. */
static bool take(struct tr_plan *plan, struct tr_plan_site *s, uint8_t level)
{
	if (plan->share <= plan->limit)
		return true;
	if (s->is_scope && !is_minor(plan, s)) {
		s->level = level;
		plan->share = sum_of(plan);
	}
	return false;
}

/* Removes times of most calls, most expensive site first; then all times. */
static void take_times(struct tr_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		for (size_t k = 0; k < sizeof(steps); k++)
			if (take(plan, &plan->site[i], steps[k]))
				return;
	for (size_t i = 0; i < plan->n; i++)
		if (take(plan, &plan->site[i], TR_LEVEL_COUNTED))
			return;
}

/* Pauses as few sites as possible, all for the same part of the time. */
static void take_counts(struct tr_plan *plan)
{
	double paused = 0;

	for (size_t i = 0; i < plan->n && plan->share > plan->limit; i++) {
		struct tr_plan_site *s = &plan->site[i];
		double rest;

		if (is_minor(plan, s))
			continue;
		paused += cost_of(plan, s, s->level);
		s->level |= TR_LEVEL_PAUSED;
		plan->on = 0;
		rest = sum_of(plan);
		plan->on = (plan->limit - rest) / paused;
		if (plan->on > 0.5)
			plan->on = 0.5;
		if (plan->on < LEAST_ON)
			plan->on = LEAST_ON;
		plan->share = sum_of(plan);
	}
}

void tr_plan_make(struct tr_plan *plan)
{
	sort(plan);
	for (size_t i = 0; i < plan->n; i++)
		plan->site[i].level = TR_LEVEL_FULL;
	plan->on = 1;
	plan->full = plan->share = sum_of(plan);
	take_times(plan);
	take_counts(plan);
	plan->is_enough = plan->share <= plan->limit * (1 + 1e-9);
	plan->level = 0;
	for (size_t i = 0; i < plan->n; i++)
		if (plan->site[i].level > plan->level)
			plan->level = plan->site[i].level;
}
