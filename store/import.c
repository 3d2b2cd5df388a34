/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Import: benchmark results of other programs, by SQLite's own reader of JSON:
 * it is well kept, and checks what it reads.
 *
 * Each format is one query over json_each(). It gives rows for the table
 * `imported`, from which runs and figures are made the same way for all.
 */
#include "parts.h"

#include <string.h>

/* ?1: the document; ?2: ns since 1970; ?3: project; ?4: machine. */
struct format {
	const char *name;
	const char *test; /* 1 for a document of this format */
	const char *rows;
	const char *figures; /* ?1 as above; key, name, value, unit */
};

#define SECONDS(x) "json_extract(e.value, '$." x "') * 1e9"

/* hyperfine gives no date: the file's. A command is program and arguments. */
static const char hyperfine_rows[] =
	"SELECT 'hyperfine:' || ?2 || ':' || e.key || ':' || command,"
	" ?3, replace(first, rtrim(first, replace(first, '/', '')), ''),"
	" rest, ?4, '', '', NULL, ?2, "
	" coalesce(json_extract(value, '$.median'),"
	" json_extract(value, '$.mean')) * 1e9,"
	" (json_extract(value, '$.user') + json_extract(value, '$.system'))"
	" * 1e9, e.key FROM (SELECT key, value, command,"
	" substr(command || ' ', 1, instr(command || ' ', ' ') - 1) AS first,"
	" trim(substr(command, instr(command || ' ', ' '))) AS rest"
	" FROM (SELECT key, value, CAST(json_extract(value, '$.command')"
	" AS TEXT) AS command FROM json_each(?1, '$.results'))) AS e"
	" WHERE command IS NOT NULL";

static const char hyperfine_figures[] =
	"SELECT e.key, f.key, f.value * 1e9, 'ns'"
	" FROM json_each(?1, '$.results') AS e, json_each(e.value) AS f"
	" WHERE f.key IN ('mean', 'stddev', 'median', 'user', 'system',"
	" 'min', 'max') AND f.type IN ('real', 'integer')";

#define GOOGLE_UNIT \
	"CASE json_extract(e.value, '$.time_unit') WHEN 's' THEN 1e9" \
	" WHEN 'ms' THEN 1e6 WHEN 'us' THEN 1e3 ELSE 1 END"
#define NS_OF(x) \
	"coalesce(CAST(strftime('%s', " x ") AS INTEGER) * 1000000000, ?2)"

/* Means and medians of repetitions are left out where these are there. */
static const char google_rows[] =
	"SELECT 'google:' || started || ':' || e.key || ':' || name,"
	" ?3, name, '', machine, '', '', NULL, started,"
	" json_extract(e.value, '$.real_time') * " GOOGLE_UNIT ","
	" json_extract(e.value, '$.cpu_time') * " GOOGLE_UNIT ", e.key"
	" FROM (SELECT key, value, CAST(json_extract(value, '$.name') AS TEXT)"
	" AS name, " NS_OF("json_extract(?1, '$.context.date')")
	" AS started, coalesce(json_extract(?1, '$.context.host_name'), ?4)"
	" AS machine FROM json_each(?1, '$.benchmarks')) AS e"
	" WHERE name IS NOT NULL AND"
	" coalesce(json_extract(e.value, '$.run_type'), '') <> 'aggregate'"
	" AND json_type(e.value, '$.real_time') IN ('real', 'integer')";

static const char google_figures[] =
	"SELECT e.key, f.key, f.value * CASE WHEN f.key IN ('real_time',"
	" 'cpu_time') THEN " GOOGLE_UNIT " ELSE 1 END,"
	" CASE WHEN f.key IN ('real_time', 'cpu_time') THEN 'ns' ELSE '1' END"
	" FROM json_each(?1, '$.benchmarks') AS e, json_each(e.value) AS f"
	" WHERE f.type IN ('real', 'integer') AND f.key NOT IN"
	" ('family_index', 'per_family_instance_index', 'repetition_index',"
	" 'threads', 'repetitions')";

static const char pytest_rows[] =
	"SELECT 'pytest:' || started || ':' || e.key || ':' || name,"
	" coalesce(json_extract(?1, '$.commit_info.project'), ?3), name, '',"
	" coalesce(json_extract(?1, '$.machine_info.node'), ?4),"
	" coalesce(json_extract(?1, '$.machine_info.cpu.brand_raw'), ''),"
	" coalesce(json_extract(?1, '$.commit_info.id'), ''),"
	" json_extract(?1, '$.commit_info.dirty'), started,"
	" coalesce(" SECONDS("stats.median") ", " SECONDS("stats.mean") "),"
	" NULL, e.key FROM (SELECT key, value,"
	" CAST(coalesce(json_extract(value, '$.fullname'),"
	" json_extract(value, '$.name')) AS TEXT) AS name, "
	NS_OF("json_extract(?1, '$.datetime')") " AS started"
	" FROM json_each(?1, '$.benchmarks')) AS e WHERE name IS NOT NULL"
	" AND json_type(e.value, '$.stats') = 'object'";

static const char pytest_figures[] =
	"SELECT e.key, f.key, f.value * CASE f.key WHEN 'rounds' THEN 1"
	" WHEN 'ops' THEN 1 ELSE 1e9 END, CASE f.key WHEN 'rounds' THEN '1'"
	" WHEN 'ops' THEN '1/s' ELSE 'ns' END"
	" FROM json_each(?1, '$.benchmarks') AS e,"
	" json_each(e.value, '$.stats') AS f"
	" WHERE f.type IN ('real', 'integer') AND f.key IN ('min', 'max',"
	" 'mean', 'stddev', 'median', 'iqr', 'q1', 'q3', 'rounds', 'ops')";

static const struct format formats[] = {
	{ "hyperfine",
	  "SELECT json_type(?1, '$.results') = 'array'"
	  " AND json_type(?1, '$.results[0].command') IS NOT NULL",
	  hyperfine_rows, hyperfine_figures },
	{ "pytest",
	  "SELECT json_type(?1, '$.benchmarks') = 'array'"
	  " AND json_type(?1, '$.machine_info') IS NOT NULL",
	  pytest_rows, pytest_figures },
	{ "google",
	  "SELECT json_type(?1, '$.benchmarks') = 'array'"
	  " AND json_type(?1, '$.context') = 'object'",
	  google_rows, google_figures },
};

#define N_FORMATS (sizeof(formats) / sizeof(formats[0]))

/* ---- statements -------------------------------------------------------- */

struct document {
	struct store *store;
	const char *text;
	size_t len;
	int64_t file_ns;
	const char *project, *machine;
};

/* A result of one number; 0 for NULL or none. */
static enum store_error run_sql(const struct document *doc, const char *sql,
				const char *tail, int64_t *ret_number)
{
	char whole[4096];
	sqlite3_stmt *s;
	enum store_error err;
	int code;

	(void)sqlite3_snprintf(sizeof(whole), whole, "%s%s", sql, tail);
	err = store_prepare(doc->store->db, whole, &s);
	if (err)
		return err;
	(void)sqlite3_bind_text(s, 1, doc->text, (int)doc->len,
				SQLITE_STATIC);
	(void)sqlite3_bind_int64(s, 2, doc->file_ns);
	store_bind_text(s, 3, doc->project);
	store_bind_text(s, 4, doc->machine);
	code = sqlite3_step(s);
	*ret_number = code == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		err = store_failed(doc->store->db, code);
	(void)sqlite3_finalize(s);
	return err;
}

static enum store_error find_format(const struct document *doc,
				    const struct format **ret_format)
{
	enum store_error err;
	int64_t is_it = 0;

	err = run_sql(doc, "SELECT json_valid(?1)", "", &is_it);
	if (!err && !is_it) {
		store_say("it is not valid JSON");
		return STORE_FAILED;
	}
	for (size_t i = 0; i < N_FORMATS && !err; i++) {
		err = run_sql(doc, formats[i].test, "", &is_it);
		if (!err && is_it) {
			*ret_format = &formats[i];
			return STORE_OK;
		}
	}
	if (!err)
		store_say("it is JSON of none of hyperfine, Google Benchmark "
			  "and pytest-benchmark");
	return err ? err : STORE_FAILED;
}

/* What is there already stays as it is. */
static enum store_error take(const struct document *doc,
			     const struct format *format, size_t *ret_rows,
			     size_t *ret_new)
{
	static const char to_rows[] = "INSERT INTO imported ";
	char sql[4096];
	int64_t n = 0;
	enum store_error err;

	err = store_do(doc->store->db,
		       "CREATE TEMP TABLE IF NOT EXISTS imported (key, project,"
		       " program, arguments, machine, cpu, revision, dirty,"
		       " started_ns, wall_ns, cpu_ns, place);"
		       "CREATE TEMP TABLE IF NOT EXISTS imported_figure (place,"
		       " name, value, unit);"
		       "DELETE FROM imported; DELETE FROM imported_figure");
	(void)sqlite3_snprintf(sizeof(sql), sql, "%s%s", to_rows,
			       format->rows);
	if (!err)
		err = run_sql(doc, sql, "", &n);
	if (!err)
		err = run_sql(doc, "INSERT INTO imported_figure ",
			      format->figures, &n);
	if (!err)
		err = run_sql(doc, "SELECT count(*) FROM imported", "", &n);
	*ret_rows = (size_t)n;
	if (!err)
		err = store_do(doc->store->db,
			"DELETE FROM imported WHERE key IN"
			" (SELECT key FROM run);");
	(void)sqlite3_snprintf(sizeof(sql), sql,
			       "INSERT OR IGNORE INTO run (key, source,"
			       " project, program, arguments, machine, cpu,"
			       " revision, dirty, build_id, started_ns, state,"
			       " exit_status, processes, wall_ns, cpu_ns,"
			       " version) SELECT key, '%s', project, program,"
			       " arguments, machine, cpu, revision, dirty, '',"
			       " started_ns, 'finished', NULL, 1, wall_ns,"
			       " cpu_ns, '%s' FROM imported ORDER BY place",
			       format->name, format->name);
	if (!err)
		err = store_do(doc->store->db, sql);
	*ret_new = err ? 0 : (size_t)sqlite3_changes(doc->store->db);
	if (!err)
		err = store_do(doc->store->db,
			"INSERT OR IGNORE INTO figure (run, name, value, unit)"
			" SELECT run.id, name, value, unit"
			" FROM imported JOIN run USING (key)"
			" JOIN imported_figure USING (place)");
	return err;
}

enum store_error store_import(struct store *store, const char *text,
			      size_t len, int64_t file_ns, const char *project,
			      const char *machine, const char **ret_format,
			      size_t *ret_rows, size_t *ret_new)
{
	const struct document doc = { store, text,    len,
				      file_ns, project, machine };
	const struct format *format = NULL;
	enum store_error err = find_format(&doc, &format);

	if (err)
		return err;
	*ret_format = format->name;
	err = store_begin(store);
	if (err)
		return err;
	err = take(&doc, format, ret_rows, ret_new);
	if (!err)
		err = store_commit(store);
	if (err)
		store_rollback(store);
	return err;
}
