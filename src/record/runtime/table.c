/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The probes of this copy, for other copies of the library in the process.
 */
#include "record/runtime.h"

#include "record/step.h"

/* What another copy of the library in this process calls. */
const struct tr_probe_table tr_probe_own = {
	.magic = TR_PROBE_MAGIC,
	.size = sizeof(struct tr_probe_table),
	.version = TARE_VERSION,
	.ledger = &tr_ledger,
	.scope_begin = tr_own_scope_begin,
	.scope_end = tr_own_scope_end,
	.scope_end_exact = tr_own_scope_end_exact,
	.counter_add = tr_own_counter_add,
	.value_observe = tr_own_value_observe,
	.gauge_set = tr_own_gauge_set,
	.gauge_add = tr_own_gauge_add,
	.ratio_add = tr_own_ratio_add,
	.duration = tr_own_duration_record,
	.site_get = tr_own_site_get,
	.site_labels = tr_own_site_labels,
	.note = tr_probe_note,
	.items = tr_probe_add_items,
	.fiber = tr_probe_fiber,
	.record_memory = tr_own_record_memory,
	.record_gpu = tr_own_record_gpu,
	.step = tr_probe_step,
	.leaks = tr_probe_leaks,
	.start = tr_probe_start,
	.step_named = tr_probe_step_named,
	.site_flagged = tr_site_flagged,
	.ticks = tr_ledger_ticks,
	.overlap = tr_probe_overlap,
	.api = tr_probe_api,
	.step_epoch = tr_probe_step_epoch,
	.counter_add_double = tr_own_counter_add_double,
	.duration_with = tr_own_duration_record_with,
};
