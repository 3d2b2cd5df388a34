/* SPDX-License-Identifier: Apache-2.0 */
/* Summary: what `tare summary` has added up and ranked. */
#ifndef CLI_SUMMARY_H
#define CLI_SUMMARY_H

#include <tare/read/view.h>

#define SUMMARY_RECENT 5u /* of records; of values with the highest mean */

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
/* How many of the values are shown. */
size_t summary_values(const struct summary *s);

/* Which records: for summary_next(). */
bool summary_is_operation(const tare_record *record);
bool summary_is_failure(const tare_record *record);
bool summary_is_value(const tare_record *record);
/*
 * The last SUMMARY_RECENT records that `is_wanted` lets through, one after
 * the other: the next behind `record`, or the first for NULL; NULL: no more.
 */
const tare_record *summary_next(const struct summary *s,
				bool (*is_wanted)(const tare_record *record),
				const tare_record *record);

/* For people. */
void summary_print(const struct summary *s);

#endif
