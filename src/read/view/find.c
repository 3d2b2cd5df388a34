/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the ledger for a user's argument: a path, which has a slash, the id of
 * a process, or another word for a run (tr_runs_match).
 */
#include "read/view.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "ledger/runs.h"

/* The writer of a ledger or control page, as stored in it. */
static bool read_writer(const char *path, const char *suffix,
			struct tr_identity *writer)
{
	struct tr_control control = { 0 };
	struct tr_header header;
	char meta[TR_META_BYTES];
	bool is_read;
	int fd;

	if (strcmp(suffix, ".tare") == 0) {
		if (tr_runs_peek(path, &header, meta))
			return false;
		writer->pid = header.pid;
		writer->start_time = header.start_time;
		return true;
	}
	fd = tr_file_open_regular(path, O_RDONLY);
	if (fd < 0)
		return false;
	is_read = tr_file_read_at(fd, &control, sizeof(control), 0);
	(void)close(fd);
	if (!is_read || control.magic != TR_CONTROL_MAGIC)
		return false;
	writer->pid = control.pid;
	writer->start_time = control.start_time;
	return true;
}

/* Id of a process in its own namespace: the last one listed. */
static uint32_t inner_pid(int64_t pid)
{
	char path[64], text[4096];
	const char *at, *end;

	(void)snprintf(path, sizeof(path), "/proc/%lld/status",
		       (long long)pid);
	(void)tr_file_text(path, text, sizeof(text));
	at = strstr(text, "\nNSpid:");
	end = at ? strchr(at + 1, '\n') : NULL;
	if (!end)
		return (uint32_t)pid;
	while (end > at && end[-1] >= '0' && end[-1] <= '9')
		end--;
	return (uint32_t)strtoul(end, NULL, 10);
}

/*
 * A forked child still maps what its parent wrote. Compares the id and the
 * start time, which has a coarse clock.
 */
static bool is_written_by(const char *path, const char *suffix, int64_t pid)
{
	struct tr_identity writer;

	tr_identity_self(&writer);
	if (!read_writer(path, suffix, &writer) ||
	    writer.pid != inner_pid(pid))
		return false;
	writer.pid = (uint32_t)pid;
	return tr_identity_alive(&writer);
}

int tr_runs_of_process(int64_t pid, const char *suffix, char *path,
		       size_t size)
{
	char maps[64], line[1024];
	size_t want = strlen(suffix);
	FILE *file;
	int err = TARE_ENOENT;

	(void)snprintf(maps, sizeof(maps), "/proc/%lld/maps", (long long)pid);
	file = fopen(maps, "re");
	if (!file)
		return errno == EACCES ? TARE_EPERM : TARE_EDEAD;
	while (err && fgets(line, sizeof(line), file)) {
		char *name = strchr(line, '/');
		size_t len = name ? strcspn(name, "\n") : 0;

		if (len < want || strncmp(name + len - want, suffix, want) != 0)
			continue;
		name[len] = '\0';
		/* Through its root folder: it may be in a container. */
		if ((size_t)snprintf(path, size, "/proc/%lld/root%s",
				     (long long)pid, name) < size &&
		    is_written_by(path, suffix, pid))
			err = 0;
	}
	(void)fclose(file);
	return err;
}

int tr_runs_find(const char *which, char *path, size_t size)
{
	const tare_run_entry *found;
	tare_run_entry *runs;
	uint64_t pid;
	size_t n;
	int err;

	if (strchr(which, '/'))
		return (size_t)snprintf(path, size, "%s", which) < size ?
			       0 :
			       TARE_EINVAL;
	/* Also of a process in a container, which no list has. */
	if (tr_parse_u64(which, &pid) && pid <= INT32_MAX &&
	    tr_runs_of_process((int64_t)pid, ".tare", path, size) == 0)
		return 0;
	err = tr_runs_list(&runs, &n);
	if (err)
		return err;
	err = tr_runs_match(runs, n, which, &found);
	if (!err && (size_t)snprintf(path, size, "%s", found->path) >= size)
		err = TARE_EINVAL;
	free(runs);
	return err;
}
