/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Private header of the export of runs: export.c has the file and its tables,
 * export_rows.c what stands in them.
 */
#ifndef STORE_EXPORT_H
#define STORE_EXPORT_H

#include "parts.h"
#include "render/output.h"

/* Columns: id, keys (whole numbers), fields of a struct, texts of its own. */
struct store_table {
	const char *name;
	const char *keys; /* SQL of their columns, each after a comma */
	size_t n_keys;
	const struct tr_field *field;
	size_t n_fields;
	const char *const *own;
	size_t n_own;
};

#define STORE_KEYS 3u
#define STORE_OWN 4u

struct store_row {
	int64_t id;
	int64_t key[STORE_KEYS]; /* below 0: NULL */
	const void *of;
	const char *text[STORE_OWN];
};

struct store_export {
	sqlite3 *db;
	int64_t run; /* of the view */
	/* The last id of each table: ids are unique over all runs. */
	int64_t series, scope, function, path, record, attribute, stack;
	int64_t sample, allocation, health;
	int error; /* a TARE_E*, of reading */
};

extern const struct store_table *const store_tables[];
extern const size_t store_n_tables;

enum store_error store_table_open(struct store_export *export,
				  const struct store_table *table,
				  sqlite3_stmt **ret_insert);
enum store_error store_table_row(struct store_export *export,
				 const struct store_table *table,
				 sqlite3_stmt *insert,
				 const struct store_row *row);
/* All rows of a run. */
enum store_error store_export_view(struct store_export *export,
				   tare_view *view, const tare_filter *filter);

#endif
