/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/runs/: the runs of this user, for tare_runs_list() and its like.
 */
#ifndef TR_READ_RUNS_H
#define TR_READ_RUNS_H

#include "read/view.h"

#endif
