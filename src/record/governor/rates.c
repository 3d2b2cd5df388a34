/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates: threads run on during the count, so it is at most a few events old.
 * Counters do not count their calls, and are left out: at a nanosecond or two
 * each they are the last place to save.
 */
#include "record/governor/rates.h"

#include <string.h>

#include "record/price.h"

bool tr_rates_open(struct tr_rates *rates, uint32_t most)
{
	size_t bytes = most * sizeof(*rates->now);

	if (!rates->now)
		rates->now = tr_memory_map(bytes);
	if (!rates->before)
		rates->before = tr_memory_map(bytes);
	if (!rates->known)
		rates->known = tr_memory_map(most * sizeof(*rates->known));
	if (!rates->now || !rates->before || !rates->known)
		return false;
	memset(rates->known, 0, rates->n * sizeof(*rates->known));
	memset(rates->now, 0, rates->n * sizeof(*rates->now));
	memset(rates->before, 0, rates->n * sizeof(*rates->before));
	rates->most = most;
	rates->n = 0;
	return true;
}

/*
 * Linear interpolation; a step between the last two points, since the
 * processor's look-ahead ends somewhere between them.
 */
static double added_at(const struct tr_added *added, double between)
{
	const double *at = added->between, *ticks = added->ticks;
	unsigned i = 0;

	if (between <= at[0])
		return ticks[0];
	while (i < TR_WORKS - 2 && between >= at[i + 1])
		i++;
	if (i == TR_WORKS - 2)
		return ticks[between * between < at[i] * at[i + 1] ? i :
								     i + 1];
	if (at[i + 1] <= at[i])
		return ticks[i];
	return ticks[i] + (ticks[i + 1] - ticks[i]) * (between - at[i]) /
				  (at[i + 1] - at[i]);
}

/*
 * Of scopes: as measured in the program, if there were trials. How much of the
 * counting overlaps with other work differs between programs: without trials,
 * to be safe, take its cost in the densest case.
 */
static struct tr_costs costs_at(const struct tr_rates *rates, double between_s)
{
	const struct tr_header *header = tr_ledger->header;
	double s = tr_ledger->sec_per_tick, between = between_s / s;
	struct tr_costs costs = {
		s * added_at(&header->added_scope, between),
		s * added_at(&header->added_untimed, 0),
		s * added_at(&header->added_value, between),
		0,
	};

	/* In code of another kind it is several times as much. */
	costs.more_s = costs.scope_s + costs.untimed_s;
	if (rates->measured.scope_s > 0) {
		costs.scope_s = rates->measured.scope_s;
		costs.untimed_s = rates->measured.untimed_s;
		costs.more_s = rates->measured.more_s;
	}
	return costs;
}

/* What trials have found so far. */
static void find_prices(struct tr_rates *rates)
{
	double s = tr_ledger->sec_per_tick, samples = 0;
	struct tr_costs sum = { 0 };
	struct tr_price_figures f;
	uint32_t site;

	for (uint32_t row = 0; (site = tr_price_at(row, &f)) != 0; row++) {
		/* Few trials, as of a rare site: too uncertain to act on. */
		if (site >= rates->n || !(f.timed > 0) ||
		    f.samples < TR_PRICE_SURE)
			continue;
		rates->known[site] = (struct tr_known){
			.scope_s = (float)(s * f.timed),
			.untimed_s = (float)(s * f.counted),
			.more_s = (float)(s * f.counted_error),
		};
		sum.scope_s += f.samples * s * f.timed;
		sum.untimed_s += f.samples * s * f.counted;
		sum.more_s += f.samples * s * f.counted_error;
		samples += f.samples;
	}
	rates->measured = (struct tr_costs){ 0 };
	if (samples > 0)
		rates->measured = (struct tr_costs){
			.scope_s = sum.scope_s / samples,
			.untimed_s = sum.untimed_s / samples,
			.more_s = sum.more_s / samples,
		};
}

struct tr_costs tr_rates_costs(const struct tr_rates *rates, uint32_t site)
{
	struct tr_costs costs = rates->costs;

	if (rates->known[site].scope_s > 0) {
		costs.scope_s = (double)rates->known[site].scope_s;
		costs.untimed_s = (double)rates->known[site].untimed_s;
	}
	return costs;
}

/* Adds up a thread's nodes; returns their sum. */
static struct tr_rate add_nodes(struct tr_rates *rates,
				const struct tr_thread *thread)
{
	const struct tr_track *track = thread->own_track;
	struct tr_rate all = { 0, 0, 0 };
	uint32_t n = TR_LOAD(track->n_nodes) + 1;

	for (uint32_t off = TR_ACQUIRE(track->nodes); off && n; n--) {
		const struct tr_node *node = tr_node_at(thread, off);
		uint32_t id = TR_LOAD(node->site);
		uint64_t timed = TR_LOAD(node->calls);
		uint64_t untimed = TR_LOAD(node->untimed);

		off = TR_LOAD(node->next);
		if (id >= rates->n)
			continue;
		rates->now[id].timed += timed;
		rates->now[id].untimed += untimed;
		all.timed += timed;
		all.untimed += untimed;
	}
	return all;
}

static uint64_t add_runs(struct tr_rates *rates, const struct tr_thread *thread)
{
	uint64_t all = 0;

	for (unsigned i = 0; i < TR_RUNS; i++) {
		uint32_t id = TR_LOAD(thread->run[i].site);
		uint64_t n = (uint64_t)TR_LOAD(thread->run[i].runs) *
			     TR_RUN_VALUES;

		if (!id || id >= rates->n)
			continue;
		rates->now[id].values += n;
		all += n;
	}
	return all;
}

static uint64_t increase(uint64_t before, uint64_t now)
{
	/* Less than before: the ledger was replaced. */
	return now > before ? now - before : 0;
}

/* Work of a thread since the last check, and its time. */
struct activity {
	double timed, untimed, values;
	double cpu_s;
};

static struct activity activity_of(struct tr_rates *rates,
				   struct tr_thread *thread)
{
	struct tr_losses *lost = &thread->own_track->lost;
	struct tr_rate all = add_nodes(rates, thread);
	uint32_t owner = TR_LOAD(thread->own_track->owner);
	uint64_t cpu = (uint64_t)tr_clock_ns(tr_thread_clock(owner));
	struct activity found;

	all.values = add_runs(rates, thread);
	found = (struct activity){
		(double)increase(thread->seen.timed, all.timed),
		(double)increase(thread->seen.untimed, all.untimed),
		(double)increase(thread->seen.values, all.values),
		(double)increase(lost->cpu_ns, cpu) * 1e-9,
	};
	thread->seen = (struct tr_seen){ all.timed, all.untimed, all.values };
	TR_STORE(lost->cpu_ns, cpu);
	return found;
}

static void look_at_thread(struct tr_rates *rates, struct tr_thread *thread,
			   double on, struct tr_costs *sums)
{
	struct tr_losses *lost = &thread->own_track->lost;
	struct activity t = activity_of(rates, thread);
	double n = t.timed + t.untimed + t.values, cost;
	struct tr_costs costs;

	if (n == 0)
		return;
	/* The interval excludes the cost: estimate it, subtract, repeat. */
	costs = costs_at(rates, t.cpu_s * on / n);
	cost = t.timed * costs.scope_s + t.untimed * costs.untimed_s +
	       t.values * costs.value_s;
	costs = costs_at(rates, (t.cpu_s * on - cost) / n);
	cost = t.timed * costs.scope_s + t.untimed * costs.untimed_s +
	       t.values * costs.value_s;
	/* Very dense calls overlap more than was calibrated. */
	if (cost > t.cpu_s)
		cost = t.cpu_s;
	rates->cost_s += cost;
	rates->more_s += (t.timed + t.untimed) * costs.more_s;
	rates->events += n;
	sums->scope_s += n * costs.scope_s;
	sums->untimed_s += n * costs.untimed_s;
	sums->value_s += n * costs.value_s;
	if (t.cpu_s > 0 && cost / t.cpu_s > rates->thread_share)
		rates->thread_share = cost < t.cpu_s ? cost / t.cpu_s : 1;
	TR_STORE(lost->cost_ns, lost->cost_ns + (uint64_t)(cost * 1e9));
}

static void start_look(struct tr_rates *rates)
{
	uint64_t used = TR_LOAD(tr_ledger->region[TR_REGION_SITES].used);
	struct tr_rate *before = rates->before;

	rates->n = (uint32_t)(used / sizeof(struct tr_site));
	if (rates->n > rates->most)
		rates->n = rates->most;
	rates->before = rates->now;
	rates->now = before;
	rates->thread_share = rates->cost_s = rates->events = 0;
	rates->more_s = 0;
	memset(rates->now, 0, rates->n * sizeof(*rates->now));
}

void tr_rates_look(struct tr_rates *rates, double on)
{
	struct tr_costs sums = { 0 };

	start_look(rates);
	find_prices(rates);
	for (uint32_t i = 0;
	     i < tr_max_threads && TR_ACQUIRE(tr_threads[i].own_track); i++)
		look_at_thread(rates, &tr_threads[i], on, &sums);
	if (rates->events == 0) {
		rates->costs = costs_at(rates, 1);
		return;
	}
	rates->costs.scope_s = sums.scope_s / rates->events;
	rates->costs.untimed_s = sums.untimed_s / rates->events;
	rates->costs.value_s = sums.value_s / rates->events;
}

struct tr_rate tr_rates_new(const struct tr_rates *rates, uint32_t site)
{
	const struct tr_rate *before = &rates->before[site];
	const struct tr_rate *now = &rates->now[site];

	return (struct tr_rate){
		increase(before->timed, now->timed),
		increase(before->untimed, now->untimed),
		increase(before->values, now->values),
	};
}
