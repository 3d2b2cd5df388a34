/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of read/jobs/: the ranks of a parallel program side by side, and what
 * they wait for.
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
