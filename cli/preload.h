/* SPDX-License-Identifier: Apache-2.0 */
/* Preload: the library that `tare run` loads into a program. */
#ifndef CLI_PRELOAD_H
#define CLI_PRELOAD_H

#include <limits.h>
#include <stdbool.h>

#include "launch.h"

/*
 * Puts the library in front of LD_PRELOAD. `with_alloc`: the variant that also
 * counts allocations. Adds the library for calls of `mpi`, if that was built.
 * 0, or an exit code after a message.
 */
int preload_set(bool with_alloc, enum mpi_kind mpi);

/* Lets the CUDA driver load the recorder of GPU activities. */
void preload_inject(void);

/* The real path of one of these libraries; false: it is not found. */
bool preload_find(const char *name, char ret_path[PATH_MAX]);

#endif
