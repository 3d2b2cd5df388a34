/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Program: what stands behind the name of a command, before it is run, as far
 * as it decides whether a library can be loaded into it.
 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <limits.h>

#include "launch.h"

enum program_kind {
	PROGRAM_OPEN,	 /* a library can be loaded into it */
	PROGRAM_UNKNOWN, /* not found, or nothing that is known here */
	PROGRAM_STATIC,	 /* has no dynamic linker */
	PROGRAM_STRANGE, /* has another one: another machine or libc */
	PROGRAM_SECURE,	 /* runs with rights of its own: it loads none */
	PROGRAM_GUARDED	 /* has a sanitizer, which must be loaded first */
};

/* `name` as execvp() finds it. A script is what its interpreter is. */
enum program_kind program_look(const char *name);

/*
 * The MPI that it was linked with itself, or that it launches: mpirun and the
 * like. MPI_NONE: none, or by a library of its own, or loaded later.
 */
enum mpi_kind program_mpi(const char *name);

/* The folder of this very program; false: the kernel does not tell. */
bool program_folder(char ret_folder[PATH_MAX]);

/* Why it cannot be sampled: "is a static program". NULL if it can. */
const char *program_obstacle(enum program_kind kind);

#endif
