/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Export: a whole run as a database, with tables that can be joined.
 *
 * Columns come from tables of fields, the same that JSON is made of, so names
 * and figures agree. The file gets its name when it is complete.
 */
#include "export.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"

/* ---- tables ------------------------------------------------------------ */

static const char *type_of(const struct tr_field *field)
{
	switch (field->kind) {
	case TR_FIELD_STR:
	case TR_FIELD_ENUM:
		return "TEXT";
	case TR_FIELD_DOUBLE:
		return "REAL";
	default:
		return "INTEGER";
	}
}

static void add_names(struct tr_buf *buf, const struct store_table *table,
		      bool with_types)
{
	for (size_t i = 0; i < table->n_fields; i++) {
		tr_buf_addf(buf, ", \"%s\"", table->field[i].key);
		if (with_types)
			tr_buf_addf(buf, " %s", type_of(&table->field[i]));
	}
	for (size_t i = 0; i < table->n_own; i++)
		tr_buf_addf(buf, ", \"%s\"%s", table->own[i],
			    with_types ? " TEXT" : "");
}

static enum store_error create(struct store_export *export,
			       const struct store_table *table)
{
	struct tr_buf buf = TR_BUF_INIT;
	enum store_error err;

	tr_buf_addf(&buf, "CREATE TABLE %s (id INTEGER PRIMARY KEY%s",
		    table->name, table->keys);
	add_names(&buf, table, true);
	tr_buf_adds(&buf, ")");
	err = buf.failed ? STORE_FAILED : store_do(export->db, buf.data);
	tr_buf_release(&buf);
	return err;
}

enum store_error store_table_open(struct store_export *export,
				  const struct store_table *table,
				  sqlite3_stmt **ret_insert)
{
	struct tr_buf buf = TR_BUF_INIT;
	size_t n = 1 + table->n_keys + table->n_fields + table->n_own;
	enum store_error err;

	tr_buf_addf(&buf, "INSERT INTO %s VALUES (?1", table->name);
	for (size_t i = 1; i < n; i++)
		tr_buf_addf(&buf, ", ?%zu", i + 1);
	tr_buf_adds(&buf, ")");
	err = buf.failed ? STORE_FAILED :
			   store_prepare(export->db, buf.data, ret_insert);
	tr_buf_release(&buf);
	return err;
}

/* ---- rows -------------------------------------------------------------- */

static void bind_field(sqlite3_stmt *insert, int at,
		       const struct tr_field *field, const void *of)
{
	const char *place = (const char *)of + field->offset;
	uint32_t number;

	switch (field->kind) {
	case TR_FIELD_STR:
		store_bind_text(insert, at, *(const char *const *)
				(const void *)place);
		return;
	case TR_FIELD_ENUM:
		memcpy(&number, place, sizeof(number));
		store_bind_text(insert, at, field->name(number));
		return;
	case TR_FIELD_DOUBLE:
		store_bind_double(insert, at, tr_field_number(field, of));
		return;
	case TR_FIELD_I64:
		(void)sqlite3_bind_int64(insert, at,
			*(const int64_t *)(const void *)place);
		return;
	default:
		(void)sqlite3_bind_int64(insert, at, (sqlite3_int64)
					 tr_field_whole(field, of));
	}
}

enum store_error store_table_row(struct store_export *export,
				 const struct store_table *table,
				 sqlite3_stmt *insert,
				 const struct store_row *row)
{
	int at = 1, code;

	(void)sqlite3_bind_int64(insert, at++, row->id);
	for (size_t i = 0; i < table->n_keys; i++, at++)
		if (row->key[i] < 0)
			(void)sqlite3_bind_null(insert, at);
		else
			(void)sqlite3_bind_int64(insert, at, row->key[i]);
	for (size_t i = 0; i < table->n_fields; i++)
		bind_field(insert, at++, &table->field[i], row->of);
	for (size_t i = 0; i < table->n_own; i++)
		store_bind_text(insert, at++, row->text[i]);
	code = sqlite3_step(insert);
	(void)sqlite3_reset(insert);
	return code == SQLITE_DONE ? STORE_OK :
				     store_failed(export->db, code);
}

/* ---- the file ---------------------------------------------------------- */

static const char views_sql[] =
	"CREATE VIEW single_values AS SELECT id, run, kind, name, source,"
	" thread, start_ns, value, unit, labels FROM records"
	" WHERE kind IN ('value', 'gauge', 'counter', 'ratio');"
	"CREATE INDEX records_by_name ON records (run, name);"
	"CREATE INDEX attributes_by_record ON attributes (record);"
	"CREATE INDEX samples_by_stack ON samples (stack);"
	"PRAGMA application_id = 1952543333;"
	"PRAGMA user_version = 1;";

static enum store_error write_all(struct store_export *export,
				  tare_view *const *views, size_t n,
				  const tare_filter *filter)
{
	enum store_error err = store_do(export->db,
					"PRAGMA synchronous = OFF;"
					"PRAGMA journal_mode = OFF; BEGIN");

	for (size_t i = 0; i < store_n_tables && !err; i++)
		err = create(export, store_tables[i]);
	for (size_t i = 0; i < n && !err; i++) {
		export->run = (int64_t)i + 1;
		err = store_export_view(export, views[i], filter);
	}
	if (!err)
		err = store_do(export->db, views_sql);
	return err ? err : store_do(export->db, "COMMIT");
}

int store_export(tare_view *const *views, size_t n, const tare_filter *filter,
		 const char *path)
{
	struct store_export export = { .run = 0 };
	char part[4096];
	enum store_error err;
	int code;

	if (snprintf(part, sizeof(part), "%s.%lld.part", path,
		     (long long)getpid()) >= (int)sizeof(part))
		return TARE_EINVAL;
	(void)signal(SIGXFSZ, SIG_IGN); /* a failed write, not the end */
	(void)unlink(part);
	code = sqlite3_open_v2(part, &export.db,
			       SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
				       SQLITE_OPEN_NOMUTEX, NULL);
	err = code == SQLITE_OK ? write_all(&export, views, n, filter) :
				  store_failed(export.db, code);
	code = sqlite3_close(export.db);
	if (!err && code != SQLITE_OK)
		err = store_failed(NULL, code);
	if (!err && rename(part, path)) {
		store_say("%s", strerror(errno));
		err = STORE_FAILED;
	}
	if (err)
		(void)unlink(part);
	return export.error ? export.error : err ? 1000 + (int)err : 0;
}
