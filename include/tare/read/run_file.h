/* SPDX-License-Identifier: Apache-2.0 */
/* Run files: read the CSV files of training programs, see <tare/run_csv.h>. */
#ifndef TARE_READ_RUN_FILE_H
#define TARE_READ_RUN_FILE_H

#include <tare/run_csv.h>

TARE_BEGIN

/* What could not be read, and where. 0: no specific line or column. */
typedef struct tare_run_problem {
	uint64_t line, column; /* from 1; column of the table */
	char text[160];
} tare_run_problem;

typedef struct tare_run_table {
	const tare_run_row *rows;
	size_t n_rows;
	uint32_t columns;     /* bit i: has column i of TARE_RUN_COLUMNS */
	bool is_cut;	      /* the last line is incomplete and left out */
	bool is_open;	      /* not closed: killed, or still running */
	double total_training_time; /* from its comment, or the sum of all rows
				     * if that is more */
} tare_run_table;

typedef struct tare_run_file tare_run_file;

/*
 * Also accepts changes by other programs: any line ends, a byte order mark,
 * quotes, semicolons or tabs, decimal commas beside those, another order of
 * columns, more or fewer columns (epoch and total_time are required).
 * TARE_EFORMAT: ret_problem (may be NULL) says why. Gives the file; free it
 * with tare_run_file_close(). Rows and comments belong to it.
 */
TARE_API TARE_MUST_CHECK int
tare_run_file_open(const char *path, tare_run_file **ret_file,
		   tare_run_problem *ret_problem);
TARE_API TARE_MUST_CHECK int
tare_run_file_parse(const char *text, size_t len, tare_run_file **ret_file,
		    tare_run_problem *ret_problem);
TARE_API void tare_run_file_close(tare_run_file *file);
/* Its old name, for one release. */
#define tare_run_file_free tare_run_file_close

TARE_API const tare_run_table *tare_run_file_table(const tare_run_file *file);
/* Value of the comment line "# key: value"; NULL: there is none. */
TARE_API const char *tare_run_file_comment(const tare_run_file *file,
					   const char *key);
/* The comment lines in order; false: no more. */
TARE_API bool tare_run_file_comment_at(const tare_run_file *file, size_t index,
				       const char **ret_key,
				       const char **ret_value);

TARE_END
#endif
