/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite for the benchmark own_cost: sqlite SCRIPT TIMES runs the statements of
 * a script so often, in a database in memory; ?1 is the number of the turn.
 *
 * Each turn parses its statements, as a program without prepared statements
 * does. bench/costs/build puts the scopes into SQLite's own functions.
 */
#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#define SCRIPT_BYTES 4096u

static int fail(sqlite3 *db, const char *what)
{
	(void)fprintf(stderr, "sqlite: %s: %s\n", what, sqlite3_errmsg(db));
	return 1;
}

static int read_script(const char *path, char *ret_text)
{
	FILE *file = fopen(path, "r");
	size_t n;

	if (!file)
		return 1;
	n = fread(ret_text, 1, SCRIPT_BYTES - 1, file);
	ret_text[n] = '\0';
	return fclose(file) || !n;
}

static int run_statement(sqlite3_stmt *statement, long turn)
{
	int rc;

	if (sqlite3_bind_parameter_count(statement) &&
	    sqlite3_bind_int64(statement, 1, turn))
		return 1;
	do
		rc = sqlite3_step(statement);
	while (rc == SQLITE_ROW);
	return sqlite3_finalize(statement) || rc != SQLITE_DONE;
}

static int run_turn(sqlite3 *db, const char *script, long turn)
{
	sqlite3_stmt *statement;

	while (*script) {
		if (sqlite3_prepare_v2(db, script, -1, &statement, &script))
			return 1;
		if (statement && run_statement(statement, turn))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	static char script[SCRIPT_BYTES];
	long times = argc > 2 ? strtol(argv[2], NULL, 10) : 0;
	sqlite3 *db;

	if (argc < 3 || read_script(argv[1], script)) {
		(void)fprintf(stderr, "usage: sqlite SCRIPT TIMES\n");
		return 2;
	}
	if (sqlite3_open(":memory:", &db) ||
	    sqlite3_exec(db, "create table item (id integer primary key, "
			     "kind integer, name text)", NULL, NULL, NULL))
		return fail(db, "no database");
	for (long i = 1; i <= times; i++) {
		if (run_turn(db, script, i))
			return fail(db, argv[1]);
	}
	return sqlite3_close(db) != SQLITE_OK;
}
