/* SPDX-License-Identifier: Apache-2.0 */
/* Anchors: the ledger's clock and the system's clocks, read at one moment. */
#include "ledger/layout.h"

#include "base/platform.h"

void tr_anchor_take(struct tr_anchor *anchor, bool counter_clock)
{
	uint64_t best = UINT64_MAX;

	if (!counter_clock) {
		anchor->mono_ns = tr_monotonic_ns();
		anchor->real_ns = tr_realtime_ns();
		anchor->ticks = (uint64_t)anchor->mono_ns;
		anchor->width = 0;
		return;
	}
	/* The narrowest of a few: an interrupt between the reads spoils one. */
	for (int i = 0; i < 4; i++) {
		uint64_t before = tr_counter();
		int64_t mono = tr_monotonic_ns();
		uint64_t after = tr_counter();
		int64_t real = tr_realtime_ns();

		if (after - before >= best)
			continue;
		best = after - before;
		anchor->ticks = before + best / 2;
		anchor->mono_ns = mono;
		anchor->real_ns = real;
		anchor->width = best;
	}
}
