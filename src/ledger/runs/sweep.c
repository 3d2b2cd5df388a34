/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sweep: moves ledgers of ended processes, and deletes the oldest runs.
 *
 * `tare run` sweeps all, and waits until the copies are on the disk. A measured
 * program sweeps a few when it ends, so that programs that run without the
 * command do not leave many behind; it does not wait for the disk.
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

bool tr_runs_is_of_host(const char *meta)
{
	struct utsname name;
	char host[sizeof(name.nodename)];

	tr_meta_value(meta, "host", host, sizeof(host));
	return uname(&name) == 0 && strcmp(name.nodename, host) == 0;
}

/* Moves it to the folder of runs; NULL: deletes it. Never if it may be live. */
static bool put_away(const tare_run_entry *entry, const char *runs,
		     bool is_settled)
{
	char to[600] = "", meta[TR_META_BYTES];
	struct tr_header header;
	const struct tr_region *arena = &header.region[TR_REGION_ARENA];

	if (tr_runs_peek(entry->path, &header, meta) ||
	    header.major != TR_FORMAT_MAJOR || !tr_runs_is_of_host(meta) ||
	    !tr_runs_is_over(&header, entry->path))
		return false;
	if (runs) {
		(void)snprintf(to, sizeof(to), "%s/%s.tare", runs, entry->id);
		if (tr_file_copy_sparse(entry->path, to,
					arena->off + arena->used,
					tr_sums_write) ||
		    (is_settled && tr_file_settle(to)))
			return false;
	}
	(void)unlink(entry->path);
	move_beside(entry->path, to, ".base");
	move_beside(entry->path, "", ".ctl");
	return true;
}

const char *const tr_runs_beside[] = { ".base", ".svg", ".end", ".ctl",
				       ".map", NULL };

bool tr_runs_unlink(const char *path)
{
	bool done = unlink(path) == 0;

	for (size_t i = 0; tr_runs_beside[i]; i++)
		move_beside(path, "", tr_runs_beside[i]);
	return done;
}

/* ---- runs to keep ------------------------------------------------------- */

/*
 * All ledgers of a group are one run: the processes of one `tare run`, the
 * ranks of a parallel program. They need not be adjacent in the list.
 */
struct run_group {
	const char *name;
	bool is_kept, is_counted, is_deleted;
};

struct keeping {
	struct run_group *group; /* groups found so far */
	size_t n;
	uint64_t left;	  /* runs that may still be kept */
	uint64_t deleted; /* runs, not ledgers */
	bool is_settled;  /* wait for the disk */
};

static struct run_group *group_of(struct keeping *keeping, const char *name)
{
	for (size_t i = 0; i < keeping->n; i++)
		if (strcmp(keeping->group[i].name, name) == 0)
			return &keeping->group[i];
	return NULL;
}

static void keep_group(struct keeping *keeping, const char *name)
{
	if (name && name[0] && !group_of(keeping, name))
		keeping->group[keeping->n++] =
			(struct run_group){ .name = name, .is_kept = true };
}

/* Ledgers of a run that is live are kept, however old: also this one's. */
static int keep_what_is_under_way(struct keeping *keeping,
				  const tare_run_entry *entry, size_t n)
{
	keeping->group = calloc(n + 1, sizeof(*keeping->group));
	if (!keeping->group)
		return TARE_ENOMEM;
	keep_group(keeping, secure_getenv("TARE_GROUP"));
	for (size_t i = 0; i < n; i++)
		if (entry[i].state == TARE_RUN_LIVE)
			keep_group(keeping, entry[i].group);
	return 0;
}

static bool count_run(struct keeping *keeping)
{
	bool is_kept = keeping->left > 0;

	keeping->left -= is_kept;
	return is_kept;
}

/* For entries that are not live, newest first. */
static bool may_stay(struct keeping *keeping, const tare_run_entry *entry)
{
	struct run_group *group;

	if (!entry->group[0])
		return count_run(keeping);
	group = group_of(keeping, entry->group);
	if (!group) {
		group = &keeping->group[keeping->n++];
		*group = (struct run_group){ .name = entry->group };
		group->is_kept = count_run(keeping);
	} else if (!group->is_counted) {
		(void)count_run(keeping);
	}
	group->is_counted = true;
	return group->is_kept;
}

static void count_deleted(struct keeping *keeping, const tare_run_entry *entry)
{
	struct run_group *group = entry->group[0] ?
				      group_of(keeping, entry->group) :
				      NULL;

	keeping->deleted += !group || !group->is_deleted;
	if (group)
		group->is_deleted = true;
}

static int sweep(struct keeping *keeping, const char *live, const char *runs,
		 const tare_run_entry *entry)
{
	bool in_live = strncmp(entry->path, live, strlen(live)) == 0;
	bool stays = may_stay(keeping, entry), moved = false;

	if (in_live)
		moved = put_away(entry, stays ? runs : NULL,
				 keeping->is_settled);
	else if (!stays)
		moved = tr_runs_unlink(entry->path);
	if (moved && !stays)
		count_deleted(keeping, entry);
	return moved;
}

static int sweep_some(int most, bool is_settled, uint64_t *ret_deleted)
{
	char live[400], runs[400];
	struct keeping keeping = { .left = tr_runs_config()->keep_runs,
				   .is_settled = is_settled };
	tare_run_entry *entry = NULL;
	size_t n = 0;
	int err = tr_runs_folders(live, runs, sizeof(live)), moved = 0;

	if (!err)
		err = tr_runs_list(&entry, &n);
	if (!err)
		err = keep_what_is_under_way(&keeping, entry, n);
	for (size_t i = 0; !err && i < n && moved < most; i++)
		if (entry[i].state != TARE_RUN_LIVE)
			moved += sweep(&keeping, live, runs, &entry[i]);
	free(keeping.group);
	free(entry);
	if (!err && ret_deleted)
		*ret_deleted = keeping.deleted;
	return err ? err : moved;
}

int tr_runs_sweep(int most, uint64_t *ret_deleted)
{
	return sweep_some(most, true, ret_deleted);
}

/* ---- sweep at the end of a program ------------------------------------- */

/* TIME-PID.tare of a process that does not exist. */
static bool is_left_behind(const char *name)
{
	const char *pid = strrchr(name, '-');
	long long number = pid ? strtoll(pid + 1, NULL, 10) : 0;

	return number > 0 && kill((pid_t)number, 0) && errno == ESRCH;
}

/* By names only: nothing is opened. */
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

/*
 * For a group, `tare run` sweeps at the end, not each process. A few runs more
 * than are kept may be there: a sweep reads the headers of all of them.
 */
void tr_runs_tidy(void)
{
	uint64_t keep = tr_runs_config()->keep_runs;
	char live[400], runs[400];

	if (!secure_getenv("TARE_GROUP") &&
	    tr_runs_folders(live, runs, sizeof(live)) == 0 &&
	    (count_ledgers(live, true) ||
	     count_ledgers(runs, false) > keep + keep / 8))
		(void)sweep_some(SWEEP_AT_EXIT, false, NULL);
}
