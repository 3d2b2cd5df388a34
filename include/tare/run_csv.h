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

/* ---- writing ------------------------------------------------------------ */

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

/* ---- reading ------------------------------------------------------------ */

/* What could not be read, and where; 0: not at a line or column. */
typedef struct tare_run_problem {
	uint64_t line, column; /* from 1; the column is that of the table */
	char text[160];
} tare_run_problem;

typedef struct tare_run_table {
	const tare_run_row *rows;
	size_t n_rows;
	uint32_t columns;     /* bit i: column i of TARE_RUN_COLUMNS is there */
	bool is_cut;	      /* the last line was not whole; it is left out */
	bool is_open;	      /* nobody closed it: it was killed, or goes on */
	double total_training_time; /* its comment, or more: of all rows */
} tare_run_table;

typedef struct tare_run_file tare_run_file;

/*
 * Also takes what others make of such a file: any line ends, a byte order
 * mark, quotes, semicolons or tabs, commas as decimal points beside them,
 * other orders of columns, more columns or less (but epoch and total_time).
 * TARE_EFORMAT: ret_problem (may be NULL) tells. Gives the file; free it with
 * tare_run_file_free(). Rows and comments belong to it.
 */
TARE_API TARE_MUST_CHECK int
tare_run_file_open(const char *path, tare_run_file **ret_file,
		   tare_run_problem *ret_problem);
TARE_API TARE_MUST_CHECK int
tare_run_file_parse(const char *text, size_t len, tare_run_file **ret_file,
		    tare_run_problem *ret_problem);
TARE_API void tare_run_file_free(tare_run_file *file);

TARE_API const tare_run_table *tare_run_file_table(const tare_run_file *file);
/* Value of the comment line "# key: value"; NULL: there is none. */
TARE_API const char *tare_run_file_comment(const tare_run_file *file,
					   const char *key);
/* The comment lines in their order; false: there are no more. */
TARE_API bool tare_run_file_comment_at(const tare_run_file *file, size_t index,
				       const char **ret_key,
				       const char **ret_value);

TARE_END
#endif
