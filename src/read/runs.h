/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/runs/: the list of this user's runs, and moving finished ones.
 *
 * Comes in: the user's folders. Goes out: entries of tare_runs_list(). Called
 * by: cli, server.
 */
#ifndef TR_READ_RUNS_H
#define TR_READ_RUNS_H

#include "read/view.h"

#endif
