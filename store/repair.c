/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Repair: a damaged history is put aside, and a new one gets the rows that can
 * still be read, from both ends of each table: a damaged page hides what is in
 * it, and not what is around it.
 */
#include "parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define MOST_ASIDE 1000

/* The files that belong to a database. */
static const char *const part[] = { "", "-wal", "-shm" };

static bool put_aside(const char *path, char *ret_aside, size_t size)
{
	char from[4096], to[4096];
	int n = 1;

	for (; n < MOST_ASIDE; n++) {
		(void)snprintf(ret_aside, size, "%s.damaged-%d", path, n);
		if (access(ret_aside, F_OK))
			break;
	}
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(from, sizeof(from), "%s%s", path, part[i]);
		(void)snprintf(to, sizeof(to), "%s%s", ret_aside, part[i]);
		if (rename(from, to) && (i == 0 || errno != ENOENT))
			return false;
	}
	return true;
}

/* Rows in one direction, until one cannot be read. */
static size_t copy_runs(sqlite3 *db, struct store *store, bool is_backward)
{
	sqlite3_stmt *s;
	size_t n = 0;

	if (store_prepare(db, is_backward ?
		"SELECT key, source, project, program, arguments, machine,"
		" cpu, revision, dirty, build_id, started_ns, state,"
		" exit_status, processes, wall_ns, cpu_ns, peak_bytes, version"
		", id FROM run ORDER BY id DESC" :
		"SELECT key, source, project, program, arguments, machine,"
		" cpu, revision, dirty, build_id, started_ns, state,"
		" exit_status, processes, wall_ns, cpu_ns, peak_bytes, version"
		", id FROM run ORDER BY id", &s))
		return 0;
	while (sqlite3_step(s) == SQLITE_ROW) {
		for (int i = 0; i < 18; i++)
			(void)sqlite3_bind_value(store->add, i + 1,
						 sqlite3_column_value(s, i));
		if (sqlite3_step(store->add) == SQLITE_DONE)
			n += (size_t)sqlite3_changes(store->db);
		(void)sqlite3_reset(store->add);
	}
	(void)sqlite3_finalize(s);
	return n;
}

/* Of the runs that were copied: they may have other ids. */
static void copy_figures(sqlite3 *db, struct store *store)
{
	sqlite3_stmt *from, *to, *id;

	if (store_prepare(db, "SELECT name, value, unit FROM figure"
			      " WHERE run = (SELECT id FROM run WHERE key ="
			      " ?1)", &from))
		return;
	if (!store_prepare(store->db, "SELECT id, key FROM run", &id)) {
		to = store->add_figure;
		while (sqlite3_step(id) == SQLITE_ROW) {
			store_bind_text(from, 1, store_text(id, 1));
			while (sqlite3_step(from) == SQLITE_ROW) {
				(void)sqlite3_bind_int64(to, 1,
					sqlite3_column_int64(id, 0));
				for (int i = 0; i < 3; i++)
					(void)sqlite3_bind_value(to, i + 2,
						sqlite3_column_value(from, i));
				(void)sqlite3_step(to);
				(void)sqlite3_reset(to);
			}
			(void)sqlite3_reset(from);
		}
		(void)sqlite3_finalize(id);
	}
	(void)sqlite3_finalize(from);
}

static size_t salvage(const char *aside, struct store *store)
{
	sqlite3 *db = NULL;
	size_t n = 0;

	if (sqlite3_open_v2(aside, &db, SQLITE_OPEN_READWRITE, NULL) ==
	    SQLITE_OK) {
		n = copy_runs(db, store, false);
		n += copy_runs(db, store, true);
		copy_figures(db, store);
	}
	(void)sqlite3_close(db);
	return n;
}

enum store_error store_repair(const char *path, size_t *ret_rows,
			      char *ret_aside, size_t size)
{
	struct store *store;
	enum store_error err;

	if (!put_aside(path, ret_aside, size)) {
		store_say("it is damaged, and cannot be renamed: %s",
			  strerror(errno));
		return STORE_FAILED;
	}
	err = store_open(path, true, 1000, &store);
	if (err)
		return err;
	err = store_begin(store);
	*ret_rows = err ? 0 : salvage(ret_aside, store);
	if (!err)
		err = store_commit(store);
	store_close(store);
	return err;
}
