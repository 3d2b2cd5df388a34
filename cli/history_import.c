/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare history import: results that other programs have measured. JSON is
 * read by the store; here is CSV, a row a run.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/platform.h"
#include "base/text.h"
#include "history.h"
#include "message.h"
#include "parse.h"

#define MOST_BYTES ((int64_t)256 << 20)

/* A file, and what its rows have in common. */
struct import {
	const char *path;
	char *text;
	size_t len;
	int64_t file_ns;
	char project[PATH_MAX];
	char machine[64];
	char name[128]; /* of the series, if no column has it */
};

/* ---- CSV --------------------------------------------------------------- */

enum role { VALUE, NAME, DATE, REVISION, MACHINE, UNIT, ROLES };

static const char *const role_names[ROLES][4] = {
	{ "value", "wall", "time", NULL },
	{ "name", "benchmark", "program", "test" },
	{ "date", "started", "timestamp", NULL },
	{ "revision", "commit", "sha", "git" },
	{ "machine", "host", "hostname", NULL },
	{ "unit", NULL, NULL, NULL },
};

struct columns {
	int at[ROLES]; /* -1: there is none */
	char unit[16];
};

static void find_columns(const struct tr_csv *csv, const char *chosen,
			 struct columns *columns)
{
	for (int role = 0; role < ROLES; role++) {
		columns->at[role] = -1;
		for (uint32_t i = 0; i < csv->n && columns->at[role] < 0; i++)
			for (int k = 0; k < 4 && role_names[role][k]; k++)
				if (tr_same_word(csv->cell[i],
						 role_names[role][k]))
					columns->at[role] = (int)i;
	}
	for (uint32_t i = 0; i < csv->n; i++)
		if (chosen && strcmp(csv->cell[i], chosen) == 0)
			columns->at[VALUE] = (int)i;
	if (columns->at[VALUE] < 0)
		columns->at[VALUE] = (int)csv->n - 1;
}

static const char *cell(const struct tr_csv *csv,
			const struct columns *columns, enum role role,
			const char *otherwise)
{
	int at = columns->at[role];

	return at >= 0 && (uint32_t)at < csv->n && csv->cell[at][0] ?
		       csv->cell[at] :
		       otherwise;
}

/* ns of a unit of time; 0: it is none. */
static double unit_ns(const char *unit)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i].name) == 0)
			return units[i].ns;
	return 0;
}

/* A date, or seconds since 1970; without one, rows are a second apart. */
static int64_t started(const struct import *import, const char *date,
		       uint64_t line)
{
	int64_t ns;
	double seconds;
	char with_at[64];

	if (date) {
		if (tr_parse_double(date, &seconds)) {
			(void)snprintf(with_at, sizeof(with_at), "@%s", date);
			date = with_at;
		}
		if (parse_moment(date, 0, import->file_ns, &ns))
			return ns;
	}
	return import->file_ns + (int64_t)line * 1000000000;
}

static enum store_error add_row(struct store *store,
				const struct import *import,
				const struct tr_csv *csv,
				const struct columns *columns, double value,
				bool *ret_is_new)
{
	const char *unit = cell(csv, columns, UNIT, "s");
	const char *name = cell(csv, columns, NAME, import->name);
	double ns = unit_ns(unit);
	struct store_figure figure = { "value", unit, value };
	char key[512];
	struct store_run run = {
		.key = key,
		.source = "csv",
		.project = import->project,
		.program = name,
		.arguments = "",
		.machine = cell(csv, columns, MACHINE, import->machine),
		.cpu = "",
		.revision = cell(csv, columns, REVISION, ""),
		.build_id = "",
		.state = "finished",
		.version = "",
		.started_ns = started(import, cell(csv, columns, DATE, NULL),
				      csv->line),
		.exit_status = STORE_UNKNOWN,
		.dirty = STORE_UNKNOWN,
		.processes = 1,
		.wall_ns = ns > 0 ? value * ns : (double)NAN,
		.cpu_ns = (double)NAN,
		.peak_bytes = (double)NAN,
		.figures = &figure,
		.n_figures = 1,
	};

	(void)snprintf(key, sizeof(key), "csv:%.200s:%.120s:%llu:%lld",
		       import->path, name, (unsigned long long)csv->line,
		       (long long)run.started_ns);
	return store_add(store, &run, ret_is_new);
}

static bool is_gap(const char *text)
{
	return !*text || tr_same_word(text, "nan") ||
	       tr_same_word(text, "na") || strcmp(text, "-") == 0;
}

static int csv_rows(struct store *store, struct import *import,
		    const char *column, size_t *ret_rows, size_t *ret_new)
{
	struct columns columns = { .unit = "" };
	bool has_header = false, is_new;
	struct tr_csv csv;

	tr_csv_begin(&csv, import->text);
	while (tr_csv_row(&csv)) {
		const char *text;
		enum store_error err;
		double value;

		if (csv.is_comment || (csv.n == 1 && !*csv.cell[0]))
			continue;
		if (!has_header) {
			find_columns(&csv, column, &columns);
			has_header = true;
			text = cell(&csv, &columns, VALUE, "");
			if (!tr_parse_double(text, &value))
				continue;
		}
		text = cell(&csv, &columns, VALUE, "");
		if (is_gap(text))
			continue;
		if (!tr_parse_double(text, &value)) {
			message("cannot read '%s': line %llu: '%.40s' is not "
				"a number", import->path,
				(unsigned long long)csv.line, text);
			return CODE_IO;
		}
		err = add_row(store, import, &csv, &columns, value, &is_new);
		if (err)
			return history_error("write to", err);
		++*ret_rows;
		*ret_new += is_new;
	}
	return CODE_OK;
}

static int import_csv(struct store *store, struct import *import,
		      const char *column, size_t *ret_rows, size_t *ret_new)
{
	enum store_error err = store_begin(store);
	int code;

	if (err)
		return history_error("write to", err);
	code = csv_rows(store, import, column, ret_rows, ret_new);
	if (!code)
		err = store_commit(store);
	if (code || err)
		store_rollback(store);
	return err ? history_error("write to", err) : code;
}

/* ---- a file ------------------------------------------------------------ */

static int import_read(struct import *import)
{
	struct stat st;
	int64_t got;

	if (stat(import->path, &st))
		return message_error("read", import->path, errno);
	if (!S_ISREG(st.st_mode) || st.st_size > MOST_BYTES) {
		message("cannot read '%s': not a file of less than 256 MiB",
			import->path);
		return CODE_IO;
	}
	import->text = malloc((size_t)st.st_size + 1);
	if (!import->text)
		return message_error("read", import->path, TARE_ENOMEM);
	got = tr_file_read(import->path, import->text, (size_t)st.st_size);
	if (got < 0)
		return message_error("read", import->path, (int)got);
	import->text[got] = '\0';
	import->len = (size_t)got;
	import->file_ns = (int64_t)st.st_mtim.tv_sec * 1000000000;
	return CODE_OK;
}

static void import_place(struct import *import, const char *name)
{
	const char *slash = strrchr(import->path, '/');
	const char *base = slash ? slash + 1 : import->path;
	struct work_tree tree;
	char folder[PATH_MAX];

	(void)gethostname(import->machine, sizeof(import->machine) - 1);
	if (!getcwd(folder, sizeof(folder)))
		folder[0] = '\0';
	(void)snprintf(import->project, sizeof(import->project), "%s",
		       work_tree_find(folder, &tree) ? tree.root : folder);
	(void)snprintf(import->name, sizeof(import->name), "%.*s",
		       name ? 127 : (int)strcspn(base, "."),
		       name ? name : base);
}

static bool is_json(const struct import *import)
{
	char c = import->text[strspn(import->text, " \t\r\n")];

	return c == '{' || c == '[';
}

static int import_one(struct store *store, const char *path,
		      const char *column, const char *name)
{
	struct import import = { .path = path };
	const char *format = "CSV";
	size_t rows = 0, added = 0;
	int code = import_read(&import);

	if (!code) {
		import_place(&import, name);
		if (!is_json(&import)) {
			code = import_csv(store, &import, column, &rows,
					  &added);
		} else if (store_import(store, import.text, import.len,
					import.file_ns, import.project,
					import.machine, &format, &rows,
					&added)) {
			message("cannot import '%s': %s", path, store_why());
			code = CODE_IO;
		}
	}
	free(import.text);
	if (!code)
		(void)printf("%s: %zu rows of %s, %zu of them new\n", path,
			     rows, format, added);
	return code;
}

int history_import(char **files, size_t n, const char *column,
		   const char *name)
{
	struct store *store;
	int code;

	if (!n)
		return message_usage("no file to import");
	code = history_open(&store);
	if (code)
		return code;
	for (size_t i = 0; i < n; i++) {
		int other = import_one(store, files[i], column, name);

		code = code ? code : other;
	}
	store_close(store);
	return code;
}
