/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calls that other copies of the library in this process use, because this
 * copy was first: the probes, and public calls by number.
 */
#include "record/runtime.h"

#include <tare/alloc.h>
#include <tare/monitor.h>

#include "record/train.h"

const struct tr_probe_table tr_probe_own = {
	.magic = TR_PROBE_MAGIC,
	.size = sizeof(struct tr_probe_table),
	.version = TARE_VERSION,
	.ledger = &tr_ledger,
#define TR_PROBE_OWN(probe) .probe = tr_own_##probe,
	TR_PROBES(TR_PROBE_OWN)
#undef TR_PROBE_OWN
};

uint64_t tr_own_ticks(void)
{
	return tr_ledger_ticks();
}

tr_any_call tr_own_api(unsigned which)
{
	static const tr_any_call calls[TR_N_APIS] = {
#define TR_API_CALL(call) (tr_any_call)call,
		TR_APIS(TR_API_CALL)
#undef TR_API_CALL
	};

	return which < TR_N_APIS ? calls[which] : NULL;
}
