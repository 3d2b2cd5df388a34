/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calibrate: the clock's rate and resolution, and the cost of a probe.
 *
 * Nothing sleeps. The rate comes from the processor if it reports one, else
 * from two readings at the two ends of the start-up work, at least 200 us
 * apart; anchors taken later make conversions exact. The cost of a probe is
 * the minimum of a few rounds on a separate track, which is given back empty.
 * Programs that start soon after another share its figures (calibration.c).
 */
#include "record/runtime.h"

#define TR_CALIBRATE_NS 200000
#define TR_ROUNDS 8
#define TR_CALLS 64u

static uint64_t step_of_clock(void)
{
	uint64_t least = UINT64_MAX, before = tr_ledger_ticks();
	unsigned ones = 0, n = 200;

	for (unsigned i = 0; i < n; i++) {
		uint64_t now = tr_ledger_ticks();

		if (now - before <= 2)
			ones++; /* two reads within one step */
		else if (now - before < least)
			least = now - before;
		before = now;
	}
	return ones > n / 2 || least == UINT64_MAX ? 1 : least;
}

/* Seconds per tick between the start's anchor and now. */
static double measured_rate(const struct tr_anchor *from)
{
	struct tr_anchor to;

	do {
		tr_anchor_take(&to, true);
	} while (to.mono_ns - from->mono_ns < TR_CALIBRATE_NS);
	return (double)(to.mono_ns - from->mono_ns) * 1e-9 /
	       (double)(to.ticks - from->ticks);
}

static uint32_t choose_shift(double sec_per_tick)
{
	uint32_t shift = 20;

#if defined(__x86_64__)
	(void)sec_per_tick;
	return TR_SLICE_SHIFT;
#endif
	while ((double)(UINT64_C(1) << shift) * sec_per_tick < 0.6)
		shift++;
	return shift;
}

/* The figures are another process's. For the ledger that is being opened. */
static bool is_shared;

/* Of the process, which may have begun long before its ledger. */
static void set_start(struct tr_anchor *to, const struct tr_anchor *start)
{
	if (!start->mono_ns) {
		tr_anchor_take(to, tr_ledger->counter_clock);
		return;
	}
	*to = *start;
	if (!tr_ledger->counter_clock) {
		to->ticks = (uint64_t)to->mono_ns;
		to->width = 0;
	}
}

void tr_calibrate_clock(const struct tr_anchor *start)
{
	struct tr_header *header = tr_ledger->header;
	double hz = tr_counter_hz();

	is_shared = tr_calibration_read();

	set_start(&header->start, start);
	if (!tr_ledger->counter_clock) {
		header->clock = TR_CLOCK_KIND_MONOTONIC;
		header->sec_per_tick = 1e-9;
	} else {
#if defined(__aarch64__)
		header->clock = TR_CLOCK_KIND_CNTVCT;
#else
		header->clock = TR_CLOCK_KIND_TSC;
#endif
		if (hz > 0)
			header->sec_per_tick = 1 / hz;
		else if (!is_shared)
			header->sec_per_tick = measured_rate(&header->start);
	}
	header->slice_shift = tr_ledger->counter_clock ?
				      choose_shift(header->sec_per_tick) :
				      TR_SLICE_SHIFT;
	header->resolution_ticks = (double)step_of_clock();
	tr_ledger->sec_per_tick = header->sec_per_tick;
	tr_ledger->slice_shift = header->slice_shift;
}

/* ---- cost of a probe --------------------------------------------------- */

/* Sites for internal use: readers leave them out. */
#define TR_INNER(var, kind, name) \
	static tare_site var = TARE_SITE_INIT_(var, kind, TARE_TYPE_CUSTOM, \
					       TR_SITE_INTERNAL, name, NULL, \
					       NULL)
TR_INNER(inner_scope, TARE_KIND_SCOPE, "(calibration)");
static tare_site inner_value =
	TARE_SITE_INIT_(inner_value, TARE_KIND_VALUE, TARE_TYPE_CUSTOM,
			TR_SITE_INTERNAL | TR_SITE_KEPT,
			"(calibration value)", NULL, NULL);
TR_INNER(inner_counter, TARE_KIND_COUNTER, "(calibration counter)");

TR_INNER(inner_untimed, TARE_KIND_SCOPE, "(calibration untimed)");

static void one_scope(void)
{
	tare_scope scope = tare_scope_begin(&inner_scope);

	__asm__ volatile("" ::: "memory");
	tare_scope_end(scope);
}

static void one_untimed(void)
{
	tare_scope scope = tare_scope_begin(&inner_untimed);

	__asm__ volatile("" ::: "memory");
	tare_scope_end(scope);
}

static void one_value(void)
{
	tare_value_observe(&inner_value, 1.0);
}

static void one_counter(void)
{
	tare_counter_add(&inner_counter, 1);
}

/* Ticks of TR_CALLS calls, the minimum of a few rounds. */
TR_INLINE double least_cost(void (*probe)(void), int rounds)
{
	double least = 1e18;

	probe(); /* the first one registers */
	for (int round = 0; round < rounds; round++) {
		uint64_t start = tr_ledger_ticks();
		double cost;

		for (unsigned i = 0; i < TR_CALLS; i++)
			probe();
		cost = (double)(tr_ledger_ticks() - start) / TR_CALLS;
		if (cost < least)
			least = cost;
	}
	return least;
}

/*
 * The cost of a probe in a program that computes: the difference with and
 * without measuring. It depends on the work between two probes. With little
 * work, the processor has nothing else to do meanwhile; with more, it
 * continues the work while it waits for the clock; with more than its
 * look-ahead, it waits at both ends again.
 */
static const unsigned works[TR_WORKS] = { 8, 18, 64, 512 };

TR_INLINE uint64_t work(uint64_t x, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

/* Work like a host's: within a scope, or after a value, or alone. */
TR_INLINE uint64_t work_measured(tare_site *site, uint64_t x, unsigned n)
{
	tare_scope scope;

	if (!site)
		return work(x, n);
	if (site->kind == TARE_KIND_VALUE) {
		tare_value_observe(site, 1.0);
		return work(x, n);
	}
	scope = tare_scope_begin(site);
	x = work(x, n);
	tare_scope_end(scope);
	return x;
}

static TR_NOINLINE uint64_t ticks_of_work(tare_site *site, unsigned n,
					  unsigned calls)
{
	uint64_t start = tr_ledger_ticks(), x = start;

	for (unsigned i = 0; i < calls; i++)
		x = work_measured(site, x, n);
	__asm__ volatile("" ::"r"(x));
	return tr_ledger_ticks() - start;
}

static void added_cost(tare_site *site, struct tr_added *ret_added)
{
	for (unsigned w = 0; w < TR_WORKS; w++) {
		unsigned calls = TR_CALLS >> (w ? w - 1 : 0);
		int rounds = TR_ROUNDS >> (w / 3);
		uint64_t with = UINT64_MAX, without = UINT64_MAX;

		for (int round = 0; round < rounds; round++) {
			uint64_t a = ticks_of_work(NULL, works[w], calls);
			uint64_t b = ticks_of_work(site, works[w], calls);

			without = a < without ? a : without;
			with = b < with ? b : with;
		}
		ret_added->between[w] = (double)without / calls;
		ret_added->ticks[w] = with > without ?
					      (double)(with - without) / calls :
					      0;
	}
}

/* The part of the cost inside a scope, from the calibration's own scopes. */
static double inside_cost(void)
{
	const struct tr_thread *thread = tr_this_thread();
	const struct tr_node *node;
	uint32_t off = thread->own_track ? thread->own_track->nodes : 0;

	for (; off; off = node->next) {
		node = tr_node_at(thread, off);
		if (node->site == inner_scope.id && node->calls)
			return (double)tr_cell_at(thread, node->cell)->min;
	}
	return 0;
}

/* Switches where entries are drained, at the next place that allows it. */
static void use_drain(bool behind)
{
	for (unsigned i = 0; i < TR_BATCH; i++) {
		if (tr_drain_use(tr_this_thread(), behind))
			return;
		one_scope();
	}
}

/*
 * Ticks of a scope, after choosing how this process drains its log. Once: a
 * forked child has the same processor.
 */
static double scope_cost(void)
{
	/* The other way must win by a margin that noise does not reach. */
	double most = tr_counter_overlaps() ? 1.1 : 0.9, batch, behind;

	if (tr_drain_is_chosen)
		return least_cost(one_scope, TR_ROUNDS);
	batch = least_cost(one_scope, TR_ROUNDS / 2);
	use_drain(true);
	behind = least_cost(one_scope, TR_ROUNDS / 2);
	if (behind < most * batch)
		return behind;
	use_drain(false);
	return batch;
}

void tr_calibrate_probes(void)
{
	struct tr_header *header = tr_ledger->header;
	double scope, inside;

	if (is_shared)
		return;
	scope = scope_cost();
	inside = inside_cost();
	header->inside_ticks = inside < scope ? inside : scope;
	header->outside_ticks = scope - header->inside_ticks;
	header->value_ticks = least_cost(one_value, TR_ROUNDS);
	tare_scope_end(tare_scope_begin(&inner_untimed));
	TR_STORE(inner_untimed.reserved[1], TR_LEVEL_COUNTED);
	TR_STORE(inner_untimed.generation, 0);
	header->counted_ticks = least_cost(one_untimed, TR_ROUNDS);
	added_cost(&inner_scope, &header->added_scope);
	added_cost(&inner_untimed, &header->added_untimed);
	added_cost(&inner_value, &header->added_value);
	/* The program's first value must read the clock again. */
	tr_this_thread()->values_left = 0;
	header->counter_ticks = least_cost(one_counter, TR_ROUNDS);
	tr_calibration_write();
}
