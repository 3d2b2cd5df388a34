/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The last run: the one that the last `tare run` reported.
 *
 * A program that starts others leaves a run of each, and the newest is the one
 * that began last: for gcc the assembler. After `tare run` the user means the
 * run that it reported. The run's id is stored in a file beside the folder of
 * runs, and is used for runs of the same group.
 */
#include "ledger/runs.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

void tr_runs_noted(const tare_run_entry *run, char *id, size_t size)
{
	char path[PATH_BYTES];
	FILE *file;

	id[0] = '\0';
	if (!run->group[0] || !file_beside(run->path, path, sizeof(path)))
		return;
	file = fopen(path, "re");
	if (!file)
		return;
	if (!fgets(id, (int)size, file))
		id[0] = '\0';
	(void)fclose(file);
	id[strcspn(id, "\n")] = '\0';
}
