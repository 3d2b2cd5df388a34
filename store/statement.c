/* SPDX-License-Identifier: Apache-2.0 */
/* Statements: what every file of the store does with SQLite. */
#include "parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static char why[256];

const char *store_why(void)
{
	return why;
}

bool store_is_there(void)
{
	return true;
}

void store_say(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	(void)vsnprintf(why, sizeof(why), format, args);
	va_end(args);
}

enum store_error store_failed(sqlite3 *db, int code)
{
	store_say("%s", db ? sqlite3_errmsg(db) : sqlite3_errstr(code));
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return STORE_BUSY;
	case SQLITE_FULL:
		return STORE_FULL;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return STORE_DAMAGED;
	default:
		return STORE_FAILED;
	}
}

enum store_error store_do(sqlite3 *db, const char *sql)
{
	int code = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return code == SQLITE_OK ? STORE_OK : store_failed(db, code);
}

enum store_error store_prepare(sqlite3 *db, const char *sql,
			       sqlite3_stmt **ret_statement)
{
	int code = sqlite3_prepare_v2(db, sql, -1, ret_statement, NULL);

	return code == SQLITE_OK ? STORE_OK : store_failed(db, code);
}

void store_bind_text(sqlite3_stmt *statement, int at, const char *text)
{
	if (text)
		(void)sqlite3_bind_text(statement, at, text, -1,
					SQLITE_STATIC);
	else
		(void)sqlite3_bind_null(statement, at);
}

void store_bind_double(sqlite3_stmt *statement, int at, double value)
{
	if (isnan(value))
		(void)sqlite3_bind_null(statement, at);
	else
		(void)sqlite3_bind_double(statement, at, value);
}

const char *store_text(sqlite3_stmt *statement, int at)
{
	const unsigned char *text = sqlite3_column_text(statement, at);

	return text ? (const char *)text : "";
}

double store_double(sqlite3_stmt *statement, int at)
{
	return sqlite3_column_type(statement, at) == SQLITE_NULL ?
		       (double)NAN :
		       sqlite3_column_double(statement, at);
}
