/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child: runs a program as if the shell had done so itself.
 *
 * Its standard streams, process group, signal mask and ignored signals are
 * those of this process. Signals that another process sends to this one are
 * passed on. Signals of the terminal are not: the kernel sends them to the
 * whole group, and the program would get them twice.
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
	uint64_t ran_ns;    /* its first thread ran */
	uint64_t queued_ns; /* its first thread could run, but did not */
	struct rusage usage; /* of the child and the children it waited for */
};

/* Runs argv to its end. Returns 0, or the errno of why it could not run. */
int child_run(char **argv, struct child *ret_child);

/* The status a shell shows: the exit status, or 128 plus the signal. */
int child_code(const struct child *child);

/*
 * If the program was killed by a signal, kills this process by the same one, so
 * that a shell or supervisor sees the cause. Otherwise returns.
 */
void child_die_alike(const struct child *child);

#endif
