/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of judge/: conclusions from views. What a table of parts is made of.
 */
#ifndef TR_JUDGE_H
#define TR_JUDGE_H

#include <tare/judge.h>

#include "view/view.h"

/* ---- parts.c ----------------------------------------------------------- */

/*
 * Fills of, parts and whole_ns from the first source that has any, or the
 * one asked for. 0 or an error; parts are to be freed in any case.
 */
int tr_parts_of(tare_view *view, const tare_amdahl_options *options,
		tare_amdahl *amdahl);

#endif
