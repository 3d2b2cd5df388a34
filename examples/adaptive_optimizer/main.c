/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adaptive optimizer: a pool of workers that reads tare's view of the machine
 * and adapts its threads and its batches; and shows it, by making the load it
 * reacts to.
 *
 *	tare run -- ./adaptive_optimizer
 *	tare top			from a second terminal, meanwhile
 *	tare records last --name adapt	what it saw and what it chose
 *
 * phases.h is the run, controller.h the decisions, pool.c the pipeline.
 */
#include <stdio.h>

#include <tare/monitor.h>
#include <tare/tare.h>

#include "options.h"
#include "phases.h"
#include "timeline.h"

/* Adds the machine's series to ours. Has no effect while tare is off. */
static void watch(const struct plan *plan)
{
	char interval[32];

	(void)snprintf(interval, sizeof(interval), "%.3f", plan->interval_s);
	if (tare_option_set("monitor_interval", interval))
		fputs("monitor_interval is as configured\n", stderr);
	(void)tare_monitor_enable(TARE_MONITOR_SYSTEM | TARE_MONITOR_PROCESS |
				  TARE_MONITOR_GPU);
}

int main(int argc, char **argv)
{
	struct options options;
	struct result result;
	const char *fault;

	if (options_parse(argc, argv, &options) != 0) {
		fputs(options_help, stderr);
		return 2;
	}
	if (options.is_help) {
		fputs(options_help, stdout);
		return 0;
	}
	watch(&options.plan);
	fault = phases_run(&options.plan, &result);
	if (fault) {
		fprintf(stderr, "adaptive_optimizer: %s\n", fault);
		return 1;
	}
	if (options.is_json)
		timeline_json(stdout, &options.plan, &result);
	else
		timeline_text(stdout, &result);
	return ferror(stdout) || fflush(stdout) != 0;
}
