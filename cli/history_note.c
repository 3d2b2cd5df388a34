/* SPDX-License-Identifier: Apache-2.0 */
/*
 * History: where it is, what is added to it and when.
 *
 * Writing is a by-product of other commands: it never changes their output or
 * status. Only `tare history` says what is wrong.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/config.h"
#include "history_summary.h"
#include "ledger/runs.h"
#include "message.h"

#define WAIT_NOTE_MS 250	/* at a program's end, for other writers */
#define WAIT_ASKED_MS 10000	/* for `tare history` */

bool history_path(char *path, size_t size)
{
	char live[400], runs[400], *slash;

	if (tr_runs_folders(live, runs, sizeof(live)))
		return false;
	slash = strrchr(runs, '/');
	if (!slash)
		return false;
	*slash = '\0';
	return snprintf(path, size, "%s/history.sqlite", runs) < (int)size;
}

bool history_is_wanted(void)
{
	return store_is_there() && tr_runs_config()->history != TR_HISTORY_OFF;
}

/* ---- the program of `tare run` ----------------------------------------- */

void history_begin(struct history_start *start)
{
	char folder[PATH_MAX];

	*start = (struct history_start){ .is_tree = false };
	if (!history_is_wanted() || !getcwd(folder, sizeof(folder)))
		return;
	start->is_tree = work_tree_find(folder, &start->tree);
	if (start->is_tree)
		work_tree_ask(start->tree.root, &start->question);
}

static double seconds_ns(struct timeval time)
{
	return (double)time.tv_sec * 1e9 + (double)time.tv_usec * 1e3;
}

/* No process of it has left a ledger. */
static void without_view(struct summary *summary, const char *host)
{
	summary->run = (struct store_run){
		.source = "run",
		.project = "",
		.machine = host,
		.cpu = "",
		.revision = "",
		.build_id = "",
		.version = "",
		.processes = 1,
		.dirty = STORE_UNKNOWN,
	};
}

/* What the process that waited for the program knows better. */
static void from_outcome(struct summary *summary,
			 const struct outcome *outcome)
{
	const struct child *child = &outcome->child;
	struct store_run *run = &summary->run;

	run->key = outcome->group.name;
	summary_command(summary, outcome->args->operands,
			outcome->args->n_operands);
	run->started_ns = outcome->ended_ns - (int64_t)child->wall_ns;
	run->wall_ns = (double)child->wall_ns;
	run->cpu_ns = seconds_ns(child->usage.ru_utime) +
		      seconds_ns(child->usage.ru_stime);
	run->peak_bytes = (double)child->usage.ru_maxrss * 1024;
	run->exit_status = child_code(child);
	run->state = WIFSIGNALED(child->status) ? "killed" : "finished";
}

static void from_start(struct summary *summary, struct history_start *start)
{
	char folder[PATH_MAX];

	summary->run.dirty = work_tree_answer(&start->question);
	if (!start->is_tree) {
		if (!summary->run.project[0] && getcwd(folder, PATH_MAX))
			summary->run.project = summary_text(summary, folder,
							    strlen(folder));
		return;
	}
	summary->run.project = start->tree.root;
	if (start->tree.revision[0])
		summary->run.revision = start->tree.revision;
}

static void write_one(const struct summary *summary)
{
	char path[500];
	struct store *store;
	bool is_new;

	if (!history_path(path, sizeof(path)) ||
	    store_open(path, true, WAIT_NOTE_MS, &store))
		return;
	if (!store_begin(store)) {
		if (store_add(store, &summary->run, &is_new) ||
		    store_commit(store))
			store_rollback(store);
	}
	store_close(store);
}

void history_note(const struct outcome *outcome, tare_view *view,
		  const struct tr_programs *programs,
		  struct history_start *start)
{
	struct summary summary = { .n_texts = 0 };
	char host[64] = "";

	if (!history_is_wanted()) {
		(void)work_tree_answer(&start->question);
		return;
	}
	(void)gethostname(host, sizeof(host) - 1);
	/* Names were looked up for the report, or take too long. */
	if (view)
		summary_of_view(&summary, view, outcome->text != NULL);
	else
		without_view(&summary, host);
	if (programs)
		summary_of_programs(&summary, programs);
	from_outcome(&summary, outcome);
	from_start(&summary, start);
	write_one(&summary);
	summary_release(&summary);
}

/* ---- runs that ended without it ---------------------------------------- */

static const char *key_of(const tare_run_entry *run)
{
	return run->group[0] ? run->group : run->id;
}

static bool is_live(const tare_run_entry *runs, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (runs[i].state == TARE_RUN_LIVE &&
		    strcmp(key_of(&runs[i]), key) == 0)
			return true;
	return false;
}

static enum store_error add_group(struct store *store,
				  const tare_run_entry *runs, size_t n,
				  const char *key)
{
	struct summary summary = { .n_texts = 0 };
	struct group group = { .n = 0 };
	enum store_error err = STORE_OK;
	bool is_new;

	group.runs = calloc(n, sizeof(*group.runs));
	if (!group.runs)
		return STORE_OK; /* the next command tries again */
	for (size_t i = 0; i < n; i++)
		if (strcmp(key_of(&runs[i]), key) == 0)
			group.runs[group.n++] = runs[i];
	if (summary_of_group(&summary, &group))
		err = store_add(store, &summary.run, &is_new);
	summary_release(&summary);
	free(group.runs);
	return err;
}

static enum store_error add_missing(struct store *store,
				    const tare_run_entry *runs, size_t n,
				    size_t most)
{
	enum store_error err = STORE_OK;

	/* The newest first: where only some fit, these. */
	for (size_t i = 0; i < n && most && !err; i++) {
		const char *key = key_of(&runs[i]);
		bool has = false;

		err = store_has(store, key, &has);
		if (err || has || is_live(runs, n, key))
			continue;
		err = add_group(store, runs, n, key);
		most--;
	}
	return err;
}

enum store_error history_sync(struct store *store, size_t most)
{
	tare_run_entry *runs;
	enum store_error err;
	size_t n;

	if (tr_runs_list(&runs, &n))
		return STORE_OK;
	err = store_begin(store);
	if (!err) {
		err = add_missing(store, runs, n, most);
		if (!err)
			err = store_commit(store);
		if (err)
			store_rollback(store);
	}
	tare_runs_free(runs);
	return err;
}

/* ns since 1970 of a file's last change; 0: there is none. */
static int64_t changed_ns(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 :
				 (int64_t)st.st_mtim.tv_sec * 1000000000 +
					 st.st_mtim.tv_nsec;
}

void history_catch_up(size_t most)
{
	char path[500], live[400], runs[400];
	struct store *store;

	if (!history_is_wanted() || !history_path(path, sizeof(path)) ||
	    tr_runs_folders(live, runs, sizeof(live)) ||
	    changed_ns(runs) <= changed_ns(path))
		return;
	if (store_open(path, true, 0, &store))
		return;
	/* In WAL mode the file itself changes rarely. */
	if (!history_sync(store, most))
		(void)utimensat(AT_FDCWD, path, NULL, 0);
	store_close(store);
}

/* ---- for the command --------------------------------------------------- */

int history_error(const char *what, enum store_error err)
{
	char path[500] = "history";

	(void)history_path(path, sizeof(path));
	if (err == STORE_BUSY)
		message("cannot %s '%s': another process has locked it", what,
			path);
	else if (err == STORE_FULL)
		message("cannot %s '%s': no space on the device", what, path);
	else if (err == STORE_NEWER)
		message("cannot %s '%s': a newer tare wrote it: %s", what,
			path, store_why());
	else
		message("cannot %s '%s': %s", what, path, store_why());
	return CODE_IO;
}

static enum store_error open_and_sync(const char *path,
				      struct store **ret_store)
{
	enum store_error err = store_open(path, true, WAIT_ASKED_MS,
					  ret_store);

	if (err)
		return err;
	err = history_is_wanted() ? history_sync(*ret_store, SIZE_MAX) :
				    STORE_OK;
	/* Who cannot write can still read. */
	if (err == STORE_DAMAGED)
		store_close(*ret_store);
	else if (err)
		(void)history_error("write to", err);
	return err == STORE_DAMAGED ? err : STORE_OK;
}

int history_mend(void)
{
	char path[500], aside[600];
	enum store_error err;
	size_t n = 0;

	if (!history_path(path, sizeof(path)))
		return CODE_IO;
	err = store_repair(path, &n, aside, sizeof(aside));
	if (err)
		return history_error("repair", err);
	message("the history was damaged: %zu of its runs could be read, the "
		"others are added from their ledgers; the damaged file is "
		"'%s'", n, aside);
	return CODE_OK;
}

int history_open(struct store **ret_store)
{
	char path[500];
	enum store_error err;
	int code;

	if (!store_is_there()) {
		message("no history: %s", store_why());
		return CODE_IO;
	}
	if (!history_path(path, sizeof(path))) {
		message("no history: there is no folder for runs");
		return CODE_IO;
	}
	err = open_and_sync(path, ret_store);
	if (err != STORE_DAMAGED)
		return err ? history_error("open", err) : CODE_OK;
	code = history_mend();
	if (code)
		return code;
	err = open_and_sync(path, ret_store);
	return err ? history_error("open", err) : CODE_OK;
}
