/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs from ledgers: a row with their duration.
 */
#include "compare/compare.h"

#include <math.h>

static int add_whole(tare_comparison *c, tare_view *view)
{
	const tare_run *run = tare_view_run(view);
	double seconds = (double)(run->end_ns - run->start_ns) / 1e9;
	tare_compare_source source = {
		.struct_size = sizeof(source), .config = run->program,
		.origin = run->id, .comm_share = NAN,
		.is_cut = run->state == TARE_RUN_KILLED,
		.total_training_time = seconds > 0 ? seconds : 0,
	};

	return tare_comparison_add(c, &source);
}

TARE_API int tare_comparison_add_view(tare_comparison *comparison,
				      tare_view *view)
{
	if (!comparison || !view)
		return TARE_EINVAL;
	return add_whole(comparison, view);
}
