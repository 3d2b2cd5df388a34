/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run CSV: one file a training run, a row an epoch, the same for one process
 * and for many, so that any number of them can be compared.
 *
 *	tare_run_csv *csv;
 *
 *	tare_run_csv_open("results", "mpi_4", pairs, n_pairs, &csv);
 *	tare_run_csv_add(csv, &row);			each epoch
 *	tare_run_csv_close(csv);
 *
 * writes results/mpi_4_metrics.csv. The newest run has this name: one that
 * has it is moved to mpi_4_metrics_2.csv, _3, and so on; nothing is replaced,
 * and a run that is still being written keeps its name.
 * docs/formats/run_csv.md has the format. Works whether measuring is on or
 * not. One thread at a time for each object.
 */
#ifndef TARE_RUN_CSV_H
#define TARE_RUN_CSV_H

#include <tare/api.h>
#include <tare/error.h>

TARE_BEGIN

/* Columns in their order: X(name). `epoch` is a whole number. */
#define TARE_RUN_COLUMNS(X) \
	X(total_time) X(forward_time) X(backward_time) X(comm_time) \
	X(update_time) X(loss) X(train_acc) X(val_f1) X(test_f1) \
	X(peak_memory_mb)

/*
 * Times are seconds, of several workers the slowest one's; comm_time is 0 for
 * one. Memory is in MB of 2^20 bytes, the largest worker's. NAN: not known.
 * As the format, the struct does not change.
 */
typedef struct tare_run_row {
	uint64_t epoch;
#define TARE_RUN_FIELD_(name) double name;
	TARE_RUN_COLUMNS(TARE_RUN_FIELD_)
#undef TARE_RUN_FIELD_
} tare_run_row;

typedef struct tare_run_csv tare_run_csv;

/*
 * Begins a file in `folder`, which is made if needed. `pairs`: n_pairs keys,
 * each followed by its value, for the comment lines; configuration, host,
 * date and version are there anyway. TARE_EINVAL: `config` is no file name.
 */
TARE_API TARE_MUST_CHECK int
tare_run_csv_open(const char *folder, const char *config,
		  const char *const *pairs, size_t n_pairs,
		  tare_run_csv **ret_csv);

/*
 * The row is in the file when this returns 0: no kill takes it away. On an
 * error (a full disk) rows are kept, up to 1 MiB, and written with the next
 * one that can be; the file never has half a row.
 */
TARE_API int tare_run_csv_add(tare_run_csv *csv, const tare_run_row *row);

/* The file's path; belongs to `csv`. */
TARE_API const char *tare_run_csv_path(const tare_run_csv *csv);

/* 0: everything is in the file. */
TARE_API int tare_run_csv_close(tare_run_csv *csv);

TARE_END

#endif
