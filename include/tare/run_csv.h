/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run CSV: one file per training run, one row per epoch. The format is the same
 * for one process and for many, so that all runs can be compared.
 *
 *	tare_run_csv *csv;
 *
 *	tare_run_csv_open("results", "mpi_4", pairs, n_pairs, &csv);
 *	tare_run_csv_add(csv, &row);			each epoch
 *	tare_run_csv_close(csv);
 *
 * writes results/mpi_4_metrics.csv. The newest run has this name: an older file
 * is renamed to mpi_4_metrics_2.csv, _3, and so on. No file is replaced, and a
 * run that is still being written keeps its name. The format is in
 * docs/formats/run_csv.md. Works whether measuring is on or not. One thread at
 * a time for each object.
 */
#ifndef TARE_RUN_CSV_H
#define TARE_RUN_CSV_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

/* The columns in order: X(name). `epoch`, before them, is an integer. */
#define TARE_RUN_COLUMNS(X) \
	X(total_time) X(forward_time) X(backward_time) X(comm_time) \
	X(update_time) X(loss) X(train_acc) X(val_f1) X(test_f1) \
	X(peak_memory_mb)

/*
 * Times are seconds, of the slowest worker if there are several; comm_time is 0
 * for one worker. Memory is in MB of 2^20 bytes, of the largest worker. NAN:
 * not known. Like the format, the struct does not change.
 */
typedef struct tare_run_row {
	uint64_t epoch;
#define TARE_RUN_FIELD_(name) double name;
	TARE_RUN_COLUMNS(TARE_RUN_FIELD_)
#undef TARE_RUN_FIELD_
} tare_run_row;

typedef struct tare_run_csv tare_run_csv;

/*
 * Creates a file in `folder`, and the folder if needed. `pairs`: n_pairs keys,
 * each followed by its value, for the comment lines; configuration, host, date
 * and version are always written. TARE_EINVAL: `config` is not a file name.
 */
TARE_API TARE_MUST_CHECK int
tare_run_csv_open(const char *folder, const char *config,
		  const char *const *pairs, size_t n_pairs,
		  tare_run_csv **ret_csv);

/*
 * When this returns 0, the row is in the file and survives any kill. On an
 * error (a full disk) up to 1 MiB of rows is kept and written with a later row;
 * the file never has half a row.
 */
TARE_API int tare_run_csv_add(tare_run_csv *csv, const tare_run_row *row);

/* The file's path; belongs to `csv`. */
TARE_API const char *tare_run_csv_path(const tare_run_csv *csv);

/* Returns 0 if everything is in the file. */
TARE_API int tare_run_csv_close(tare_run_csv *csv);

TARE_END

#endif
