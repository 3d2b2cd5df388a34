/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public calls that another copy of the library in this process asks
 * this one for, since this one was there first.
 */
#include "record/runtime.h"

#include <tare/alloc.h>
#include <tare/monitor.h>
#include <tare/step.h>

#include "record/train.h"

static const tr_any_call calls[TR_APIS] = {
	[TR_API_STOP] = (tr_any_call)tare_stop,
	[TR_API_ENABLE] = (tr_any_call)tare_enable,
	[TR_API_OPTION_SET] = (tr_any_call)tare_option_set,
	[TR_API_OPTION_GET] = (tr_any_call)tare_option_get,
	[TR_API_LOG_SET] = (tr_any_call)tare_log_set,
	[TR_API_MONITOR_ENABLE] = (tr_any_call)tare_monitor_enable,
	[TR_API_MONITOR_DISABLE] = (tr_any_call)tare_monitor_disable,
	[TR_API_MONITOR_PARTS] = (tr_any_call)tare_monitor_parts,
	[TR_API_MONITOR_SAMPLE] = (tr_any_call)tare_monitor_sample,
	[TR_API_MONITOR_COST] = (tr_any_call)tare_monitor_cost_ns,
	[TR_API_TRACE_SCHEDULE] = (tr_any_call)tare_trace_schedule,
	[TR_API_ALLOC_SNAPSHOT] = (tr_any_call)tare_alloc_snapshot,
	[TR_API_ALLOC_CURRENT] = (tr_any_call)tare_alloc_current,
	[TR_API_ALLOC_TAG] = (tr_any_call)tare_alloc_tag,
	[TR_API_ALLOC_NOTE] = (tr_any_call)tare_alloc_note,
	[TR_API_FREE_NOTE] = (tr_any_call)tare_free_note,
	[TR_API_EPOCH_STORE_OPEN] = (tr_any_call)tr_epoch_store_open,
	[TR_API_EPOCH_STORE_ADD] = (tr_any_call)tr_epoch_store_add,
	[TR_API_EPOCH_STORE_CLOSE] = (tr_any_call)tr_epoch_store_close,
	[TR_API_EPOCH_STORE_PHASES] = (tr_any_call)tr_epoch_store_phases,
	[TR_API_PROFILE_START] = (tr_any_call)tare_profile_start,
	[TR_API_PROFILE_STOP] = (tr_any_call)tare_profile_stop,
};

tr_any_call tr_probe_api(unsigned which)
{
	return which < TR_APIS ? calls[which] : NULL;
}
