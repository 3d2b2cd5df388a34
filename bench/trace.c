/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How fast a timeline is written, and what scheduled traces cost the program: a
 * million scopes as a Chrome trace, including opening the run, and the step
 * that ends a turn compared with an ordinary one.
 */
#include <math.h>
#include <unistd.h>

#include <tare/read/export.h>
#include <tare/step.h>
#include <tare/tare.h>

#include "bench.h"

#define N_EVENTS 1000000u
#define N_ROUNDS 5u

static int count(void *arg, const char *text, size_t len)
{
	uint64_t *bytes = arg;

	BENCH_OPAQUE(text);
	*bytes += len;
	return 0;
}

static size_t make_events(void)
{
	size_t n = bench_is_quick() ? N_EVENTS / 10 : N_EVENTS;

	for (size_t i = 0; i < n / 4; i++) {
		TARE_SCOPE("batch");
		for (int k = 0; k < 3; k++) {
			TARE_SCOPE("layer.forward");
		}
	}
	return n / 4 * 4;
}

static void write_part(void)
{
	tare_export_options how = { .struct_size = sizeof(how),
				    .format = TARE_FORMAT_CHROME };
	size_t n = make_events(), there;
	double best = HUGE_VAL, all = HUGE_VAL;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < N_ROUNDS; i++) {
		uint64_t opened = bench_ns(), from;
		const tare_event *events;
		tare_view *view;
		double ns;

		if (tare_view_open("self", &view) ||
		    tare_view_events(view, &events, &there) || there != n)
			bench_fail("trace", "events are missing");
		from = bench_ns();
		bytes = 0;
		if (tare_export(&view, 1, &how, count, &bytes))
			bench_fail("trace", "an export failed");
		ns = (double)(bench_ns() - from);
		best = ns < best ? ns : best;
		ns = (double)(bench_ns() - opened);
		all = ns < all ? ns : all;
		tare_view_close(view);
	}
	bench_report("chrome", (double)bytes / best * 1e3, "MB/s", NAN, NULL);
	bench_report("chrome_event", best / (double)n, "ns", NAN, NULL);
	bench_report("chrome_from_open", all / (double)n, "ns", NAN, NULL);
}

/* ---- scheduled traces -------------------------------------------------- */

#define STEPS 200u
#define EVERY 10u

static void step(void)
{
	for (int i = 0; i < 1000; i++) {
		TARE_SCOPE("layer");
	}
}

/* Minimum time of a TARE_STEP call, for calls that end a turn and others. */
static void scheduled_part(void)
{
	double turn = HUGE_VAL, plain = HUGE_VAL;

	for (unsigned i = 1; i <= STEPS; i++) {
		uint64_t from;
		double ns;

		step();
		from = bench_ns();
		TARE_STEP();
		ns = (double)(bench_ns() - from);
		if (i % EVERY == 0 && i > EVERY)
			turn = ns < turn ? ns : turn;
		else if (i % EVERY)
			plain = ns < plain ? ns : plain;
		/* Time to write the file, else the next has no room. */
		if (i % EVERY == 0)
			(void)usleep(20000);
	}
	bench_report("step_plain", plain, "ns", NAN, NULL);
	bench_report("step_that_ends_a_turn", turn, "ns", turn / plain,
		     "step_plain");
}

const struct bench_part bench_parts[] = {
	{ "write",
	  write_part,
	  { "TARE=on", "TARE_TRACE=true", "TARE_TRACE_EVENTS=1048576",
	    "TARE_LEDGER_LIMIT=1G", "TARE_AUTO_DISABLE_ON_SLOW=false" } },
	{ "scheduled",
	  scheduled_part,
	  { "TARE_ENABLE_PROFILER=true", "TARE_PROFILER_EXPORT_INTERVAL=10",
	    "TARE_PROFILER_TRACE_DIR=/tmp/tare-bench-traces",
	    "TARE_PROFILER_KEEP=1" } },
	{ NULL, NULL, { NULL } },
};
