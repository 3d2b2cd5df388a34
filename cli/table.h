/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Table: rows of text in columns that fit a terminal.
 *
 * Cells are copied and made safe to print. If the rows are wider than the
 * terminal, optional columns are dropped, and the one column that shrinks is
 * cut and marked with '~'.
 */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include <tare/api.h>

#include "terminal.h"

#define TABLE_COLUMNS 16u

struct column {
	const char *title;
	bool right;   /* numbers */
	bool shrinks; /* at most one of a table */
	unsigned drop; /* 1 is dropped first; 0: never */
};

#define COLUMN_TEXT(title, drop) { title, false, false, drop }
#define COLUMN_NUMBER(title, drop) { title, true, false, drop }
#define COLUMN_WIDE(title) { title, false, true, 0 }

struct table_cell {
	char *text;
	enum tint tint;
};

struct table {
	const struct column *columns; /* borrowed */
	size_t n_columns;	      /* at most TABLE_COLUMNS */
	struct table_cell *cells;     /* row by row */
	size_t n_cells;
	size_t cap;
	bool failed; /* out of memory: rows are missing */
};

void table_init(struct table *table, const struct column *columns,
		size_t n_columns);
void table_release(struct table *table);

/* Adds the next cell; n_columns cells make a row. */
void table_add(struct table *table, const char *text);
/* "name" or "name{labels}" */
void table_add_name(struct table *table, const char *name, const char *labels);
void table_add_tinted(struct table *table, const char *text, enum tint tint);

/* Adds a cell formatted as by printf(). */
void table_addf(struct table *table, const char *format, ...)
	TARE_PRINTF(2, 3);

/* Prints the table for the terminal of `stream`; releases it. */
void table_end(struct table *table, FILE *stream);
/* width 0: unlimited. */
void table_print(const struct table *table, FILE *stream, unsigned width,
		 bool color);

#endif
