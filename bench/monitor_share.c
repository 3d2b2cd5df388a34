/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the monitor costs with everything on, once a second, as a share of one
 * core: CPU time of its thread divided by elapsed time. The first reading,
 * which finds files and registers series, is not included.
 */
#include <stdlib.h>
#include <time.h>

#include <tare/tare.h>

#include "bench.h"
#include "monitor.h"

#define SECONDS 10

static void sleep_s(time_t seconds)
{
	struct timespec left = { .tv_sec = seconds };

	while (nanosleep(&left, &left))
		;
}

static double now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void monitor_share_part(void)
{
	double from, cost, share;

	if (tare_monitor_parts() != TARE_MONITOR_ALL)
		bench_fail("share_1hz", "the monitor is off");
	sleep_s(2);
	from = now_ns();
	cost = (double)tare_monitor_cost_ns();
	sleep_s(SECONDS);
	cost = (double)tare_monitor_cost_ns() - cost;
	share = 100 * cost / (now_ns() - from);
	/* A cost of 0 means that nothing was read. */
	if (!(cost > 0))
		bench_fail("share_1hz", "nothing was read");
	bench_report("share_1hz", share, "%", share / 0.1, "0.1 % of a core");
}
