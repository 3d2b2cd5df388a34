/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Store: SQLite databases: the history of a user's runs, and a run as a
 * database (export.c). The only code that knows SQLite; without the library,
 * absent.c takes its place.
 *
 * The history is one file, history.sqlite beside the folder of runs, in WAL
 * mode: any number of processes read and one writes, others wait. Tables and
 * versions are in docs/formats/history.md.
 *
 * Damage: the file is put aside, and a new one gets what can still be read; the
 * caller adds the runs whose ledgers are there.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <tare/read/view.h>

/* Is tare built with SQLite? */
bool store_is_there(void);

/* ---- history ----------------------------------------------------------- */

#define STORE_UNKNOWN (-1)

struct store_figure {
	const char *name; /* "function main" */
	const char *unit; /* "ns", "B", "1" */
	double value;
};

/* A row of the history: all processes that one command started. */
struct store_run {
	const char *key;     /* the group or the run's id; unique */
	const char *source;  /* "run", or the format it was imported from */
	const char *project; /* root of the working tree, or the folder */
	const char *program;
	const char *arguments; /* NULL: left out */
	const char *machine, *cpu;
	const char *revision, *build_id; /* "": unknown */
	const char *state;
	const char *version; /* of tare, or of the other program */
	int64_t started_ns;
	int64_t exit_status; /* or STORE_UNKNOWN */
	int dirty;	     /* 0, 1 or STORE_UNKNOWN */
	uint32_t processes;
	double wall_ns, cpu_ns, peak_bytes; /* NAN: unknown */
	const struct store_figure *figures;
	size_t n_figures;
	/* Of a list: the figure that was asked for. */
	double value;
	int64_t id;
};

struct store; /* an open history */

enum store_error {
	STORE_OK = 0,
	STORE_BUSY = 1,	   /* locked by another process for too long */
	STORE_FULL,	   /* no space */
	STORE_DAMAGED,	   /* see store_repair() */
	STORE_NEWER,	   /* written by a newer version */
	STORE_FAILED,	   /* anything else: store_why() */
	STORE_ABSENT	   /* built without SQLite */
};

/*
 * Opens a history; `may_create`: makes a new one where there is none. Waits up
 * to `wait_ms` for others. STORE_FAILED without `may_create`: there is none, or
 * it cannot be read.
 */
enum store_error store_open(const char *path, bool may_create, int wait_ms,
			    struct store **ret_store);
void store_close(struct store *store);
/* Text of the last error, for people. */
const char *store_why(void);

/*
 * Puts a damaged file aside, as PATH.damaged-N, and makes a new one with all
 * rows that can be read. Gives how many, and the name. The store is closed.
 */
enum store_error store_repair(const char *path, size_t *ret_rows,
			      char *ret_aside, size_t size);

/* A transaction around several calls of store_add(). */
enum store_error store_begin(struct store *store);
enum store_error store_commit(struct store *store);
void store_rollback(struct store *store);

/* Adds a run; one of the same key stays as it is. */
enum store_error store_add(struct store *store, const struct store_run *run,
			   bool *ret_is_new);
/* Is there a run of this key, or was it removed by store_prune()? */
enum store_error store_has(struct store *store, const char *key,
			   bool *ret_has);

/* Which runs. NULL and 0: any. Texts are globs. */
struct store_query {
	const char *program; /* also that of imported names */
	const char *project;
	const char *machine;
	const char *source;
	const char *figure; /* `value` is this one; NULL: wall time */
	int64_t from_ns, to_ns;
	uint64_t most; /* the newest so many; 0: all */
};

/* Called with each run, the oldest first; a result other than 0 stops. Texts
 * are valid during the call. */
typedef int (*store_row_fn)(void *arg, const struct store_run *run);
enum store_error store_list(struct store *store,
			    const struct store_query *query, store_row_fn row,
			    void *arg);
/* All figures of a run, by its id. */
typedef int (*store_figure_fn)(void *arg, const struct store_figure *figure);
enum store_error store_figures(struct store *store, int64_t id,
			       store_figure_fn row, void *arg);
/* Names of figures that these runs have, with how many runs have them. */
enum store_error store_figure_names(struct store *store,
				    const struct store_query *query,
				    store_figure_fn row, void *arg);

/*
 * Removes all but the newest `keep` of each series (0: none for this reason),
 * and those before `before_ns` (0: none), of those that the query selects.
 */
enum store_error store_prune(struct store *store,
			     const struct store_query *query, uint64_t keep,
			     int64_t before_ns, uint64_t *ret_removed);

/*
 * Adds what a JSON file of another program says. `file_ns`: its age, for what
 * has no time of its own. `format` is set to the program's name; STORE_FAILED:
 * it is none of these.
 */
enum store_error store_import(struct store *store, const char *text,
			      size_t len, int64_t file_ns, const char *project,
			      const char *machine, const char **ret_format,
			      size_t *ret_rows, size_t *ret_new);

/* ---- export of runs ---------------------------------------------------- */

/*
 * Writes views into a new database at `path`, of which nothing is left on
 * failure. Tables: docs/formats/sqlite.md. 0, a TARE_E*, or STORE_* + 1000
 * with store_why().
 */
int store_export(tare_view *const *views, size_t n, const tare_filter *filter,
		 const char *path);

#endif
