/* SPDX-License-Identifier: Apache-2.0 */
/*
 * History: a summary of each run that has ended, kept when the run is gone.
 *
 * `tare run` leaves it at the program's end; runs that ended without it are
 * found by the next command that lists or shows runs. The database is in
 * store/, the option `history` says what is kept.
 */
#ifndef CLI_HISTORY_H
#define CLI_HISTORY_H

#include "outcome.h"
#include "read/profile.h"
#include "store/store.h"
#include "work_tree.h"

/* The path of the user's history; false: there is no folder for it. */
bool history_path(char *path, size_t size);
/* May it be written? As the option and the build say. */
bool history_is_wanted(void);

/* What `tare run` knows of the program's start. */
struct history_start {
	struct work_tree tree;
	struct work_tree_question question;
	bool is_tree;
};

/* Before the program runs. */
void history_begin(struct history_start *start);
/* At its end, silently: a summary that cannot be written now is found later,
 * except for the arguments' exact form and the exit status. */
void history_note(const struct outcome *outcome, tare_view *view,
		  const struct tr_programs *programs,
		  struct history_start *start);

/*
 * Adds the runs that ended and are not in the history, at most `most` of them,
 * silently and only if the folder of runs has changed since.
 */
void history_catch_up(size_t most);
/* The same of all of them, into an open history. An exit code. */
enum store_error history_sync(struct store *store, size_t most);

/*
 * Opens it for `tare history`: repairs a damaged one, adds what is missing.
 * 0, or an exit code after a message.
 */
int history_open(struct store **ret_store);
/* After STORE_DAMAGED: the same repair; the store is closed. */
int history_mend(void);
/* "cannot <what> '<history>': <why>"; an exit code. */
int history_error(const char *what, enum store_error err);

/* ---- parts of the command ---------------------------------------------- */

/* tare history import FILE...; an exit code. */
int history_import(char **files, size_t n, const char *column,
		   const char *name);

#endif
