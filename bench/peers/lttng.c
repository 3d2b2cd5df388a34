/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of `scope` / `aggregate` with LTTng-UST: a scope is a tracepoint at
 * its begin and one at its end, each with a 32-bit number, as its users write
 * spans. The session that `run` opens decides whether they are on.
 */
#define LTTNG_UST_TRACEPOINT_DEFINE
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#include "lttng_provider.h"

#include "../bench.h"

static void scopes(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		lttng_ust_tracepoint(tare_peer, begin, (uint32_t)i);
		BENCH_OPAQUE(i);
		lttng_ust_tracepoint(tare_peer, end, (uint32_t)i);
	}
}

/*
 * Short: events that do not fit into the sub-buffers are discarded, which is
 * cheaper than storing them. `run` prints their number.
 */
static void part(const char *name)
{
	struct bench_case cases[] = {
		{ "pair", bench_pair, 0, 0 },
		{ "empty", bench_empty, 0, 0 },
		{ "scopes", scopes, 500, 0 },
	};

	bench_run(cases, 3, 150);
	bench_report(name, cases[2].best_ns, "ns",
		     cases[2].best_ns / cases[0].best_ns, BENCH_PAIR);
}

static void on_part(void)
{
	part("lttng_ust");
}

static void off_part(void)
{
	part("lttng_ust_off");
}

const struct bench_part bench_parts[] = {
	{ "on", on_part, { NULL } },
	{ "off", off_part, { NULL } },
	{ NULL, NULL, { NULL } },
};
