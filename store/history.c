/* SPDX-License-Identifier: Apache-2.0 */
/* The history: opening it, its tables, adding runs, lists. */
#include "parts.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char tables[] =
	"CREATE TABLE IF NOT EXISTS run ("
	" id INTEGER PRIMARY KEY,"
	" key TEXT NOT NULL UNIQUE,"
	" source TEXT NOT NULL,"
	" project TEXT NOT NULL,"
	" program TEXT NOT NULL,"
	" arguments TEXT,"
	" machine TEXT NOT NULL,"
	" cpu TEXT NOT NULL,"
	" revision TEXT NOT NULL,"
	" dirty INTEGER,"
	" build_id TEXT NOT NULL,"
	" started_ns INTEGER NOT NULL,"
	" state TEXT NOT NULL,"
	" exit_status INTEGER,"
	" processes INTEGER NOT NULL,"
	" wall_ns REAL,"
	" cpu_ns REAL,"
	" peak_bytes REAL,"
	" version TEXT NOT NULL);"
	"CREATE INDEX IF NOT EXISTS run_by_time ON run (started_ns);"
	"CREATE INDEX IF NOT EXISTS run_by_program"
	" ON run (program, started_ns);"
	"CREATE TABLE IF NOT EXISTS figure ("
	" run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,"
	" name TEXT NOT NULL,"
	" value REAL,"
	" unit TEXT NOT NULL,"
	" PRIMARY KEY (run, name)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS forgotten ("
	" key TEXT PRIMARY KEY) WITHOUT ROWID;"
	"PRAGMA application_id = 1952543333;"
	"PRAGMA user_version = 1;";

/* ---- opening ----------------------------------------------------------- */

static enum store_error number_of(sqlite3 *db, const char *sql, int *ret)
{
	sqlite3_stmt *statement;
	enum store_error err = store_prepare(db, sql, &statement);
	int code;

	if (err)
		return err;
	code = sqlite3_step(statement);
	if (code == SQLITE_ROW)
		*ret = sqlite3_column_int(statement, 0);
	(void)sqlite3_finalize(statement);
	return code == SQLITE_ROW ? STORE_OK : store_failed(db, code);
}

/* Two processes may create it at the same moment: the second finds it. */
static enum store_error create(sqlite3 *db)
{
	enum store_error err = store_do(db, "PRAGMA journal_mode = WAL;"
					    "BEGIN IMMEDIATE");

	if (!err)
		err = store_do(db, tables);
	if (!err)
		return store_do(db, "COMMIT");
	(void)sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return err;
}

/* Another program's database is not ours to change. */
static enum store_error check_tables(sqlite3 *db)
{
	int version = 0, application = 0, n = 0;
	enum store_error err = number_of(db, "PRAGMA user_version", &version);

	if (!err)
		err = number_of(db, "PRAGMA application_id", &application);
	if (!err)
		err = number_of(db, "SELECT count(*) FROM sqlite_schema", &n);
	if (err)
		return err;
	if (n && application != STORE_APPLICATION) {
		store_say("it is a database of another program");
		return STORE_FAILED;
	}
	if (version > STORE_VERSION) {
		store_say("it has version %d, this tare knows versions up to "
			  "%d", version, STORE_VERSION);
		return STORE_NEWER;
	}
	return version ? STORE_OK : create(db);
}

static enum store_error prepare_all(struct store *store)
{
	enum store_error err = store_prepare(store->db,
		"INSERT OR IGNORE INTO run (key, source, project, program,"
		" arguments, machine, cpu, revision, dirty, build_id,"
		" started_ns, state, exit_status, processes, wall_ns, cpu_ns,"
		" peak_bytes, version) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8,"
		" ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
		&store->add);

	if (!err)
		err = store_prepare(store->db,
			"INSERT OR IGNORE INTO figure (run, name, value, unit)"
			" VALUES (?1, ?2, ?3, ?4)", &store->add_figure);
	if (!err)
		err = store_prepare(store->db,
			"SELECT 1 FROM run WHERE key = ?1 UNION ALL"
			" SELECT 1 FROM forgotten WHERE key = ?1 LIMIT 1",
			&store->has);
	return err;
}

enum store_error store_open(const char *path, bool may_create, int wait_ms,
			    struct store **ret_store)
{
	struct store *store = calloc(1, sizeof(*store));
	int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
		    (may_create ? SQLITE_OPEN_CREATE : 0);
	enum store_error err;
	mode_t mask;
	int code;

	/* A file above its size limit is a failed write, no fatal signal. */
	(void)signal(SIGXFSZ, SIG_IGN);
	if (!store) {
		store_say("out of memory");
		return STORE_FAILED;
	}
	/* Arguments may be secret: only the user reads them. */
	mask = umask(0077);
	code = sqlite3_open_v2(path, &store->db, flags, NULL);
	err = code == SQLITE_OK ? STORE_OK : store_failed(store->db, code);
	if (!err) {
		(void)sqlite3_busy_timeout(store->db, wait_ms);
		/* The last one to close would bring all to the disk, which
		 * takes 20 ms. Every 96 pages, about 15 runs, is enough, and
		 * more would take the next one as long to read. */
		(void)sqlite3_db_config(store->db,
					SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1,
					(int *)NULL);
		err = store_do(store->db, "PRAGMA synchronous = NORMAL;"
					  "PRAGMA foreign_keys = ON;"
					  "PRAGMA wal_autocheckpoint = 96");
	}
	if (!err)
		err = check_tables(store->db);
	if (!err)
		err = prepare_all(store);
	(void)umask(mask);
	if (err)
		store_close(store);
	else
		*ret_store = store;
	return err;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	(void)sqlite3_finalize(store->add);
	(void)sqlite3_finalize(store->add_figure);
	(void)sqlite3_finalize(store->has);
	(void)sqlite3_close(store->db);
	free(store);
}

enum store_error store_begin(struct store *store)
{
	return store_do(store->db, "BEGIN IMMEDIATE");
}

enum store_error store_commit(struct store *store)
{
	return store_do(store->db, "COMMIT");
}

void store_rollback(struct store *store)
{
	(void)sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
}

/* ---- adding ------------------------------------------------------------ */

static void bind_number(sqlite3_stmt *statement, int at, int64_t value)
{
	if (value == STORE_UNKNOWN)
		(void)sqlite3_bind_null(statement, at);
	else
		(void)sqlite3_bind_int64(statement, at, value);
}

static void bind_run(sqlite3_stmt *add, const struct store_run *run)
{
	store_bind_text(add, 1, run->key);
	store_bind_text(add, 2, run->source);
	store_bind_text(add, 3, run->project);
	store_bind_text(add, 4, run->program);
	store_bind_text(add, 5, run->arguments);
	store_bind_text(add, 6, run->machine);
	store_bind_text(add, 7, run->cpu);
	store_bind_text(add, 8, run->revision);
	bind_number(add, 9, run->dirty);
	store_bind_text(add, 10, run->build_id);
	(void)sqlite3_bind_int64(add, 11, run->started_ns);
	store_bind_text(add, 12, run->state);
	bind_number(add, 13, run->exit_status);
	(void)sqlite3_bind_int64(add, 14, run->processes);
	store_bind_double(add, 15, run->wall_ns);
	store_bind_double(add, 16, run->cpu_ns);
	store_bind_double(add, 17, run->peak_bytes);
	store_bind_text(add, 18, run->version);
}

static enum store_error step_once(struct store *store, sqlite3_stmt *statement)
{
	int code = sqlite3_step(statement);

	(void)sqlite3_reset(statement);
	return code == SQLITE_DONE ? STORE_OK : store_failed(store->db, code);
}

enum store_error store_add(struct store *store, const struct store_run *run,
			   bool *ret_is_new)
{
	enum store_error err;
	int64_t id;

	bind_run(store->add, run);
	err = step_once(store, store->add);
	*ret_is_new = !err && sqlite3_changes(store->db) > 0;
	if (err || !*ret_is_new)
		return err;
	id = sqlite3_last_insert_rowid(store->db);
	for (size_t i = 0; i < run->n_figures && !err; i++) {
		const struct store_figure *figure = &run->figures[i];

		(void)sqlite3_bind_int64(store->add_figure, 1, id);
		store_bind_text(store->add_figure, 2, figure->name);
		store_bind_double(store->add_figure, 3, figure->value);
		store_bind_text(store->add_figure, 4, figure->unit);
		err = step_once(store, store->add_figure);
	}
	return err;
}

enum store_error store_has(struct store *store, const char *key, bool *ret_has)
{
	int code;

	store_bind_text(store->has, 1, key);
	code = sqlite3_step(store->has);
	(void)sqlite3_reset(store->has);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return store_failed(store->db, code);
	*ret_has = code == SQLITE_ROW;
	return STORE_OK;
}

/* ---- lists ------------------------------------------------------------- */

#define SELECTED \
	" (?1 IS NULL OR program GLOB ?1)" \
	" AND (?2 IS NULL OR project GLOB ?2)" \
	" AND (?3 IS NULL OR machine GLOB ?3)" \
	" AND (?4 IS NULL OR source = ?4)" \
	" AND (?5 = 0 OR started_ns >= ?5)" \
	" AND (?6 = 0 OR started_ns < ?6)"

static void bind_query(sqlite3_stmt *statement,
		       const struct store_query *query)
{
	store_bind_text(statement, 1, query->program);
	store_bind_text(statement, 2, query->project);
	store_bind_text(statement, 3, query->machine);
	store_bind_text(statement, 4, query->source);
	(void)sqlite3_bind_int64(statement, 5, query->from_ns);
	(void)sqlite3_bind_int64(statement, 6, query->to_ns);
}

static int64_t number_at(sqlite3_stmt *s, int at)
{
	return sqlite3_column_type(s, at) == SQLITE_NULL ?
		       STORE_UNKNOWN :
		       sqlite3_column_int64(s, at);
}

static struct store_run row_of(sqlite3_stmt *s)
{
	return (struct store_run){
		.id = sqlite3_column_int64(s, 0),
		.key = store_text(s, 1),
		.source = store_text(s, 2),
		.project = store_text(s, 3),
		.program = store_text(s, 4),
		.arguments = (const char *)sqlite3_column_text(s, 5),
		.machine = store_text(s, 6),
		.cpu = store_text(s, 7),
		.revision = store_text(s, 8),
		.dirty = (int)number_at(s, 9),
		.build_id = store_text(s, 10),
		.started_ns = sqlite3_column_int64(s, 11),
		.state = store_text(s, 12),
		.exit_status = number_at(s, 13),
		.processes = (uint32_t)sqlite3_column_int64(s, 14),
		.wall_ns = store_double(s, 15),
		.cpu_ns = store_double(s, 16),
		.peak_bytes = store_double(s, 17),
		.version = store_text(s, 18),
		.value = store_double(s, 19),
	};
}

/* The newest are chosen, then put in the order of time. */
static const char list_sql[] =
	"SELECT * FROM (SELECT run.id, key, source, project, program,"
	" arguments, machine, cpu, revision, dirty, build_id,"
	" started_ns AS started, state, exit_status, processes, wall_ns,"
	" cpu_ns, peak_bytes, version,"
	" CASE ?8 WHEN 'wall' THEN wall_ns WHEN 'cpu' THEN cpu_ns"
	" WHEN 'peak' THEN peak_bytes ELSE"
	" (SELECT value FROM figure WHERE run = run.id AND name = ?8) END"
	" FROM run WHERE" SELECTED
	" ORDER BY started_ns DESC, run.id DESC LIMIT ?7)"
	" ORDER BY started, id";

enum store_error store_list(struct store *store,
			    const struct store_query *query, store_row_fn row,
			    void *arg)
{
	sqlite3_stmt *s;
	enum store_error err = store_prepare(store->db, list_sql, &s);
	int code = SQLITE_DONE;

	if (err)
		return err;
	bind_query(s, query);
	(void)sqlite3_bind_int64(s, 7, query->most ? (int64_t)query->most :
						      -1);
	store_bind_text(s, 8, query->figure ? query->figure : "wall");
	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		struct store_run run = row_of(s);

		if (row(arg, &run)) {
			code = SQLITE_DONE;
			break;
		}
	}
	if (code != SQLITE_DONE)
		err = store_failed(store->db, code);
	(void)sqlite3_finalize(s);
	return err;
}

static enum store_error each_figure(struct store *store, sqlite3_stmt *s,
				    store_figure_fn row, void *arg)
{
	enum store_error err = STORE_OK;
	int code;

	while ((code = sqlite3_step(s)) == SQLITE_ROW) {
		struct store_figure figure = { .name = store_text(s, 0),
					       .value = store_double(s, 1),
					       .unit = store_text(s, 2) };

		if (row(arg, &figure)) {
			code = SQLITE_DONE;
			break;
		}
	}
	if (code != SQLITE_DONE)
		err = store_failed(store->db, code);
	(void)sqlite3_finalize(s);
	return err;
}

enum store_error store_figures(struct store *store, int64_t id,
			       store_figure_fn row, void *arg)
{
	sqlite3_stmt *s;
	enum store_error err = store_prepare(store->db,
		"SELECT name, value, unit FROM figure WHERE run = ?1"
		" ORDER BY name", &s);

	if (err)
		return err;
	(void)sqlite3_bind_int64(s, 1, id);
	return each_figure(store, s, row, arg);
}

enum store_error store_figure_names(struct store *store,
				    const struct store_query *query,
				    store_figure_fn row, void *arg)
{
	sqlite3_stmt *s;
	enum store_error err = store_prepare(store->db,
		"SELECT name, count(*) AS n, unit FROM figure JOIN run"
		" ON run.id = figure.run WHERE" SELECTED
		" GROUP BY name ORDER BY n DESC, name", &s);

	if (err)
		return err;
	bind_query(s, query);
	return each_figure(store, s, row, arg);
}

/* ---- pruning ----------------------------------------------------------- */

/* A run that is removed stays forgotten while its ledger is there. */
#define CHOSEN \
	"SELECT id, key FROM (SELECT id, key, started_ns, row_number() OVER" \
	" (PARTITION BY source, project, program, arguments, machine" \
	" ORDER BY started_ns DESC, id DESC) AS place FROM run WHERE" \
	SELECTED ") WHERE (?7 > 0 AND place > ?7)" \
	" OR (?8 <> 0 AND started_ns < ?8)"

enum store_error store_prune(struct store *store,
			     const struct store_query *query, uint64_t keep,
			     int64_t before_ns, uint64_t *ret_removed)
{
	static const char *const step[] = {
		"INSERT OR IGNORE INTO forgotten SELECT key FROM (" CHOSEN ")",
		"DELETE FROM run WHERE id IN (SELECT id FROM (" CHOSEN "))",
	};
	enum store_error err = store_begin(store);

	if (err)
		return err;
	for (size_t i = 0; i < 2 && !err; i++) {
		sqlite3_stmt *s;

		err = store_prepare(store->db, step[i], &s);
		if (err)
			break;
		bind_query(s, query);
		(void)sqlite3_bind_int64(s, 7, (int64_t)keep);
		(void)sqlite3_bind_int64(s, 8, before_ns);
		err = step_once(store, s);
		*ret_removed = (uint64_t)sqlite3_changes(store->db);
		(void)sqlite3_finalize(s);
	}
	if (!err)
		err = store_commit(store);
	if (err)
		store_rollback(store);
	else
		(void)sqlite3_exec(store->db, "VACUUM", NULL, NULL, NULL);
	return err;
}
