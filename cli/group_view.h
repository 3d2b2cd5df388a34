/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group view: the processes that a user's word means, for commands about one
 * run.
 *
 * After a `tare run` of several processes, "last", its command and a program
 * mean more than one. A command shows them together if it can, see
 * read/profile/joined.c. If not, it shows one and says which one.
 */
#ifndef CLI_GROUP_VIEW_H
#define CLI_GROUP_VIEW_H

#include "args.h"
#include "group.h"

/* Of the command line: a process id or a program; NULL: not given. */
extern const char *process_chosen;

#define OPTION_PROCESS \
	OPTION_TEXT(0, "process", &process_chosen, "PID|PROGRAM", \
		    "show only these processes of a 'tare run'")

/*
 * Opens what the word and --process mean; several processes are joined if
 * `joins`, else a message names the one that is open. 0, or an exit code after
 * a message.
 */
int group_view_open(const char *which, bool joins, tare_view **ret_view);
/* The message: what is shown next is of this view's process alone. */
void group_view_tell_one(const tare_view *view, const struct group *group);
/* The same for an export, if the word means several processes. */
void group_view_tell(const tare_view *view, const char *which);
/* The same of a view with joined ones, of which only the first is shown. */
void group_view_tell_first(tare_view *view, const char *what);
/* Joins the processes of the group that are not open in the view. */
int group_view_join(tare_view *view, const struct group *group);

#endif
