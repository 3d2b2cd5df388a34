/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Summary: what the service did, as text or as JSON.
 *
 * The text also shows times from tare if it measures: a program can read its
 * own measurements. The JSON has only the program's own counts, so that it can
 * be compared with the ledger.
 */
#ifndef SUMMARY_H
#define SUMMARY_H

#include <stdio.h>

#include "service.h"

void summary_text(FILE *out, const struct service_result *result);
void summary_json(FILE *out, const struct service_options *options,
		  const struct service_result *result);

#endif
