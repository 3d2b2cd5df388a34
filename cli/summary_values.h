/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a summary says of values and gauges: the ones with the highest mean,
 * and the newest single values.
 */
#ifndef SUMMARY_VALUES_H
#define SUMMARY_VALUES_H

#include <stdbool.h>
#include <stddef.h>

#include <tare/read/view.h>

#include "base/text.h"

/* Borrows rows and records for as long as it is used. */
struct summary_values {
	const tare_stats **rows; /* highest mean first */
	size_t n;
	const tare_record *records; /* oldest first, of every kind */
	size_t n_records;
};

/* False: no memory. The monitor's own series are left out. */
bool summary_values_take(struct summary_values *values,
			 const tare_stats *stats, size_t n);
void summary_values_release(struct summary_values *values);

void summary_values_print(const struct summary_values *values);
void summary_values_json(const struct summary_values *values,
			 struct tr_json *json);

#endif
