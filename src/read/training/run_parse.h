/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private header of the parser of run CSV files: run_file.c has files, lines
 * and comments; run_row.c has cells, the header and rows.
 */
#ifndef TR_READ_TRAINING_RUN_PARSE_H
#define TR_READ_TRAINING_RUN_PARSE_H

#include <tare/read/run_file.h>

#define TR_RUN_MOST_CELLS 256u

struct tr_run_comment {
	const char *key, *value;
};

struct tare_run_file {
	char *text; /* split in place */
	tare_run_table table;
	tare_run_row *rows;
	size_t rows_room;
	struct tr_run_comment *comments;
	size_t n_comments, comments_room;
};

struct tr_run_parser {
	tare_run_file *file;
	tare_run_problem *problem;
	uint64_t line;
	char separator; /* 0: not yet known */
	bool has_header;
	bool is_ended; /* the line has a line end */
	uint32_t n_cells; /* of the header */
	int column_of[TR_RUN_MOST_CELLS]; /* -1: not one of tare's columns */
	char *cells[TR_RUN_MOST_CELLS];
};

/* Fills in the problem, if there is one to fill. Returns TARE_EFORMAT. */
int tr_run_report(tare_run_problem *problem, uint64_t line, uint64_t column,
		  const char *format, ...) TARE_PRINTF(4, 5);

/* Removes spaces at both ends. */
char *tr_run_trim(char *text);
/* The text between quotes, with doubled quotes as one. Returns what follows. */
char *tr_run_unquote(char *text, char **ret_cell);

/* For a whole line, which is split in place. Returns 0 or an error. */
int tr_run_header(struct tr_run_parser *p, char *line);
int tr_run_row(struct tr_run_parser *p, char *line);

#endif
