/* SPDX-License-Identifier: Apache-2.0 */
/* Preload: the library that is loaded into a program which `tare run` runs. */
#ifndef CLI_PRELOAD_H
#define CLI_PRELOAD_H

#include <stdbool.h>

#include "launch.h"

/*
 * Puts it before what LD_PRELOAD has. `with_alloc`: the one that also counts
 * allocations. With the one for calls of `mpi`, if there is one and that was
 * built. 0, or an exit code after a message.
 */
int preload_set(bool with_alloc, enum mpi_kind mpi);

#endif
