/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/probe.h"

/* What another copy of the library in this process calls. */
const struct tr_probe_table tr_probe_own = {
	.magic = TR_PROBE_MAGIC,
	.size = sizeof(struct tr_probe_table),
	.scope_begin = tare_scope_begin_,
	.scope_end = tare_scope_end_,
	.scope_end_exact = tare_scope_end_exact_,
	.counter_add = tare_counter_add_,
	.value_observe = tare_value_observe_,
	.gauge_set = tare_gauge_set_,
	.gauge_add = tare_gauge_add_,
	.ratio_add = tare_ratio_add_,
	.duration = tare_duration_record_,
	.site_get = tare_site_get,
	.site_labels = tare_site_labels,
	.note = tr_probe_note,
	.items = tr_probe_add_items,
	.fiber = tr_probe_fiber,
};
