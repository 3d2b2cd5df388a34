/* SPDX-License-Identifier: Apache-2.0 */
/*
 * End: marks the ledger of a process that has exited as finished.
 *
 * A program that ends by a system call of its own (Go's os.Exit(), a runtime
 * without libc) cannot mark it. Its parent has seen its status, and knows what
 * no other process can: that it was not killed.
 */
#include "ledger/runs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Is it a ledger of this process, by its name? */
static bool has_pid(const char *name, pid_t pid)
{
	char tail[32];
	size_t len = strlen(name), n;

	n = (size_t)snprintf(tail, sizeof(tail), "-%ld.tare", (long)pid);
	return len > n && strcmp(name + len - n, tail) == 0;
}

/* No process writes to it any more. */
static bool may_end(const char *path, const char *group,
		    struct tr_header *ret_header)
{
	char meta[TR_META_BYTES], of[64];

	if (tr_runs_peek(path, ret_header, meta) ||
	    ret_header->major != TR_FORMAT_MAJOR ||
	    ret_header->state != TR_STATE_LIVE)
		return false;
	tr_meta_value(meta, "group", of, sizeof(of));
	return strcmp(of, group) == 0 && tr_runs_is_over(ret_header, path);
}

/* First the time, then the mark, as the program itself does. */
static void end_ledger(const char *path, const struct tr_header *header)
{
	int fd = tr_file_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
	uint32_t state = TR_STATE_FINISHED;
	struct tr_anchor end;

	if (fd < 0)
		return;
	tr_anchor_take(&end, header->clock != TR_CLOCK_KIND_MONOTONIC);
	if (tr_file_write_at(fd, &end, sizeof(end),
			     offsetof(struct tr_header, end)) == 0)
		(void)tr_file_write_at(fd, &state, sizeof(state),
				       offsetof(struct tr_header, state));
	(void)close(fd);
}

void tr_runs_end(pid_t pid, const char *group)
{
	char live[400], runs[400], path[800];
	const struct dirent *file;
	struct tr_header header;
	DIR *stream;

	if (tr_runs_folders(live, runs, sizeof(live)))
		return;
	stream = opendir(live);
	while (stream && (file = readdir(stream))) {
		(void)snprintf(path, sizeof(path), "%s/%s", live,
			       file->d_name);
		if (has_pid(file->d_name, pid) &&
		    may_end(path, group, &header))
			end_ledger(path, &header);
	}
	if (stream)
		(void)closedir(stream);
}
