/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Photo pipeline: a photo service with several threads, measured by tare.
 *
 *	tare run -- ./photo_pipeline --seconds 3
 *	tare top			from a second terminal, meanwhile
 *	tare records last --failed	which photos failed, and why
 *
 * service.h describes the design; most probes are in worker.c.
 */
#include <stdio.h>

#include "options.h"
#include "service.h"
#include "summary.h"

int main(int argc, char **argv)
{
	struct options options;
	struct service_result result;
	struct fault fault;

	if (options_parse(argc, argv, &options, &fault) != 0) {
		fprintf(stderr, "photo_pipeline: %s\n%s", fault.text,
			options_help);
		return 2;
	}
	if (options.is_help) {
		fputs(options_help, stdout);
		return 0;
	}
	if (service_run(&options.service, &result, &fault) != 0) {
		fprintf(stderr, "photo_pipeline: %s\n", fault.text);
		return 1;
	}
	if (options.is_json)
		summary_json(stdout, &options.service, &result);
	else
		summary_text(stdout, &result);
	return ferror(stdout) || fflush(stdout) != 0;
}
