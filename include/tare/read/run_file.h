/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Run files: reads the CSV files that training programs write, see
 * <tare/run_csv.h>.
 */
#ifndef TARE_READ_RUN_FILE_H
#define TARE_READ_RUN_FILE_H

#include <tare/run_csv.h>

TARE_BEGIN

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
	bool is_open;	      /* not closed: the run was killed, or goes on */
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
TARE_API void tare_run_file_close(tare_run_file *file);
/* Its old name, for one release. */
#define tare_run_file_free tare_run_file_close

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
