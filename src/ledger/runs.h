/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of ledger/runs/: the folders of a user's ledgers: which ledgers exist,
 * which have a live writer; moves those without one to the folder of runs.
 *
 * Comes in: the configured folder. Goes out: entries, read from headers alone.
 * Called by: record/runtime when a program ends, read/view, read/runs,
 * read/control, cli.
 */
#ifndef TR_LEDGER_RUNS_H
#define TR_LEDGER_RUNS_H

#include <sys/types.h>

#include <tare/read/view.h>

#include "base/config.h"
#include "ledger/layout.h"

/* ---- group.c ----------------------------------------------------------- */

#define TR_GROUP_BYTES sizeof(((tare_run_entry *)0)->group)

/* A new name for the processes of this `tare run` of a program. */
void tr_group_name(char name[TR_GROUP_BYTES], const char *path);
/* The command that started them, at most 19 bytes; "": not known. */
void tr_group_command(const char *group, char command[TR_GROUP_BYTES]);
/* Is the word of `len` bytes that command? */
bool tr_group_is_of(const char *group, const char *word, size_t len);

/*
 * Lines that the library writes for `tare run`, beside its messages: kind, id
 * of the process (0: unknown), a space, name of the program.
 */
enum tr_process_kind {
	TR_PROCESS_PROGRAM = 1, /* begins, also in place of another one */
	TR_PROCESS_STATIC,	/* the same, without the library */
	TR_PROCESS_FORK,	/* ends: it ran no other program */
};

/* ---- all others -------------------------------------------------------- */

/* What is configured: folder, how many runs to keep. */
const struct tr_config *tr_runs_config(void);
/* As tare_runs_list(), faster: who was killed has no end. */
int tr_runs_list(tare_run_entry **ret_runs, size_t *ret_n);
/*
 * The run that a word means, of a list as of tr_runs_list(): an id, the
 * beginning of one id, the id of a process, the name of a program or of the
 * command of a group, "last"; the latter ones also with "~N". 0, TARE_ENOENT or
 * TARE_EAMBIGUOUS.
 */
int tr_runs_match(const tare_run_entry *runs, size_t n, const char *which,
		  const tare_run_entry **ret_run);
/* Does it mean all of this group: "last", "COMMAND", each also with "~N"? */
bool tr_runs_is_group(const char *which, const char *group);
/* Is it "PROGRAM" or "PROGRAM~N" of this program? */
bool tr_runs_is_program(const char *which, const char *program);
/* A candidate, where the word is ambiguous. */
bool tr_runs_may_mean(const tare_run_entry *run, const char *which);
/* How many there are of the program of "program~N", or of all for "last~N". */
size_t tr_runs_count(const tare_run_entry *runs, size_t n, const char *which);
/* The run stands for its group, if it has one. `run` is one of the list. */
bool tr_runs_is_main(const tare_run_entry *runs, size_t n,
		     const tare_run_entry *run);
/* `tare run` has reported it. Failures are ignored: then the newest is last. */
void tr_runs_note_last(const tare_run_entry *run);
/* The id noted last where the run's ledger is; "": none. */
void tr_runs_noted(const tare_run_entry *run, char *id, size_t size);
/* Folders of this user, from the configuration. 0 or an error. */
int tr_runs_folders(char *live, char *runs, size_t size);
/* The first of these that cannot be used; "": both can. */
void tr_runs_refused(char *path, size_t size);
/* Is the user's folder unusable, and are runs kept in a spare one? */
bool tr_runs_are_spared(char *path, size_t size);
/* Value of a key in a metadata page, "" if absent; copied. */
void tr_meta_value(const char *meta, const char *key, char *out, size_t size);
/* Header and metadata of a file. */
int tr_runs_peek(const char *path, struct tr_header *header,
		 char meta[TR_META_BYTES]);
/* Of the ledger at `path`, which may be NULL: it has no file. */
enum tare_run_state tr_runs_state(const struct tr_header *header,
				  const char *path);
/* The entry of the ledger at a path, as in the list. 0 or an error. */
int tr_runs_entry(const char *path, tare_run_entry *ret_run);
/* Certainly: the file may be moved. */
bool tr_runs_is_over(const struct tr_header *header, const char *path);

/* Folder and number of runs are this configuration's from now on. */
void tr_runs_use(const struct tr_config *config);
/* Puts some ledgers of the dead away, if there are any. */
void tr_runs_tidy(void);
/*
 * A child of the calling process has exited, and was not killed: its ledgers
 * of that group are finished, even if it could not mark them.
 */
void tr_runs_end(pid_t pid, const char *group);
/* The ledger as it is now becomes what readers subtract. 0 or an error. */
int tr_runs_clear(const char *path);
/*
 * Of at most `most` ledgers; how many were moved or deleted, or an error.
 * `ret_deleted` may be NULL: runs, of which a group's ledgers are one.
 */
int tr_runs_sweep(int most, uint64_t *ret_deleted);

/*
 * By its metadata page: in a folder that hosts share, only the host itself
 * knows which of its processes live.
 */
bool tr_runs_is_of_host(const char *meta);
/* Endings of the files beside a ledger, which go with it; ends with NULL. */
extern const char *const tr_runs_beside[];
/* Deletes a ledger and the files beside it, without any question. */
bool tr_runs_unlink(const char *path);
/* Bytes on disk of a run's ledger and of the files beside it. */
uint64_t tr_runs_bytes(const char *path);
/* Deletes a run. TARE_EBUSY: it is live, or another host has to say so. */
int tr_runs_remove(const char *path);

#endif
