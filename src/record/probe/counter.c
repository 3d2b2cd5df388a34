/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters and ratios: one addition to a slot of the thread.
 *
 * Integer counters are inline, in probe.h. This file has the less common
 * cases: the first use, counters of doubles, and counters whose single
 * additions are kept (keep_kinds). Sites of the last two never have the
 * generation of their gate, so that the inline part calls these functions.
 */
#include "record/probe.h"

/* Makes the slot's chunk if needed; NULL: lost and counted. */
static uint64_t *slot_of(struct tr_thread *thread, uint32_t slot)
{
	/* Read once: it becomes NULL when the ledger is replaced. */
	uint64_t *chunk =
		TR_LOAD(thread->self.counter[slot / TR_COUNTER_SLOTS]);

	if (!chunk) {
		if (!tr_thread_enter(thread)) {
			tr_lose_busy();
			return NULL;
		}
		chunk = tr_track_counters(thread, slot);
		if (!chunk)
			tr_thread_lose(thread);
		tr_thread_leave(thread);
	}
	return chunk ? chunk + slot % TR_COUNTER_SLOTS : NULL;
}

/*
 * Only this thread writes the slot, but its own signal handler may run between
 * load and store. No `lock` prefix: one instruction is atomic within a thread.
 */
static bool swap_own(uint64_t *slot, uint64_t *before, uint64_t after)
{
#if defined(__x86_64__)
	bool done;

	__asm__ volatile("cmpxchgq %3, %1"
			 : "=@ccz"(done), "+m"(*slot), "+a"(*before)
			 : "r"(after)
			 : "memory");
	return done;
#else
	return __atomic_compare_exchange_n(slot, before, after, false,
					   __ATOMIC_RELAXED, __ATOMIC_RELAXED);
#endif
}

static void slot_add_double(uint64_t *slot, double value)
{
	uint64_t before = TR_LOAD(*slot);

	while (!swap_own(slot, &before,
			 tr_bits_of(tr_real_of(before) + value)))
		;
}

/*
 * Keeps a single addition as a record. If that fails, the sum is still right.
 */
static void keep(struct tr_thread *thread, uint32_t site, double value)
{
	uint32_t cell;

	if (!tr_site_is_kept(tr_site_at(site)))
		return;
	if (!tr_thread_enter(thread)) {
		(void)TR_ADD(tr_ledger->header->lost.records, 1);
		return;
	}
	cell = tr_value_cell(thread, site);
	if (cell)
		tr_observe_kept(thread, cell, value, tr_ledger_ticks());
	tr_thread_leave(thread);
}

/* What the first calls add, see struct tr_site. */
static void count_first(tare_site *site, uint64_t n)
{
	struct tr_site *known = tr_site_at(TR_LOAD(site->id));
	uint64_t most = TR_COUNTER_SUM / (2 * TR_COUNTER_FIRST);
	uint64_t first = TR_LOAD(known->missed) >> TR_COUNTER_CALLS_SHIFT;

	if (first >= TR_COUNTER_FIRST)
		return;
	(void)TR_ADD(known->missed, (UINT64_C(1) << TR_COUNTER_CALLS_SHIFT) +
					    (n < most ? n : most));
	if (first + 1 == TR_COUNTER_FIRST)
		(void)tr_site_refresh(site);
}

/* Adds `n`, or `value` if it is not 0. */
static void add(tare_site *site, uint32_t gate, uint64_t n, double value)
{
	struct tr_thread *thread = tr_probe_ready(site, gate);
	uint32_t id = TR_LOAD(site->id);
	uint64_t *slot = thread ? slot_of(thread, TR_LOAD(site->slot)) : NULL;

	if (!slot)
		return;
	/* Beyond max_sites it is a series of integers. */
	if (TR_LOAD(tr_site_at(id)->flags) & TARE_SITE_DOUBLE)
		slot_add_double(slot, value + (double)n);
	else
		tare_slot_add_(slot, n + (uint64_t)value);
	count_first(site, n);
	keep(thread, id, value + (double)n);
}

TARE_API void tare_counter_add_(tare_site *site, uint32_t gate, uint64_t n)
{
	TR_FORWARD(counter_add, site, gate, n);
	add(site, gate, n, 0);
}

TARE_API void tare_counter_add_double_(tare_site *site, uint32_t gate,
				       double value)
{
	/* This form also refuses NAN; 2^63 is far above any sum. */
	if (!(value >= 0 && value < 0x1p63))
		return;
	if (!tr_probe_forward)
		add(site, gate, 0, value);
	else if (TR_FIRST_HAS(counter_add_double))
		tr_probe_forward->counter_add_double(site, gate, value);
	else
		tr_probe_forward->counter_add(site, gate, (uint64_t)value);
}

TARE_API void tare_ratio_add_(tare_site *site, uint32_t gate, uint64_t part,
			      uint64_t whole)
{
	struct tr_thread *thread;
	uint64_t *first, *second;
	uint32_t slot;

	TR_FORWARD(ratio_add, site, gate, part, whole);
	thread = tr_probe_ready(site, gate);
	slot = TR_LOAD(site->slot);
	first = thread ? slot_of(thread, slot) : NULL;
	second = first ? slot_of(thread, slot + 1) : NULL;
	/*
	 * The denominator first: a reader in between sees no ratio above one.
	 */
	if (second) {
		tare_slot_add_(second, whole);
		tare_slot_add_(first, part);
		if (whole)
			keep(thread, TR_LOAD(site->id),
			     (double)part / (double)whole);
	}
}

TR_OWN(tr_own_counter_add, tare_counter_add_);
TR_OWN(tr_own_counter_add_double, tare_counter_add_double_);
TR_OWN(tr_own_ratio_add, tare_ratio_add_);
