/* SPDX-License-Identifier: Apache-2.0 */
/* Private header of store/: what its files share of SQLite. */
#ifndef STORE_PARTS_H
#define STORE_PARTS_H

#include <sqlite3.h>

#include "store.h"

#define STORE_VERSION 1
#define STORE_APPLICATION 0x74617265 /* "tare" */

struct store {
	sqlite3 *db;
	sqlite3_stmt *add, *add_figure, *has;
};

/* Remembers the text of an error, and classifies it. */
enum store_error store_failed(sqlite3 *db, int code);
/* Runs statements without results. */
enum store_error store_do(sqlite3 *db, const char *sql);
enum store_error store_prepare(sqlite3 *db, const char *sql,
			       sqlite3_stmt **ret_statement);
/* NULL is SQL's NULL. The text must live until the next step. */
void store_bind_text(sqlite3_stmt *statement, int at, const char *text);
/* NAN is NULL. */
void store_bind_double(sqlite3_stmt *statement, int at, double value);
/* Text of a column, "" for NULL. */
const char *store_text(sqlite3_stmt *statement, int at);
double store_double(sqlite3_stmt *statement, int at);
/* A text of its own for store_why(). */
void store_say(const char *format, ...) TARE_PRINTF(1, 2);

#endif
