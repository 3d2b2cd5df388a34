/* SPDX-License-Identifier: Apache-2.0 */
#include "scope.h"

#include <math.h>
#include <stdio.h>

/* No report: the end of a process is not measured. */
/* No trials: in a short sample they would be all there is. */
#define ON "TARE=on", "TARE_COST_TRIALS=0"
#define STANDBY "TARE=standby"
#define TRACE "TARE_TRACE=1"

/* The default of max_sites may be too low for random2048. */
#define SITES "TARE_MAX_SITES=8192"

const struct bench_part bench_parts[] = {
	{ "aggregate", scope_aggregate_part, { ON, SITES } },
	{ "trace", scope_trace_part, { ON, TRACE, SITES } },
	{ "off", scope_off_part, { NULL } },
	{ "standby", scope_standby_part, { STANDBY } },
	{ "compiled_out", scope_compiled_out_part, { NULL } },
	{ "two_threads", scope_two_threads_part, { ON } },
	{ "reader_attached", scope_reader_part, { ON } },
	{ "p9999", scope_latency_part, { ON, SITES } },
	{ "first_event", scope_first_event_part, { ON } },
	{ NULL, NULL, { NULL } },
};

tare_site *scope_sites[SCOPE_SITES];

void scope_sites_make(size_t n)
{
	char name[32];

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(name, sizeof(name), "bench.random.%zu", i);
		scope_sites[i] = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					       name, NULL, NULL);
		tare_scope_end(tare_scope_begin(scope_sites[i]));
	}
}

void scope_one(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_SCOPE("bench.one");
		BENCH_OPAQUE(i);
	}
}
