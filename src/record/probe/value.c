/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: distributions and gauges.
 *
 * If values come fast, few of them read the clock, which would cost twice the
 * rest: after TR_VALUES_EXACT values in a row with short distances, each 64th
 * does. All others get the time of the thread's last reading, so after a long
 * row and a pause up to 63 values may be counted in the slice before the
 * pause, and have an earlier time in their records.
 */
#include "record/probe.h"

#include <assert.h>

#define TR_VALUES_FAST (1u << 21) /* ticks for a run: under a millisecond */
#define TR_VALUES_CLOSE (1u << 15) /* ticks between two: about 10 us */
#define TR_VALUES_EXACT 64u

/* The site of a run of values, stored by the value that ends the run. */
static void note_run(struct tr_thread *thread, uint32_t site)
{
	struct tr_run *run = &thread->run[site % TR_RUNS];

	if (TR_LOAD(run->site) != site) {
		TR_STORE(run->runs, 0);
		TR_STORE(run->site, site);
	}
	TR_STORE(run->runs, run->runs + 1);
	tr_look_after(thread, TR_RUN_VALUES);
}

static TR_NOINLINE void read_clock(struct tr_thread *thread, uint32_t site)
{
	uint64_t now = tr_ledger_ticks(), since = now - thread->values_ticks;

	if (thread->values_left) {
		note_run(thread, site);
		if (since >= TR_VALUES_FAST)
			thread->values_close = 0;
	} else if (since >= TR_VALUES_CLOSE) {
		thread->values_close = 0;
	} else if (thread->values_close < TR_VALUES_EXACT) {
		thread->values_close++;
	}
	thread->values_left = thread->values_close < TR_VALUES_EXACT ?
				    0 :
				    TR_RUN_VALUES;
	thread->values_ticks = now;
	thread->values_slice = (uint32_t)(now >> thread->shift);
}

uint32_t tr_value_cell(struct tr_thread *thread, uint32_t site)
{
	uint64_t known = thread->value_cell[site % 16];
	uint32_t cell;

	assert(tr_thread_is_busy(thread));
	if ((uint32_t)known == site)
		return (uint32_t)(known >> 32);
	cell = tr_tree_cell(thread, site);
	/* The fast path uses this. */
	if (cell)
		thread->value_cell[site % 16] = (uint64_t)cell << 32 | site;
	return cell;
}

static void observe(struct tr_thread *thread, uint32_t site, double value)
{
	uint32_t cell = tr_value_cell(thread, site);

	if (!cell) {
		tr_thread_lose(thread);
		return;
	}
	if (thread->values_left <= 1)
		read_clock(thread, site);
	else
		thread->values_left--;
	tr_observe(thread, cell, value, tr_values_now(thread));
}

/* In a handler that interrupted a probe of its own thread. */
static void defer_value(struct tr_thread *thread, uint32_t site, double value)
{
	uint32_t slice = (uint32_t)(tr_ledger_ticks() >> thread->shift);

	if (!tr_log_defer(thread, tr_bits_of(value), slice,
			  site | TR_PARKED_VALUE))
		tr_lose_busy();
}

static TR_COLD void observe_slow(tare_site *site, uint32_t gate, double value)
{
	struct tr_thread *thread = tr_probe_ready(site, gate);

	if (!thread)
		return;
	if (!tr_thread_enter(thread)) {
		defer_value(thread, TR_LOAD(site->id), value);
		return;
	}
	observe(thread, TR_LOAD(site->id), value);
	tr_thread_leave(thread);
}

/*
 * All but the common case; a tail call, so that the common case saves no
 * registers.
 */
static TR_NOINLINE void observe_other(tare_site *site, uint32_t gate,
				      double value)
{
	TR_FORWARD(value_observe, site, gate, value);
	observe_slow(site, gate, value);
}

TARE_API void tare_value_observe_(tare_site *site, uint32_t gate, double value)
{
	struct tr_thread *thread = tr_this_thread();
	struct tr_track *track = thread->track;
	uint32_t id = TR_LOAD(site->id);
	uint64_t known = thread->value_cell[id % 16];
	/* Signed: a handler may count down, too. */
	int32_t left = thread->values_left - 1;
	bool done;

	/* None left: it is time to read the clock. */
	if (TR_UNLIKELY(!track) || TR_UNLIKELY((uint32_t)known != id) ||
	    TR_UNLIKELY(TR_ACQUIRE(site->generation) != gate) ||
	    TR_UNLIKELY(left <= 0)) {
		observe_other(site, gate, value);
		return;
	}
	thread->track = NULL; /* busy */
	TR_FENCE();
	thread->values_left = left;
	done = tr_observe_fast(thread, track, (uint32_t)(known >> 32), value);
	TR_FENCE();
	tr_thread_set_track(thread, track);
	if (TR_UNLIKELY(!done))
		observe_other(site, gate, value);
}

/* ---- gauges ------------------------------------------------------------ */

/* One place for all threads: the last store wins. */
static uint64_t *gauge_of(const tare_site *site)
{
	struct tr_region *gauges = &tr_ledger->region[TR_REGION_GAUGES];

	return (uint64_t *)(void *)(tr_ledger->base + gauges->off +
				    (uint64_t)TR_LOAD(site->slot) * 8);
}

static void gauge_change(tare_site *site, uint32_t gate, double value,
			 bool add)
{
	struct tr_thread *thread = tr_probe_ready(site, gate);
	uint64_t *gauge, before;
	double now;

	if (!thread)
		return;
	gauge = gauge_of(site);
	before = TR_LOAD(*gauge);
	do
		now = add ? tr_real_of(before) + value : value;
	while (!__atomic_compare_exchange_n(gauge, &before, tr_bits_of(now),
					    true, __ATOMIC_RELAXED,
					    __ATOMIC_RELAXED));
	if (!tr_thread_enter(thread)) {
		defer_value(thread, TR_LOAD(site->id), now);
		return;
	}
	observe(thread, TR_LOAD(site->id), now);
	tr_thread_leave(thread);
}

TARE_API void tare_gauge_set_(tare_site *site, uint32_t gate, double value)
{
	TR_FORWARD(gauge_set, site, gate, value);
	gauge_change(site, gate, value, false);
}

TARE_API void tare_gauge_add_(tare_site *site, uint32_t gate, double value)
{
	TR_FORWARD(gauge_add, site, gate, value);
	gauge_change(site, gate, value, true);
}

TR_OWN(tr_own_value_observe, tare_value_observe_);
TR_OWN(tr_own_gauge_set, tare_gauge_set_);
TR_OWN(tr_own_gauge_add, tare_gauge_add_);
