/* SPDX-License-Identifier: Apache-2.0 */
/* Summary: the totals and rankings of `tare summary`. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include <tare/read/view.h>

#define SUMMARY_RECENT 5u /* of records, and of values by mean */

/* Borrows rows and records of the view. */
struct summary {
	tare_view *view;
	const tare_run *run;
	const char *sort;
	const tare_stats **rows; /* scopes alone, in the order of `sort` */
	size_t n, n_shown;
	const tare_stats **values; /* and gauges, highest mean first */
	size_t n_values;
	uint64_t calls, failures;
	double total_ns;
	const tare_record *records; /* oldest first, of every kind */
	size_t n_records;
};

double summary_success(const struct summary *s);
/* The number of values shown. */
size_t summary_values(const struct summary *s);

/* Which records: for summary_next(). */
bool summary_is_operation(const tare_record *record);
bool summary_is_failure(const tare_record *record);
bool summary_is_value(const tare_record *record);
/*
 * Iterates over the last SUMMARY_RECENT records for which `is_wanted` is true:
 * returns the one after `record`, or the first for NULL; NULL: no more.
 */
const tare_record *summary_next(const struct summary *s,
				bool (*is_wanted)(const tare_record *record),
				const tare_record *record);

/* As text. */
void summary_print(const struct summary *s);

#endif
