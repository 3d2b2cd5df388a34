/* SPDX-License-Identifier: Apache-2.0 */
#include "last.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ID_BYTES sizeof(((tare_run_entry *)0)->id)

/* "STATE/runs/ID.tare" to "STATE/last"; false: a live one, elsewhere. */
static bool file_beside(const char *run_path, char *path, size_t size)
{
	const char *name = strrchr(run_path, '/');
	int n = name ? (int)(name - run_path) : 0;

	if (n < 5 || strncmp(name - 5, "/runs", 5) != 0)
		return false;
	return (size_t)snprintf(path, size, "%.*s/last", n - 5, run_path) <
	       size;
}

void last_note(const tare_run_entry *run)
{
	char path[sizeof(run->path) + 8], draft[sizeof(path) + 24];
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
	char path[sizeof(newest->path) + 8];
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

bool last_find(char *path, size_t size)
{
	char id[ID_BYTES] = "";
	tare_run_entry *runs;
	bool is_found = false;
	size_t n;

	if (tare_runs_list(&runs, &n))
		return false;
	if (!n || !read_id(&runs[0], id))
		n = 0;
	for (size_t i = 0; i < n; i++)
		if (strcmp(runs[i].id, id) == 0 &&
		    strcmp(runs[i].group, runs[0].group) == 0) {
			is_found = (size_t)snprintf(path, size, "%s",
						    runs[i].path) < size;
			break;
		}
	tare_runs_free(runs);
	return is_found;
}
