/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Group: the runs of one `tare run`, found by the TARE_GROUP it set.
 *
 * A program may start others that measure too. The main run is that of the
 * process which `tare run` itself started; if that has no probes (a shell,
 * make), the busiest run takes its place, or the longest if none was sampled.
 */
#ifndef CLI_GROUP_H
#define CLI_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

#include <tare/read/view.h>

#include "ledger/runs.h"

struct group {
	char name[TR_GROUP_BYTES];
	char command[TR_GROUP_BYTES]; /* that started them; "": not known */
	tare_run_entry *runs; /* of this group only, newest first */
	size_t n;
	const tare_run_entry *main; /* NULL: no run at all */
	const tare_run_entry *busiest; /* most CPU time in samples, or NULL */
	double most_ns;		       /* its CPU time */
	bool is_part;	  /* some of its runs were left out by group_keep() */
	uint64_t deleted; /* older runs that were deleted meanwhile */
};

/* Of that name: see tr_group_name(). */
void group_init(struct group *group, const char *name);

/*
 * Finds the runs and, with `with_busiest`, the busiest one, for which the runs
 * are opened. Returns 0 or a TARE_E*.
 */
int group_find(struct group *group, pid_t main_pid, bool with_busiest);
/* The runs of the group of a run; without one, itself. 0 or a TARE_E*. */
int group_of(struct group *group, const tare_run *run);
/*
 * The runs that a word means, which means this run: all of its group, or those
 * of one program; none if the word is one process. 0 or a TARE_E*.
 */
int group_meant(struct group *group, const tare_run *run, const char *which);
/*
 * What they are called: the command that started them, unless it is not known
 * or the word means only some of them.
 */
const char *group_title(const struct group *group, const char *which);
/* Keeps those of a process id or a program, and returns their number. */
size_t group_keep(struct group *group, const char *word);
void group_release(struct group *group);

#endif
