/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Last: the run that the last `tare run` has reported.
 *
 * A program that starts others leaves a run of each, and the newest of them is
 * whatever began last: of gcc the assembler. What is asked for after `tare
 * run` is the one it reported. Its id is kept in a file beside the folder of
 * runs, and holds as long as the newest run is of the same group.
 */
#ifndef CLI_LAST_H
#define CLI_LAST_H

#include <stdbool.h>
#include <stddef.h>

#include <tare/read/view.h>

/* Failures are ignored: then the newest one is the last, as without it. */
void last_note(const tare_run_entry *run);

/* False: there is no such file, or runs have come since. */
bool last_find(char *path, size_t size);

#endif
