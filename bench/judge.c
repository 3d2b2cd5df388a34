/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How right conclusions are.
 *
 *	f1, recall4, false, noisy	change points of labelled series against
 *					those of five people each
 *	ar_0.5, ar_0.7	series of dependent values without a change that are
 *			flagged
 *	series_per_s	series of 200 values
 */
#include "bench.h"
#include "judge.h"

const struct bench_part bench_parts[] = {
	{ "changes", judge_changes_part, { NULL } },
	{ NULL, NULL, { NULL } },
};
