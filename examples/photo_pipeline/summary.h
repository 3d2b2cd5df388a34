/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summary: what the service did, for people or for programs.
 *
 * The text also asks tare for times, where it measures: a program may look at
 * its own measurements. The JSON has the program's own counts alone, so that
 * it can be held against the ledger.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdio.h>

#include "service.h"

void summary_text(FILE *out, const struct service_result *result);
void summary_json(FILE *out, const struct service_options *options,
		  const struct service_result *result);

#endif
