/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regions: the parts of a program that are profiled, by samples and by
 * function hooks.
 *
 * One count for all threads of the process: the work of a region may run in
 * any of them. Scopes, counters and values do not depend on it.
 */
#include "record/runtime.h"

#include "record/sampler.h"

/*
 * Guarded by the lock, except the lock itself. Not wiped: a child continues in
 * the same state.
 */
static struct {
	uint32_t lock;
	int32_t starts;	 /* minus stops */
	uint32_t windows; /* of traces that need stacks */
} region;

/* The whole program is profiled while stops do not exceed starts. */
static void apply(void)
{
	bool is_on = region.starts > 0 ||
		     (region.starts == 0 && !tr_config.profile_region);

	tr_calls_pause(!is_on);
	tr_sampler_pause(!(is_on && tr_config.sample) && !region.windows);
}

static void change(int32_t starts, int32_t windows)
{
	int32_t least = tr_config.profile_region ? 0 : INT32_MIN / 2;

	tr_process_lock(&region.lock);
	if (region.starts + starts >= least)
		region.starts += starts;
	region.windows += (uint32_t)windows;
	apply();
	tr_process_unlock(&region.lock);
}

void tr_region_begin(void)
{
	change(0, 0);
}

void tr_region_window(bool is_open)
{
	change(0, is_open ? 1 : -1);
}

TARE_API void tare_profile_start(void)
{
	if (TR_FIRST(tare_profile_start))
		TR_FIRST(tare_profile_start)();
	else if (!tr_probe_forward)
		change(1, 0);
}

TARE_API void tare_profile_stop(void)
{
	if (TR_FIRST(tare_profile_stop))
		TR_FIRST(tare_profile_stop)();
	else if (!tr_probe_forward)
		change(-1, 0);
}
