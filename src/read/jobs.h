/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/jobs/: the ranks of an MPI program side by side, and how long
 * each waits for the others.
 *
 * Comes in: views of all ranks. Goes out: a tare_job, the cost of
 * communication. Called by: read/judge, render/timeline, cli.
 */
#ifndef TR_READ_JOBS_H
#define TR_READ_JOBS_H

#include <tare/read/communication.h>

#include "read/view.h"

/* ---- arrivals.c -------------------------------------------------------- */

/*
 * Seconds that each rank of the job waited in the collective `name` for the
 * last one to arrive, from the ranks' events. False: a rank has not kept all
 * of its calls, or they do not match; then nothing is filled.
 */
bool tr_arrivals_find(const tare_job *job, tare_view *const *views,
		      const char *name, uint64_t calls, double *ret_seconds);

#endif
