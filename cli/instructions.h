/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instructions of a program: a witness with nearly no noise. Counted by the
 * processor where the kernel allows it, else by valgrind's callgrind, which
 * runs the program some fifty times as slowly. Instructions are not time: a
 * program that waits for memory or for a lock has no more of them.
 */
#ifndef CLI_INSTRUCTIONS_H
#define CLI_INSTRUCTIONS_H

#include "bench.h"

#define INSTRUCTION_RUNS 3u

/*
 * Counts for each case, INSTRUCTION_RUNS times in turn. `how`: "callgrind",
 * "perf", or "true": the first that works of perf and callgrind. 0, or an exit
 * code after a message.
 */
int instructions_count(struct bench *bench, const char *how);

#endif
