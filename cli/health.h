/* SPDX-License-Identifier: Apache-2.0 */
/* Health: the counters of a view, each with its name and its weight. */
#ifndef CLI_HEALTH_H
#define CLI_HEALTH_H

#include <stdio.h>

#include <tare/read/view.h>

#include "base/text.h"

/* Every counter as name and value; those that tell of a loss are coloured. */
void health_print(const tare_health *health, FILE *stream, bool color);
void health_json(struct tr_json *json, const char *key,
		 const tare_health *health);

#endif
