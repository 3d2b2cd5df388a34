/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Difference: what changed between two sets of runs, as tables: functions,
 * allocations, and the program's own series. Used by `tare bench`, `tare
 * compare` and `tare check`.
 */
#ifndef CLI_DIFFERENCE_H
#define CLI_DIFFERENCE_H

#include <stdio.h>

#include "base/text.h"
#include "read/judge.h"

struct difference {
	struct tr_explanation functions, waits, allocs;
	struct tr_series_changes series;
	bool has_functions, has_waits, has_allocs;
	double runs[2];
};

/*
 * Of sampled runs: functions by CPU time, or, in runs that were sampled by
 * wall time, also what waited; of runs with tracked allocations these. What
 * one side lacks is left out. 0 or an error; release in any case.
 */
int difference_find(struct difference *d, const struct tr_side *old,
		    const struct tr_side *now);
void difference_release(struct difference *d);

/* Nothing to show? */
bool difference_is_empty(const struct difference *d);
void difference_print(const struct difference *d);
void difference_json(const struct difference *d, struct tr_json *json);
/* A name in a cell of a table. */
void markdown_code(FILE *stream, const char *text);
void difference_markdown(const struct difference *d, FILE *stream);

#endif
