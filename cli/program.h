/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Program: what kind of file a command is, before it is run; decides whether a
 * library can be loaded into it.
 */
#ifndef CLI_PROGRAM_H
#define CLI_PROGRAM_H

#include <limits.h>
#include <stdbool.h>

#include "launch.h"

enum program_kind {
	PROGRAM_OPEN,	 /* a library can be loaded into it */
	PROGRAM_UNKNOWN, /* not found, or of an unknown type */
	PROGRAM_STATIC,	 /* has no dynamic linker */
	PROGRAM_STRANGE, /* has another one: other machine or libc */
	PROGRAM_SECURE,	 /* setuid or similar: loads no library */
	PROGRAM_GUARDED	 /* has a sanitizer, which must be loaded first */
};

/* `name` as execvp() finds it. A script has the kind of its interpreter. */
enum program_kind program_look(const char *name);

/* Opens what the kernel executes: of a script, its interpreter. -1: none. */
int program_open(const char *name);

/* Does it need a library whose name begins so? */
bool program_needs(const char *name, const char *library);

/*
 * The MPI that the program links, or launches (mpirun and the like). MPI_NONE:
 * none, or only through another library, or loaded later.
 */
enum mpi_kind program_mpi(const char *name);

/* The folder of this program; false: the kernel does not report it. */
bool program_folder(char ret_folder[PATH_MAX]);

/* Why it cannot be sampled: "is a static program". NULL if it can. */
const char *program_obstacle(enum program_kind kind);

#endif
