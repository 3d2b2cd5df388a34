/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run CSV files inside: with a name of one's own, for the rows of workers.
 */
#ifndef TR_RECORD_TRAIN_RUN_CSV_H
#define TR_RECORD_TRAIN_RUN_CSV_H

#include <tare/run_csv.h>

struct tr_run_csv_name {
	const char *folder, *stem, *config;
	unsigned number; /* 1: the newest's name; else see tr_append_open() */
	unsigned moved;	 /* where the one before goes; 0: the next free */
};

/* Arguments are right. */
int tr_run_csv_open(const struct tr_run_csv_name *name,
		    const char *const *pairs, size_t n_pairs,
		    tare_run_csv **ret_csv);
/* For a caller that has read the time already. */
int tr_run_csv_add(tare_run_csv *csv, const tare_run_row *row, int64_t now_ns);
/* That its name has got; 0: there is no file. */
unsigned tr_run_csv_number(const tare_run_csv *csv);
/* That the one before has got; 0: there was none. */
unsigned tr_run_csv_moved(const tare_run_csv *csv);
/* A part of a file's name, and of a comment line. */
bool tr_run_csv_is_name(const char *config);

#endif
