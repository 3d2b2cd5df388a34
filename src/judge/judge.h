/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of judge/: conclusions from views. What a table of parts is made of.
 */
#ifndef TR_JUDGE_H
#define TR_JUDGE_H

#include <tare/communication.h>
#include <tare/judge.h>

#include "view/view.h"

/* ---- parts.c ----------------------------------------------------------- */

/*
 * Fills of, parts and whole_ns from the first source that has any, or the
 * one asked for. 0 or an error; parts are to be freed in any case.
 */
int tr_parts_of(tare_view *view, const tare_amdahl_options *options,
		tare_amdahl *amdahl);

/* ---- arrivals.c -------------------------------------------------------- */

/*
 * Seconds that each rank of the job waited in the collective `name` for the
 * last one to arrive, from the ranks' events. False: a rank has not kept all
 * of its calls, or they do not match; then nothing is filled.
 */
bool tr_arrivals_find(const tare_job *job, tare_view *const *views,
		      const char *name, uint64_t calls, double *ret_seconds);

#endif
