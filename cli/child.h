/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child: runs a program as if the shell had done so itself.
 *
 * Its standard streams, process group, signal mask and ignored signals are
 * the ones this process was given. Signals that somebody sends to this
 * process are handed on; those of the terminal are not, because the kernel
 * sends them to the whole group and the program would get them twice.
 */
#ifndef CLI_CHILD_H
#define CLI_CHILD_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int status; /* of wait */
	uint64_t wall_ns;
	struct rusage usage; /* its own and its waited-for children's */
};

/* Runs argv to its end. Returns 0, or the errno that kept it from running. */
int child_run(char **argv, struct child *ret_child);

/* What a shell shows: the exit status, or 128 and the signal. */
int child_code(const struct child *child);

/*
 * If the program died of a signal, dies of the same, so that a shell or a
 * supervisor sees the truth. Returns only if it did not.
 */
void child_die_alike(const struct child *child);

#endif
