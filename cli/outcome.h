/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outcome: what one `tare run` came to, told as text and as JSON.
 */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <limits.h>
#include <stdio.h>

#include "args.h"
#include "child.h"
#include "group.h"
#include "launch.h"

struct outcome {
	const struct args *args;
	struct child child;
	struct group group;
	FILE *text; /* NULL: not wanted */
	FILE *json; /* NULL: not wanted */
	const char *flame; /* file for it; NULL: beside the run */
	bool is_sampled;   /* a library was loaded into it that samples */
	bool wants_calls;  /* functions with hooks were asked for */
	struct launch launch;
	bool is_rank;	   /* of an MPI program: rank 0 tells for all */
	bool each_rank;	   /* but each shall tell for itself, too */
	int64_t ended_ns;  /* when the program did, since 1970 */
	bool is_told;	   /* by the watcher: the job was ended */
	int error;	   /* of outcome_find() */
	int notes;	   /* of the program's library; -1: none */
};

/* Ranks write no file together: that of each has its number behind it. */
const char *outcome_path(const struct outcome *outcome, const char *path,
			 char own[PATH_MAX]);

/*
 * While the program runs: the ranks as they are; false: there are none. Its
 * type is watcher.h's.
 */
bool outcome_tell_early(void *outcome);
/* After the program's end: its runs; and how it ended, for other ranks. */
void outcome_find(struct outcome *outcome);
/* After that. */
void outcome_tell(struct outcome *outcome);

#endif
