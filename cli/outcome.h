/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outcome: the result of one `tare run`, as text and as JSON.
 */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <limits.h>
#include <stdio.h>

#include "args.h"
#include "child.h"
#include "group.h"
#include "launch.h"

struct history_start;

struct outcome {
	const struct args *args;
	struct child child;
	struct group group;
	FILE *text; /* NULL: not wanted */
	FILE *json; /* NULL: not wanted */
	size_t top; /* rows of each table; 0: all */
	const char *flame; /* file of the flame graph; NULL: beside the run */
	bool is_sampled;   /* a sampling library was loaded into it */
	bool wants_calls;  /* hooked functions were requested */
	struct launch launch;
	bool is_rank;	   /* of an MPI program: rank 0 reports for all */
	bool each_rank;	   /* each rank also reports for itself */
	int64_t ended_ns;  /* end of the program, ns since 1970 */
	bool is_told;	   /* the watcher reported: the job was ended */
	int error;	   /* of outcome_find() */
	int notes;	   /* of the program's library; -1: none */
	struct history_start *start; /* for the history */
};

/* Each rank writes its own file: appends the rank's number to `path`. */
const char *outcome_path(const struct outcome *outcome, const char *path,
			 char own[PATH_MAX]);

/*
 * Called by the watcher while the program runs: reports the ranks so far;
 * false: there are none. See watcher.h.
 */
bool outcome_tell_early(void *outcome);
/* After the program's end: finds its runs; writes the ending for rank 0. */
void outcome_find(struct outcome *outcome);
/* Reports; call after outcome_find(). */
void outcome_tell(struct outcome *outcome);

#endif
