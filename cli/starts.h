/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts: the processes of one `tare run`, of which most may have no run: they
 * ended before a sample, or load no library.
 *
 * The library writes a line for each program, and at the end of each fork that
 * ran none, into the file of notes (ledger/runs.h). Children that call clone()
 * themselves, change their user first, or are forks that a signal ends, are not
 * in it.
 */
#ifndef CLI_STARTS_H
#define CLI_STARTS_H

#include "group.h"
#include "read/profile.h"

/* From `notes`; nothing is known if it is -1, or has no line. */
void starts_read(int notes, const struct group *group,
		 struct tr_silent *ret_silent);

#endif
