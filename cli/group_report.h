/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group report: all processes of one `tare run` in one table.
 */
#ifndef CLI_GROUP_REPORT_H
#define CLI_GROUP_REPORT_H

#include <stdio.h>

#include "ending.h"
#include "group.h"
#include "read/profile.h"
#include "render/report.h"

/* The last line of such a report. */
#define GROUP_MORE \
	"more       tare report --tree, tare report --process PID|PROGRAM\n"

/*
 * Adds up all runs of the group: samples, of them only those of the filter's
 * window, and what probes measured (NULL: all of both); those that cannot be
 * read are counted. Release with group_programs_release(), also after an
 * error. 0 or a TARE_E*.
 */
int group_programs(const struct group *group, const tare_filter *filter,
		   struct tr_programs *programs);
void group_programs_release(struct tr_programs *programs);

/* Have probes measured something in others than this one (NULL: in any)? */
bool group_is_probed(const struct tr_programs *programs, tare_view *view);
/* If the report of one process has all that probes measured. */
void group_drop_probes(struct tr_programs *programs);
/* Has it trainings, pipelines or functions of hooks, which nothing adds up? */
bool group_has_more_than_series(tare_view *view);
/* Allocations of all of them, if they were noted. */
void group_print_allocs(const struct group *group,
			const tare_report_options *how, FILE *stream);
/* The report of all has what that of the view would have. */
bool group_has_all_of(const struct tr_programs *programs, tare_view *view);
/*
 * Prints the programs of the group, with `view` as JSON also its report; `view`
 * and `ending` may be NULL. `name` is what is printed as their name. An exit
 * code.
 */
int group_report(const struct tr_programs *programs,
		 const tare_report_options *how, const char *name,
		 const struct tr_ending *ending, bool as_json,
		 tare_view *view);
/*
 * What `tare run` left of the program that it started; false: nothing, or runs
 * were deleted or added since.
 */
bool group_ending(const struct group *group, struct ending *ret_ending);
/*
 * Is the report that of several processes? Also of one, if it is not the
 * program that was started (`pid`) but one of its children.
 */
bool group_is_several(const struct group *group, tare_view *view, int64_t pid);
/* Prints the processes. An exit code. */
int group_report_tree(const struct group *group, bool as_json);

#endif
