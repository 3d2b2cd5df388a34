/* SPDX-License-Identifier: Apache-2.0 */
#include "exports.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tare/control.h>
#include <tare/error.h>
#include <tare/read/export.h>

#include "chosen.h"
#include "handlers.h"
#include "render/tables.h"
#include "reply.h"

#define DOWNLOAD "/api/metrics/export/download/"
#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyz"

static void send_made(struct exchange *ex, const struct export_file *file,
		      uint64_t rows)
{
	struct tr_json *json = reply_json(ex);
	char location[600];
	struct stat st;

	if (stat(file->path, &st))
		st.st_size = 0;
	(void)snprintf(location, sizeof(location), DOWNLOAD "%s", file->name);
	exchange_add_header(ex, "Location", location);
	tr_json_object(json, NULL);
	tr_json_str(json, "filename", file->name);
	tr_json_str(json, "path", file->path);
	tr_json_str(json, "download_url", location);
	tr_json_u64(json, "size_bytes", (uint64_t)st.st_size);
	tr_json_u64(json, "rows", rows);
	tr_json_end_object(json);
	reply_json_end(ex, 201);
}

/* The slot for the next file; the oldest entry is overwritten. */
static struct export_file *next_file(struct exports *exports)
{
	return &exports->at[exports->n % EXPORTS_N];
}

/* The folder is the server's; a request may set another one. */
static void refuse(struct exchange *ex, const char *folder, int err)
{
	char what[300];

	(void)snprintf(what, sizeof(what), "write the export into '%.250s'",
		       folder);
	if (err == TARE_EPERM || err == TARE_ENOENT)
		problem(ex, 409, "cannot %s: %s; let this user write there, "
				 "or PUT another export_directory",
			what, tare_strerror(err));
	else
		problem_error(ex, what, err);
}

static void make(struct exchange *ex, uint32_t format, const char *table)
{
	struct export_file *file = next_file(&ex->server->exports);
	tare_filter filter = query_filter(&ex->query, ex->now_ns);
	tare_export_options how = {
		.struct_size = sizeof(how),
		.format = format,
		.filter = &filter,
		.table = table,
	};
	char folder[256] = "";
	struct chosen chosen;
	uint64_t rows;
	int err;

	if (!chosen_views(ex, &chosen))
		return;
	if (!chosen.n) {
		problem(ex, 409, "no program is running; name a run with "
				 "run=");
		return;
	}
	err = tare_option_get("export_directory", folder, sizeof(folder));
	if (err >= 0)
		err = tare_export_file(chosen.views, chosen.n, &how, folder,
				       NULL, file->path, sizeof(file->path),
				       &rows);
	if (err) {
		file->path[0] = '\0';
		file->name = NULL;
		refuse(ex, folder, err);
		return;
	}
	file->name = strrchr(file->path, '/');
	file->name = file->name ? file->name + 1 : file->path;
	file->type = tare_format_media_type(format);
	ex->server->exports.n++;
	send_made(ex, file, rows);
}

/* ---- the body ---------------------------------------------------------- */

/* The table that the members name, or NULL; false: refused. */
static bool read_members(struct exchange *ex, const struct document *document,
			 const char **ret_table)
{
	for (size_t i = 0; i < document->n; i++) {
		const struct document_member *member = &document->at[i];

		if (strcmp(member->key, "metric_type") != 0)
			return problem(ex, 422, "there is no '%.60s' to "
				       "choose; metric_type is the table of a "
				       "CSV, the rest is in the query",
				       member->key);
		*ret_table = member->type == DOCUMENT_TEXT ?
				     tr_csv_table(member->value) :
				     NULL;
		if (*ret_table)
			continue;
		return problem(ex, 422, "metric_type is processing, memory, "
			       "gpu, metrics or stats");
	}
	return true;
}

static bool read_body(struct exchange *ex, const char **ret_table)
{
	struct document document;
	size_t len;
	char *text;
	bool ok;

	*ret_table = NULL;
	(void)exchange_body(ex, &len);
	if (!len)
		return true;
	text = body_take(ex);
	ok = text && body_parse(ex, text, &document) &&
	     read_members(ex, &document, ret_table);
	free(text);
	return ok;
}

void handle_export_json(struct exchange *ex)
{
	const char *table;

	if (!read_body(ex, &table))
		return;
	if (table)
		problem(ex, 422, "a JSON export has all types; metric_type is "
				 "for CSV");
	else
		make(ex, TARE_FORMAT_JSON, NULL);
}

void handle_export_csv(struct exchange *ex)
{
	const char *asked = ex->query.table, *table;

	if (!read_body(ex, &table))
		return;
	if (asked && table && strcmp(asked, table) != 0) {
		problem(ex, 400, "the query and the body name different "
				 "tables");
		return;
	}
	if (!table)
		table = asked ? asked : "processing";
	make(ex, TARE_FORMAT_CSV, table);
}

/* ---- names ------------------------------------------------------------- */

const struct export_format export_formats[] = {
	{ "json", "json", TARE_FORMAT_JSON },
	{ "csv", "csv", TARE_FORMAT_CSV },
	{ "prometheus", "prom", TARE_FORMAT_PROMETHEUS },
	{ "openmetrics", "om", TARE_FORMAT_OPENMETRICS },
	{ "protobuf", "pb", TARE_FORMAT_PROTOBUF },
};

static bool find_format(const char *ending, uint32_t *ret_format)
{
	for (size_t i = 0; i < EXPORT_FORMATS; i++) {
		if (strcmp(export_formats[i].ending, ending) != 0)
			continue;
		*ret_format = export_formats[i].format;
		return true;
	}
	return false;
}

/* Skips exactly `n` digits. */
static bool skip_digits(const char **at, size_t n)
{
	if (strspn(*at, DIGITS) != n)
		return false;
	*at += n;
	return true;
}

static bool skip(const char **at, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(*at, text, len) != 0)
		return false;
	*at += len;
	return true;
}

/*
 * Names of exports, as tare_export_file() and periodic exports create them:
 *
 *	metrics_<what>_<YYYYMMDD_HHMMSS>[_<n>].<ending>
 *	metrics_periodic_<what>_<YYYYMMDD_HHMMSS>.<ending>
 *
 * Only letters, digits, _ and one dot: such a name is never a path. False: not
 * the name of an export. Stores its enum tare_format.
 */
static bool parse_name(const char *name, uint32_t *ret_format)
{
	const char *at = name;
	size_t n;

	if (!skip(&at, "metrics_"))
		return false;
	(void)skip(&at, "periodic_");
	n = strspn(at, LETTERS);
	at += n;
	if (!n || !skip(&at, "_") || !skip_digits(&at, 8) ||
	    !skip(&at, "_") || !skip_digits(&at, 6))
		return false;
	if (skip(&at, "_")) {
		n = strspn(at, DIGITS);
		at += n;
		if (!n || n > 4)
			return false;
	}
	return skip(&at, ".") && find_format(at, ret_format);
}

/* ---- download ---------------------------------------------------------- */

static const struct export_file *find_file(const struct exports *exports,
					   const char *name)
{
	for (size_t i = 0; i < EXPORTS_N; i++)
		if (exports->at[i].name &&
		    strcmp(exports->at[i].name, name) == 0)
			return &exports->at[i];
	return NULL;
}

/* Takes the descriptor. */
static void send_file(struct exchange *ex, const struct export_file *file,
		      int fd, size_t size)
{
	char disposition[600];

	(void)snprintf(disposition, sizeof(disposition),
		       "attachment; filename=\"%s\"", file->name);
	exchange_add_header(ex, "Content-Disposition", disposition);
	reply_file(ex, file->type, fd, size);
}

/* -1: there is no such file, or it is not a regular one. */
static int open_regular(int folder, const char *path, size_t *ret_size)
{
	int fd = openat(folder, path,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		*ret_size = (size_t)st.st_size;
		return fd;
	}
	(void)close(fd);
	return -1;
}

/*
 * A file of export_directory: a periodic export, or one of an earlier server.
 * The name has the form of an export's name, so it is not a path.
 */
static void send_found(struct exchange *ex)
{
	struct export_file file = { .name = ex->tail };
	uint32_t format = 0;
	char path[256];
	int folder = -1, fd = -1;
	size_t size = 0;

	if (parse_name(ex->tail, &format) &&
	    tare_option_get("export_directory", path, sizeof(path)) > 0)
		folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder >= 0) {
		fd = open_regular(folder, ex->tail, &size);
		(void)close(folder);
	}
	if (fd < 0) {
		problem(ex, 404, "there is no export of that name");
		return;
	}
	file.type = tare_format_media_type(format);
	send_file(ex, &file, fd, size);
}

void handle_download(struct exchange *ex)
{
	const struct export_file *file =
		find_file(&ex->server->exports, ex->tail);
	size_t size;
	int fd;

	if (!file) {
		send_found(ex);
		return;
	}
	fd = open_regular(AT_FDCWD, file->path, &size);
	if (fd < 0)
		problem(ex, 410, "the file '%s' is gone", file->name);
	else
		send_file(ex, file, fd, size);
}
