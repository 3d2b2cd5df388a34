/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Anchors: the same instant on CUPTI's clock and on that of the ledger. The
 * read of CUPTI's clock lies between two reads of ours; their distance bounds
 * the error, so the narrowest of some tries is kept. A reader interpolates
 * between two anchors, which also removes the drift.
 */
#include "gpu.h"

#define TRIES 8u

void gpu_clock_anchor(uint32_t flags)
{
	struct tr_gpu_anchor best = { .width = UINT32_MAX, .flags = flags };

	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t before, after, ns = 0, width;

		before = gpu_host->ticks();
		if (gpu_cupti.GetTimestamp(&ns))
			return;
		after = gpu_host->ticks();
		width = after - before;
		if (width >= best.width)
			continue;
		best.ticks = before + width / 2;
		best.gpu_ns = ns;
		best.width = (uint32_t)width;
	}
	if (best.width == UINT32_MAX)
		return;
	gpu_store_lock();
	gpu_store_anchor(&best);
	gpu_store_unlock();
}
