/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timeline: what happened in each phase, read from tare's view of this run; and
 * the program's own counts as JSON, for comparison.
 */
#ifndef TIMELINE_H
#define TIMELINE_H

#include <stdio.h>

#include "phases.h"

void timeline_text(FILE *out, const struct result *result);
void timeline_json(FILE *out, const struct plan *plan,
		   const struct result *result);

#endif
