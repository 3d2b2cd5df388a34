/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TR_VIEW_TIMES_H
#define TR_VIEW_TIMES_H

#include "view/view.h"

struct tr_times {
	double own, total, net_own, net_total; /* ticks */
};

/* Of every path of `g`, by index; [0] is the whole. */
void tr_path_times(const struct tr_gather *g, const struct tr_header *h,
		   struct tr_times *out);
/* Is a path of the same site or function above it? */
bool tr_path_recurs(const struct tr_gather *g, uint32_t index);
/* Of every site; recursion counts once in a total. Gives (free). */
struct tr_times *tr_site_times(const tare_view *view);

#endif
