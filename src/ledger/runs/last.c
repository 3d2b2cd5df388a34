/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last run: the one that the last `tare run` reported.
 *
 * A program that starts others leaves a run of each, and the newest is the one
 * that began last: for gcc the assembler. After `tare run` the user means the
 * run that it reported. The run's id is stored in a file beside the folder of
 * runs, and is valid while the newest run is of the same group.
 */
#include "ledger/runs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ID_BYTES sizeof(((tare_run_entry *)0)->id)
#define PATH_BYTES (sizeof(((tare_run_entry *)0)->path) + 8)

/* "STATE/runs/ID.tare" to "STATE/last"; false: a live run, elsewhere. */
static bool file_beside(const char *run_path, char *path, size_t size)
{
	const char *name = strrchr(run_path, '/');
	int n = name ? (int)(name - run_path) : 0;

	if (n < 5 || strncmp(name - 5, "/runs", 5) != 0)
		return false;
	return (size_t)snprintf(path, size, "%.*s/last", n - 5, run_path) <
	       size;
}

void tr_runs_note_last(const tare_run_entry *run)
{
	char path[PATH_BYTES], draft[PATH_BYTES + 24];
	FILE *file;
	bool is_written;

	if (!file_beside(run->path, path, sizeof(path)))
		return;
	(void)snprintf(draft, sizeof(draft), "%s.%lld", path,
		       (long long)getpid());
	file = fopen(draft, "we");
	if (!file)
		return;
	is_written = fprintf(file, "%s\n", run->id) > 0;
	if (fclose(file) || !is_written || rename(draft, path))
		(void)unlink(draft);
}

static bool read_id(const tare_run_entry *newest, char *id)
{
	char path[PATH_BYTES];
	FILE *file;
	bool is_read;

	if (!newest->group[0] ||
	    !file_beside(newest->path, path, sizeof(path)))
		return false;
	file = fopen(path, "re");
	if (!file)
		return false;
	is_read = fgets(id, ID_BYTES, file) != NULL;
	(void)fclose(file);
	id[strcspn(id, "\n")] = '\0';
	return is_read;
}

const tare_run_entry *tr_runs_last(const tare_run_entry *runs, size_t n)
{
	char id[ID_BYTES] = "";

	if (!n)
		return NULL;
	for (size_t i = 0; i < n && (id[0] || read_id(&runs[0], id)); i++)
		if (strcmp(runs[i].id, id) == 0 &&
		    strcmp(runs[i].group, runs[0].group) == 0)
			return &runs[i];
	return &runs[0];
}
