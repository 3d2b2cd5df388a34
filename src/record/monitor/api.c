/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of tare/monitor.h.
 */
#include "record/monitor.h"

static bool is_on(void)
{
	return tr_ledger && TR_ACQUIRE(tr_ledger->ready) && tr_ledger->base;
}

static bool is_reading(const struct tr_job *job)
{
	return job == &tr_job_system || job == &tr_job_process ||
	       job == &tr_job_gpu;
}

TARE_API int tare_monitor_enable(uint32_t parts)
{
	__typeof__(&tare_monitor_enable) first = TR_FIRST(
		tare_monitor_enable, TR_API_MONITOR_ENABLE);

	if (first)
		return first(parts);
	if (parts & ~(uint32_t)TARE_MONITOR_ALL)
		return TARE_EINVAL;
	if (!is_on() || tr_probe_forward)
		return TARE_EOFF;
	tr_parts_switch(parts, 0);
	return tr_parts_wanted() ? tr_monitor_start() : 0;
}

TARE_API int tare_monitor_disable(uint32_t parts)
{
	__typeof__(&tare_monitor_disable) first = TR_FIRST(
		tare_monitor_disable, TR_API_MONITOR_DISABLE);
	uint32_t tracked = 0;

	if (first)
		return first(parts);
	if (parts & ~(uint32_t)TARE_MONITOR_ALL)
		return TARE_EINVAL;
	if (!is_on() || tr_probe_forward)
		return TARE_EOFF;
	/* What is tracked is a part of it, too. */
	if (parts & (TARE_MONITOR_SYSTEM | TARE_MONITOR_PROCESS))
		tracked |= TR_TRACK_MEMORY;
	if (parts & TARE_MONITOR_GPU)
		tracked |= TR_TRACK_GPU;
	tr_parts_switch(0, parts | tracked);
	return 0;
}

TARE_API uint32_t tare_monitor_parts(void)
{
	__typeof__(&tare_monitor_parts) first = TR_FIRST(
		tare_monitor_parts, TR_API_MONITOR_PARTS);

	if (first)
		return first();
	return is_on() && !tr_probe_forward ? tr_parts_shown() : 0;
}

TARE_API int tare_monitor_sample(void)
{
	__typeof__(&tare_monitor_sample) first = TR_FIRST(
		tare_monitor_sample, TR_API_MONITOR_SAMPLE);

	if (first)
		return first();
	if (!is_on() || tr_probe_forward)
		return TARE_EOFF;
	tr_monitor_run(is_reading);
	return 0;
}
