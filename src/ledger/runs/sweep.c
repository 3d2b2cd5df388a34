/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweep: ledgers of the dead are put away, and the oldest runs deleted.
 *
 * `tare run` sweeps all. A measured program sweeps a little when it ends, so
 * that programs which never meet the command leave no heap either.
 */
#include "ledger/runs.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define SWEEP_AT_EXIT 16 /* runs, at most */

static void move_beside(const char *from, const char *to, const char *suffix)
{
	char a[800], b[800];
	struct stat st;

	(void)snprintf(a, sizeof(a), "%.*s%s", (int)strlen(from) - 5, from,
		       suffix);
	(void)snprintf(b, sizeof(b), "%.*s%s", (int)strlen(to) - 5, to,
		       suffix);
	if (stat(a, &st) == 0) {
		if (to[0] && tr_file_copy_sparse(a, b, (uint64_t)st.st_size,
						 tr_sums_write))
			return;
		(void)unlink(a);
	}
}

/* On a folder that hosts share: only a host knows who of its lives. */
static bool is_of_this_host(const char *meta)
{
	struct utsname name;
	char host[sizeof(name.nodename)];

	tr_meta_value(meta, "host", host, sizeof(host));
	return uname(&name) == 0 && strcmp(name.nodename, host) == 0;
}

/* Into the folder of runs; NULL: away with it. Not what may live. */
static bool put_away(const tare_run_entry *entry, const char *runs)
{
	char to[600] = "", meta[TR_META_BYTES];
	struct tr_header header;
	const struct tr_region *arena = &header.region[TR_REGION_ARENA];

	if (tr_runs_peek(entry->path, &header, meta) ||
	    header.major != TR_FORMAT_MAJOR || !is_of_this_host(meta) ||
	    !tr_runs_is_over(&header, entry->path))
		return false;
	if (runs) {
		(void)snprintf(to, sizeof(to), "%s/%s.tare", runs, entry->id);
		if (tr_file_copy_sparse(entry->path, to,
					arena->off + arena->used,
					tr_sums_write))
			return false;
	}
	(void)unlink(entry->path);
	move_beside(entry->path, to, ".base");
	move_beside(entry->path, "", ".ctl");
	return true;
}

static bool unlink_run(const char *path)
{
	bool done = unlink(path) == 0;

	move_beside(path, "", ".base");
	move_beside(path, "", ".svg");
	move_beside(path, "", ".end");
	return done;
}

/* Ranks of a parallel program, side by side in the list, are one run. */
static bool is_counted(const tare_run_entry *entry, size_t i)
{
	return !i || strncmp(entry[i].group, "mpi-", 4) != 0 ||
	       strcmp(entry[i].group, entry[i - 1].group) != 0;
}

int tr_runs_sweep(int most)
{
	char live[400], runs[400];
	tare_run_entry *entry;
	uint64_t kept = 0, keep = tr_runs_config()->keep_runs;
	size_t n;
	int err = tr_runs_folders(live, runs, sizeof(live)), moved = 0;

	if (!err)
		err = tr_runs_list(&entry, &n);
	if (err)
		return err;
	for (size_t i = 0; i < n && moved < most; i++) {
		bool in_live = strncmp(entry[i].path, live, strlen(live)) == 0;

		if (entry[i].state == TARE_RUN_LIVE)
			continue;
		if (in_live)
			moved += put_away(&entry[i],
					  kept < keep ? runs : NULL);
		else if (kept >= keep)
			moved += unlink_run(entry[i].path);
		kept += is_counted(entry, i);
	}
	free(entry);
	return moved;
}

/* ---- a little, at a program's end --------------------------------------- */

/* TIME-PID.tare of a process that is not there. */
static bool is_left_behind(const char *name)
{
	const char *pid = strrchr(name, '-');
	long long number = pid ? strtoll(pid + 1, NULL, 10) : 0;

	return number > 0 && kill((pid_t)number, 0) && errno == ESRCH;
}

/* Names alone: nothing is opened. */
static uint64_t count_ledgers(const char *folder, bool left_behind)
{
	DIR *stream = opendir(folder);
	const struct dirent *file;
	uint64_t n = 0;

	while (stream && (file = readdir(stream))) {
		size_t len = strlen(file->d_name);

		n += len > 5 && strcmp(file->d_name + len - 5, ".tare") == 0 &&
		     (!left_behind || is_left_behind(file->d_name));
	}
	if (stream)
		(void)closedir(stream);
	return n;
}

void tr_runs_tidy(void)
{
	char live[400], runs[400];

	if (tr_runs_folders(live, runs, sizeof(live)) == 0 &&
	    (count_ledgers(live, true) ||
	     count_ledgers(runs, false) > tr_runs_config()->keep_runs))
		(void)tr_runs_sweep(SWEEP_AT_EXIT);
}
