/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The public calls that another copy of the library in this process asks
 * this one for, since this one was there first.
 */
#include "runtime/runtime.h"

#include <tare/alloc.h>
#include <tare/monitor.h>
#include <tare/step.h>

#include "train/train.h"

typedef void (*any_call)(void);

static const any_call calls[TR_APIS] = {
	[TR_API_STOP] = (any_call)tare_stop,
	[TR_API_ENABLE] = (any_call)tare_enable,
	[TR_API_OPTION_SET] = (any_call)tare_option_set,
	[TR_API_OPTION_GET] = (any_call)tare_option_get,
	[TR_API_LOG_SET] = (any_call)tare_log_set,
	[TR_API_MONITOR_ENABLE] = (any_call)tare_monitor_enable,
	[TR_API_MONITOR_DISABLE] = (any_call)tare_monitor_disable,
	[TR_API_MONITOR_PARTS] = (any_call)tare_monitor_parts,
	[TR_API_MONITOR_SAMPLE] = (any_call)tare_monitor_sample,
	[TR_API_MONITOR_COST] = (any_call)tare_monitor_cost_ns,
	[TR_API_TRACE_SCHEDULE] = (any_call)tare_trace_schedule,
	[TR_API_ALLOC_SNAPSHOT] = (any_call)tare_alloc_snapshot,
	[TR_API_ALLOC_CURRENT] = (any_call)tare_alloc_current,
	[TR_API_ALLOC_TAG] = (any_call)tare_alloc_tag,
	[TR_API_ALLOC_NOTE] = (any_call)tare_alloc_note,
	[TR_API_FREE_NOTE] = (any_call)tare_free_note,
	[TR_API_BOOK_OPEN] = (any_call)tr_book_open,
	[TR_API_BOOK_ADD] = (any_call)tr_book_add,
	[TR_API_BOOK_CLOSE] = (any_call)tr_book_close,
	[TR_API_BOOK_PHASES] = (any_call)tr_book_phases,
	[TR_API_PROFILE_START] = (any_call)tare_profile_start,
	[TR_API_PROFILE_STOP] = (any_call)tare_profile_stop,
};

void (*tr_probe_api(enum tr_api which))(void)
{
	return (unsigned)which < TR_APIS ? calls[which] : NULL;
}
