/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run CSV files, internal: with a chosen name, for the rows of workers.
 */
#ifndef TR_RECORD_TRAIN_RUN_CSV_H
#define TR_RECORD_TRAIN_RUN_CSV_H

#include <tare/run_csv.h>

struct tr_run_csv_name {
	const char *folder, *stem, *config;
	unsigned number; /* 1: plain name; else see tr_append_open() */
	unsigned moved;	 /* new number of the previous file; 0: next free */
};

/* The arguments must be valid. */
int tr_run_csv_open(const struct tr_run_csv_name *name,
		    const char *const *pairs, size_t n_pairs,
		    tare_run_csv **ret_csv);
/* For a caller that has already read the time. */
int tr_run_csv_add(tare_run_csv *csv, const tare_run_row *row, int64_t now_ns);
/* The number in the file's name; 0: there is no file. */
unsigned tr_run_csv_number(const tare_run_csv *csv);
/* The number that the previous file was moved to; 0: none. */
unsigned tr_run_csv_moved(const tare_run_csv *csv);
/* Is it valid as a part of a file name, and of a comment line? */
bool tr_run_csv_is_name(const char *config);

#endif
