/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls of tare/monitor.h.
 */
#include "record/monitor.h"

static bool is_on(void)
{
	return !tr_probe_forward && tr_ledger_is_open();
}

TARE_API int tare_monitor_enable(uint32_t parts)
{
	if (TR_FIRST(tare_monitor_enable))
		return TR_FIRST(tare_monitor_enable)(parts);
	if (parts & ~(uint32_t)TARE_MONITOR_ALL)
		return TARE_EINVAL;
	if (!is_on())
		return TARE_EOFF;
	tr_parts_switch(parts, 0);
	return tr_parts_wanted() ? tr_monitor_start() : 0;
}

TARE_API int tare_monitor_disable(uint32_t parts)
{
	uint32_t tracked = 0;

	if (TR_FIRST(tare_monitor_disable))
		return TR_FIRST(tare_monitor_disable)(parts);
	if (parts & ~(uint32_t)TARE_MONITOR_ALL)
		return TARE_EINVAL;
	if (!is_on())
		return TARE_EOFF;
	/* Tracking is part of it, too. */
	if (parts & (TARE_MONITOR_SYSTEM | TARE_MONITOR_PROCESS))
		tracked |= TR_TRACK_MEMORY;
	if (parts & TARE_MONITOR_GPU)
		tracked |= TR_TRACK_GPU;
	tr_parts_switch(0, parts | tracked);
	return 0;
}

TARE_API uint32_t tare_monitor_parts(void)
{
	if (TR_FIRST(tare_monitor_parts))
		return TR_FIRST(tare_monitor_parts)();
	return is_on() ? tr_parts_shown() : 0;
}

TARE_API int tare_monitor_sample(void)
{
	if (TR_FIRST(tare_monitor_sample))
		return TR_FIRST(tare_monitor_sample)();
	if (!is_on())
		return TARE_EOFF;
	tr_monitor_run(TARE_MONITOR_ALL);
	return 0;
}
