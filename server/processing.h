/* SPDX-License-Identifier: Apache-2.0 */
/* Processing: statistics of operations in the words of the REST routes. */
#ifndef SERVER_PROCESSING_H
#define SERVER_PROCESSING_H

#include "chosen.h"

/*
 * Members of an object: all series of `merge` as one, then "operations", one
 * row a series, in the order of their names. For the stream: without pages.
 */
int processing_json(struct tr_json *json, tare_merge *merge);

/* "window": what was asked for, in ms since 1970. */
void window_json(struct tr_json *json, const tare_filter *filter,
		 int64_t now_ns);

#endif
