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

#include <sys/types.h>

#include <tare/read/view.h>

struct group {
	char name[48];
	tare_run_entry *runs; /* of this group only, newest first */
	size_t n;
	const tare_run_entry *main; /* NULL: no run at all */
	const tare_run_entry *busiest; /* most CPU time in samples, or NULL */
	double most_ns;		       /* its CPU time */
	uint64_t deleted; /* older runs that were deleted meanwhile */
};

/* Uses `name`, or creates a unique one. */
void group_init(struct group *group, const char *name);

/*
 * Finds the runs and, with `with_busiest`, the busiest one, for which the runs
 * are opened. Returns 0 or a TARE_E*.
 */
int group_find(struct group *group, pid_t main_pid, bool with_busiest);
/* The runs of the group of a run; without one, itself. 0 or a TARE_E*. */
int group_of(struct group *group, const tare_run *run);
/* Keeps those of a process id or a program, and returns their number. */
size_t group_keep(struct group *group, const char *word);
void group_release(struct group *group);

#endif
