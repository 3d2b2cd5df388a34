/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group report: all processes of one `tare run` in one table.
 */
#ifndef CLI_GROUP_REPORT_H
#define CLI_GROUP_REPORT_H

#include "group.h"
#include "read/profile.h"

/* The last line of such a report. */
#define GROUP_MORE \
	"more       tare report --tree, tare report --process PID|PROGRAM\n"

/*
 * Adds up all runs of the group; those that cannot be read are counted. Release
 * with tr_programs_release(), also after an error. 0 or a TARE_E*.
 */
int group_programs(const struct group *group, struct tr_programs *programs);

/* A view with samples alone: the table of programs has these, too. */
bool group_has_all_of(tare_view *view);
/*
 * Prints the programs of the group, with `view` as JSON also its report; `view`
 * may be NULL. `name` is what is printed as their name. An exit code.
 */
int group_report(const struct group *group, const tare_report_options *how,
		 const char *name, bool as_json, tare_view *view);
/* Prints the processes. An exit code. */
int group_report_tree(const struct group *group, bool as_json);

#endif
