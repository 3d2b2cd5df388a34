/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values: distributions, gauges, counters, ratios, durations from elsewhere.
 *
 * A value reads no clock of its own, which would cost twice the rest. Its
 * time slice is that of the thread's last reading: each value while they
 * come slowly, each 64th while they come fast. After a pause up to 63 values
 * may thus be counted in the slice before it.
 */
#include "probe/probe.h"

#include <string.h>

#define TR_VALUES_FAST (1u << 21) /* ticks for a run: under a millisecond */

/* Which site the values of a run were of, by the one that ends it. */
static void note_run(struct tr_hand *hand, uint32_t site)
{
	struct tr_run *run = &hand->run[site % TR_RUNS];

	if (TR_LOAD(run->site) != site) {
		TR_STORE(run->runs, 0);
		TR_STORE(run->site, site);
	}
	TR_STORE(run->runs, run->runs + 1);
	tr_look_after(hand, TR_RUN_VALUES);
}

static TR_NOINLINE void read_clock(struct tr_hand *hand, uint32_t site)
{
	uint64_t now = tr_ledger_ticks();

	if (hand->values_left)
		note_run(hand, site);
	hand->values_left = now - hand->values_ticks < TR_VALUES_FAST ?
				    TR_RUN_VALUES :
				    0;
	hand->values_ticks = now;
	hand->values_slice = (uint32_t)(now >> hand->shift);
}

/* The thread's cell of a site of values; 0 if there is no room. Busy. */
static uint32_t cell_of(struct tr_hand *hand, uint32_t site)
{
	uint64_t known = hand->value_cell[site % 16];
	uint32_t cell;

	if ((uint32_t)known == site)
		return (uint32_t)(known >> 32);
	cell = tr_tree_cell(hand, site);
	/* The fast path goes by this; it knows no ring of last values. */
	if (cell && !tr_ledger->keep_values)
		hand->value_cell[site % 16] = (uint64_t)cell << 32 | site;
	return cell;
}

static void observe(struct tr_hand *hand, uint32_t site, double value)
{
	uint32_t cell = cell_of(hand, site);

	if (!cell) {
		tr_hand_lose(hand);
		return;
	}
	if (hand->values_left <= 1)
		read_clock(hand, site);
	else
		hand->values_left--;
	tr_observe(hand, cell, value, hand->values_slice);
}

static void lose_busy(void)
{
	(void)TR_ADD(tr_ledger->header->lost.busy, 1);
}

/* In a handler that met its own thread in a probe. */
static void defer_value(struct tr_hand *hand, uint32_t site, double value)
{
	union {
		double value;
		uint64_t bits;
	} u = { value };
	uint32_t slice = (uint32_t)(tr_ledger_ticks() >> hand->shift);

	if (!tr_log_defer(hand, u.bits, slice, site | TR_PARKED_VALUE))
		lose_busy();
}

static TR_COLD void observe_slow(tare_site *site, uint32_t gate, double value)
{
	struct tr_hand *hand = tr_probe_ready(site, gate);

	if (!hand)
		return;
	if (!tr_hand_enter(hand)) {
		defer_value(hand, TR_LOAD(site->id), value);
		return;
	}
	observe(hand, TR_LOAD(site->id), value);
	tr_hand_leave(hand);
}

/* All that is not the common case; called last, so that that saves nothing. */
static TR_NOINLINE void observe_other(tare_site *site, uint32_t gate,
				      double value)
{
	if (tr_probe_forward)
		tr_probe_forward->value_observe(site, gate, value);
	else
		observe_slow(site, gate, value);
}

TARE_API void tare_value_observe_(tare_site *site, uint32_t gate, double value)
{
	struct tr_hand *hand = tr_hand();
	struct tr_track *track = hand->track;
	uint32_t id = TR_LOAD(site->id);
	uint64_t known = hand->value_cell[id % 16];
	/* Signed: a handler may count, too. */
	int32_t left = hand->values_left - 1;
	bool done;

	/* None is left: it is time to read the clock. */
	if (TR_UNLIKELY(!track) || TR_UNLIKELY((uint32_t)known != id) ||
	    TR_UNLIKELY(TR_ACQUIRE(site->generation) != gate) ||
	    TR_UNLIKELY(left <= 0)) {
		observe_other(site, gate, value);
		return;
	}
	hand->track = NULL; /* busy */
	TR_FENCE();
	hand->values_left = left;
	done = tr_observe_fast(hand, track, (uint32_t)(known >> 32), value);
	TR_FENCE();
	tr_hand_free(hand, track);
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
	struct tr_hand *hand = tr_probe_ready(site, gate);
	uint64_t *gauge, before;
	union {
		double value;
		uint64_t bits;
	} u;

	if (!hand)
		return;
	gauge = gauge_of(site);
	before = TR_LOAD(*gauge);
	do {
		u.bits = before;
		u.value = add ? u.value + value : value;
	} while (!__atomic_compare_exchange_n(gauge, &before, u.bits, true,
					      __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	if (!tr_hand_enter(hand)) {
		defer_value(hand, TR_LOAD(site->id), u.value);
		return;
	}
	observe(hand, TR_LOAD(site->id), u.value);
	tr_hand_leave(hand);
}

TARE_API void tare_gauge_set_(tare_site *site, uint32_t gate, double value)
{
	if (tr_probe_forward)
		tr_probe_forward->gauge_set(site, gate, value);
	else
		gauge_change(site, gate, value, false);
}

TARE_API void tare_gauge_add_(tare_site *site, uint32_t gate, double value)
{
	if (tr_probe_forward)
		tr_probe_forward->gauge_add(site, gate, value);
	else
		gauge_change(site, gate, value, true);
}

/* ---- counters ---------------------------------------------------------- */

/* Makes the slot's chunk if needed; NULL: lost, counted. */
static uint64_t *slot_of(struct tr_hand *hand, uint32_t slot)
{
	/* Read once: it is NULL as soon as the ledger is replaced. */
	uint64_t *chunk = TR_LOAD(hand->self.counter[slot / TR_COUNTER_SLOTS]);

	if (!chunk) {
		if (!tr_hand_enter(hand)) {
			lose_busy();
			return NULL;
		}
		chunk = tr_track_counters(hand, slot);
		if (!chunk)
			tr_hand_lose(hand);
		tr_hand_leave(hand);
	}
	return chunk ? chunk + slot % TR_COUNTER_SLOTS : NULL;
}

TARE_API void tare_counter_add_(tare_site *site, uint32_t gate, uint64_t n)
{
	struct tr_hand *hand;
	uint64_t *slot;

	if (tr_probe_forward) {
		tr_probe_forward->counter_add(site, gate, n);
		return;
	}
	hand = tr_probe_ready(site, gate);
	slot = hand ? slot_of(hand, TR_LOAD(site->slot)) : NULL;
	if (slot)
		tare_slot_add_(slot, n);
}

TARE_API void tare_ratio_add_(tare_site *site, uint32_t gate, uint64_t part,
			      uint64_t whole)
{
	struct tr_hand *hand;
	uint64_t *first, *second;
	uint32_t slot;

	if (tr_probe_forward) {
		tr_probe_forward->ratio_add(site, gate, part, whole);
		return;
	}
	hand = tr_probe_ready(site, gate);
	slot = TR_LOAD(site->slot);
	first = hand ? slot_of(hand, slot) : NULL;
	second = first ? slot_of(hand, slot + 1) : NULL;
	/* The whole first: a reader in between sees no ratio above one. */
	if (second) {
		tare_slot_add_(second, whole);
		tare_slot_add_(first, part);
	}
}

/* ---- durations from elsewhere ------------------------------------------ */

struct duration {
	uint64_t start, span;
	const char *error;
};

/* In a handler that met its own thread in a probe: without its record. */
static void defer_duration(struct tr_hand *hand, uint32_t site,
			   const struct duration *d)
{
	uint32_t what = site | (d->error ? TR_PARKED_FAILED : 0);

	(void)TR_ADD(tr_ledger->header->lost.records, 1);
	if (d->span > UINT32_MAX ||
	    !tr_log_defer(hand, d->start, (uint32_t)d->span, what))
		lose_busy();
}

static void append_duration(struct tr_hand *hand, uint32_t site,
			    const struct duration *d)
{
	uint32_t node = tr_tree_child(hand, hand->held->current, site);

	if (!node) {
		tr_scope_overflow(hand);
		return;
	}
	tr_scope_append(hand, node, d->start, d->span,
			d->error ? TR_ENTRY_FAILED : 0);
	tr_note_record(hand, site, d->start, d->span, d->error);
}

TARE_API void tare_duration_record_(tare_site *site, uint32_t gate,
				    uint64_t ns, const char *error)
{
	struct tr_hand *hand;
	struct duration d = { .error = error };
	uint64_t now;

	if (tr_probe_forward) {
		tr_probe_forward->duration(site, gate, ns, error);
		return;
	}
	hand = tr_probe_ready(site, gate);
	if (!hand)
		return;
	now = tr_ledger_ticks();
	d.span = (uint64_t)((double)ns * 1e-9 / hand->scale + 0.5);
	d.start = now > d.span ? now - d.span : 0;
	if (!tr_hand_enter(hand)) {
		defer_duration(hand, TR_LOAD(site->id), &d);
		return;
	}
	append_duration(hand, TR_LOAD(site->id), &d);
	tr_hand_leave(hand);
}

void tr_probe_overlap(tare_site *site, uint32_t gate, uint64_t from,
		      uint64_t to)
{
	struct tr_hand *hand = tr_probe_ready(site, gate);
	uint32_t node;

	if (!hand)
		return;
	if (!tr_hand_enter(hand)) {
		lose_busy();
		return;
	}
	node = tr_tree_child(hand, hand->held->root, TR_LOAD(site->id));
	if (node)
		tr_scope_append(hand, node, from, to > from ? to - from : 0,
				0);
	else
		tr_scope_overflow(hand);
	tr_hand_leave(hand);
}

TR_OWN(tr_own_value_observe, tare_value_observe_);
TR_OWN(tr_own_gauge_set, tare_gauge_set_);
TR_OWN(tr_own_gauge_add, tare_gauge_add_);
TR_OWN(tr_own_counter_add, tare_counter_add_);
TR_OWN(tr_own_ratio_add, tare_ratio_add_);
TR_OWN(tr_own_duration_record, tare_duration_record_);
