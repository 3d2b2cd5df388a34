/* SPDX-License-Identifier: Apache-2.0 */
#include "exports.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tare/control.h>
#include <tare/export.h>

#include "chosen.h"
#include "handlers.h"
#include "problem.h"
#include "reply.h"

#define DOWNLOAD "/api/metrics/export/download/"

static void send_made(struct exchange *ex, const struct export_file *file,
		      uint64_t rows)
{
	struct json *json = reply_json(ex);
	char location[600];
	struct stat st;

	if (!json)
		return;
	if (stat(file->path, &st))
		st.st_size = 0;
	(void)snprintf(location, sizeof(location), DOWNLOAD "%s", file->name);
	exchange_add_header(ex, "Location", location);
	json_begin_object(json, NULL);
	json_text(json, "filename", file->name);
	json_text(json, "path", file->path);
	json_text(json, "download_url", location);
	json_unsigned(json, "size_bytes", (uint64_t)st.st_size);
	json_unsigned(json, "rows", rows);
	json_end_object(json);
	reply_json_end(ex, 201);
}

/* Of a file that takes the place of an old one, that one is forgotten. */
static struct export_file *next_file(struct exports *exports)
{
	return &exports->at[exports->n % EXPORTS_N];
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
	char folder[256];
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
		problem_error(ex, "write the export", err);
		return;
	}
	file->name = strrchr(file->path, '/');
	file->name = file->name ? file->name + 1 : file->path;
	file->type = tare_format_media_type(format);
	ex->server->exports.n++;
	send_made(ex, file, rows);
}

void handle_export_json(struct exchange *ex)
{
	make(ex, TARE_FORMAT_JSON, NULL);
}

void handle_export_csv(struct exchange *ex)
{
	make(ex, TARE_FORMAT_CSV,
	     ex->query.table ? ex->query.table : "processing");
}

/* ---- download ------------------------------------------------------------ */

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

void handle_download(struct exchange *ex)
{
	const struct export_file *file =
		find_file(&ex->server->exports, ex->tail);
	struct stat st;
	int fd;

	if (!file) {
		problem(ex, 404, "this server made no file of that name");
		return;
	}
	fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		if (fd >= 0)
			(void)close(fd);
		problem(ex, 410, "the file '%s' is gone", file->name);
		return;
	}
	send_file(ex, file, fd, (size_t)st.st_size);
}
