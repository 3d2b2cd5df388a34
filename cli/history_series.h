/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Series of the history: rows of a list, and those that measured the same
 * thing on the same machine, in the order of time.
 */
#ifndef CLI_HISTORY_SERIES_H
#define CLI_HISTORY_SERIES_H

#include <stdio.h>

#include <tare/read/changes.h>

#include "base/text.h"
#include "store/store.h"

/* Texts are owned; `series` is an index, once grouped. */
struct history_row {
	struct store_run run;
	char *texts; /* all of the run's, one after the other */
	size_t series;
};

struct history_rows {
	struct history_row *row;
	size_t n, cap;
};

struct history_series {
	size_t *row; /* indices, the oldest first */
	double *value;
	size_t n;
	tare_change *changes;
	size_t n_changes;
};

struct history_list {
	struct history_rows rows;
	struct history_series *series; /* that with the newest run first */
	size_t n_series;
	const char *figure; /* "wall" */
	const char *unit;   /* "ns" */
};

/* A store_row_fn; `arg` is a struct history_rows. 1: out of memory. */
int history_take_row(void *arg, const struct store_run *run);
/* Puts rows into series, and finds their changes. False: out of memory. */
bool history_group(struct history_list *list);
void history_release(struct history_list *list);

/* "12.3 ms" in the list's unit; "-" for NAN. */
struct tr_text history_value(const struct history_list *list, double value);
/* "1a2b3c4d*", the star for changed files; "-": unknown. */
struct tr_text history_revision(const struct store_run *run);

/* ---- outputs ----------------------------------------------------------- */

/* The newest `most` rows as a table; 0: all. */
void history_print_rows(const struct history_list *list, size_t most);
/* A plot, and a table of changes with their revisions. */
void history_print_series(const struct history_list *list,
			  const struct history_series *series);
void history_json(const struct history_list *list, struct store *store,
		  bool with_figures);
/* An SVG picture of a series. 0, or the error of writing. */
int history_svg(const struct history_list *list,
		const struct history_series *series, FILE *stream);

#endif
