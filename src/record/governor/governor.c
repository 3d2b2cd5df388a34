/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Governor: measures the cost, plans, acts, and relaxes.
 *
 * Acts at once when the cost exceeds the limit, on a plan for three quarters
 * of the limit. Relaxes when a looser plan has been sufficient for some time.
 * If the load then returns, that time doubles, so that a load that comes and
 * goes does not change the switches for ever.
 */

#include <string.h>
#include <time.h>

#include "record/governor/actions.h"
#include "record/governor/pause.h"
#include "record/governor/plan.h"
#include "record/governor/rates.h"
#include "record/price.h"
#include "record/probe.h"

#define LOOK_NS INT64_C(100000000)
#define TRIALS_NS INT64_C(700000000) /* so long it waits for trials */
#define ALIVE_NS INT64_C(1000000000) /* the thread called this recently */
#define HOLD_NS INT64_C(1500000000)
#define HOLD_MOST_NS INT64_C(3600000000000)
#define RELAPSE_NS INT64_C(10000000000)
#define QUIET_NS INT64_C(10000000000) /* idle this long: no more turns */
#define HOPELESS 20 /* checks above the limit, with no measure left */
#define OFF_NS INT64_C(60000000000)
#define HEADROOM 0.75
#define SITES 32u /* considered one by one */
#define LEAST_HOST 0.125 /* of a call's time, in the densest loop */
#define LEAST_CPU 0.1 /* of one CPU: a process that uses less is idle */

/* Uncounted calls of a paused site per counted one. */
struct unseen {
	double likely, low, high;
};

static struct {
	struct tr_governor_setup setup;
	uint32_t working; /* only one thread checks at a time */
	uint32_t is_ready;
	uint8_t *levels;
	float *rate; /* by site, calls per interval */
	float *seen, *missed; /* by site, of the last interval */
	uint32_t n_levels;
	struct tr_rates rates;
	struct tr_pause pause;
	double open_s, cost_s, more_s; /* of the last interval, while open */
	struct tr_plan_site site[SITES];
	int64_t look_ns, turn_ns, busy_ns;
	int64_t between_ns; /* least time between checks by measured threads */
	double looking_s;   /* time spent in those checks */
	int64_t calm_ns;    /* since when a looser plan would do; 0: not */
	int64_t release_ns; /* time of the last relaxation */
	int64_t hold_ns;
	int64_t off_ns;	   /* since when all is off; 0: not off */
	int64_t hot_ns;	   /* since when the cost exceeds the limit; 0: not */
	uint32_t hopeless; /* checks since a plan was enough */
	double off_share;  /* the share that caused it */
	double cpu_s, background_s;
} g;

static bool begin_work(void)
{
	return __atomic_exchange_n(&g.working, 1, __ATOMIC_ACQUIRE) == 0;
}

static void end_work(void)
{
	__atomic_store_n(&g.working, 0, __ATOMIC_RELEASE);
}

static double cpu_seconds(void)
{
	return (double)tr_clock_ns(CLOCK_PROCESS_CPUTIME_ID) * 1e-9;
}

/* Set by any thread that checks its switches. */
static double limit_now(void)
{
	double limit;

	__atomic_load(&g.setup.limit, &limit, __ATOMIC_RELAXED);
	return limit;
}

static struct tr_governed *governed(void)
{
	return &tr_ledger->header->governed;
}

/* ---- what it costs ----------------------------------------------------- */

struct look {
	double cpu_s;  /* of the interval */
	double cost_s; /* the part that measuring took, our thread included */
	double rest_s; /* the part of sites that are not in g.site */
	struct unseen shut;
	bool is_short; /* `shut` is per call of the interval before */
	size_t n;
};

static double full_cost(const struct tr_plan_site *s)
{
	return s->rate * (s->is_scope ? s->scope_s : g.rates.costs.value_s);
}

/*
 * Adds to the list of the most expensive sites; one that drops out is added to
 * the rest.
 */
static void enter(struct look *look, const struct tr_plan_site *s)
{
	struct tr_plan_site *least = &g.site[0];

	if (look->n < SITES) {
		g.site[look->n++] = *s;
		return;
	}
	for (size_t i = 1; i < SITES; i++)
		if (full_cost(&g.site[i]) < full_cost(least))
			least = &g.site[i];
	if (full_cost(least) < full_cost(s)) {
		look->rest_s += least->cost;
		*least = *s;
	} else {
		look->rest_s += s->cost;
	}
}

/*
 * Rate of a paused site. Few of its calls were counted, and perhaps just while
 * its thread was running, or was not: a change is only partly adopted.
 */
static double rate_of(uint32_t id, double calls, double on)
{
	double rate = calls / on;

	if (on < 1 && g.rate[id] > 0)
		rate = 0.5 * rate + 0.5 * (double)g.rate[id];
	g.rate[id] = (float)rate;
	return rate;
}

/*
 * How much such estimates vary from one check to the next is their error: of
 * two independent ones, half the square of the difference.
 */
static void add_missed(const struct look *look, uint32_t id, double calls)
{
	double missed = calls * look->shut.likely;
	double change = look->is_short ? 0 : missed - (double)g.missed[id];
	struct tr_missed bounds = { calls * look->shut.low,
				    calls * look->shut.high,
				    change * change / 2 };

	g.missed[id] = (float)missed;
	(void)TR_ADD(tr_site_at(id)->missed, (uint64_t)(missed + 0.5));
	tr_price_missed(id, &bounds);
}

static void look_at_site(struct look *look, uint32_t id)
{
	struct tr_rate new = tr_rates_new(&g.rates, id);
	uint64_t scopes = new.timed + new.untimed;
	double on = g.levels[id] & TR_LEVEL_PAUSED ? tr_pause_part(&g.pause) :
						     1;
	struct tr_costs costs = tr_rates_costs(&g.rates, id);
	struct tr_plan_site s = {
		.site = id,
		.is_scope = scopes > 0,
		.rate = rate_of(id, (double)(scopes ? scopes : new.values), on),
		.cost = (double)new.timed * costs.scope_s +
			(double)new.untimed * costs.untimed_s +
			(double)new.values * costs.value_s,
		.scope_s = costs.scope_s,
		.untimed_s = costs.untimed_s,
	};

	if (!(scopes | new.values) && !g.levels[id])
		return;
	if (!look->is_short)
		g.seen[id] = (float)(scopes + new.values);
	if (g.levels[id] & TR_LEVEL_PAUSED && look->shut.likely > 0)
		add_missed(look, id, (double)g.seen[id]);
	enter(look, &s);
}

static void write_governed(const struct look *look)
{
	struct tr_governed *b = governed();

	b->limit = limit_now();
	b->share = look->cpu_s > 0 ? look->cost_s / look->cpu_s : 0;
	b->thread_share = g.rates.thread_share;
	b->cost_ns += look->cost_s * 1e9;
	b->cpu_ns += look->cpu_s * 1e9;
	TR_STORE(b->looks, b->looks + 1);
}

/*
 * Ratio of calls while the gate is closed to calls while it is open. Closed,
 * there are more in the same time, since they cost nothing. What counting costs
 * is known within limits only (ledger/layout/price.c).
 */
static double unseen_at(double ratio, double cost_s, double least)
{
	double host_s = g.open_s - cost_s;

	if (host_s < g.open_s * least)
		host_s = g.open_s * least;
	if (host_s > g.open_s)
		host_s = g.open_s;
	return ratio * g.open_s / host_s;
}

static struct unseen unseen(double shut_s)
{
	double ratio = shut_s / g.open_s;

	return (struct unseen){
		unseen_at(ratio, g.cost_s, LEAST_HOST),
		unseen_at(ratio, g.cost_s - g.more_s, LEAST_HOST),
		unseen_at(ratio, g.cost_s + g.more_s, LEAST_HOST / 4),
	};
}

/*
 * The end of a run comes at any time, perhaps before the gate was ever open:
 * calls are then as frequent as in the interval before.
 */
static void find_unseen(struct look *look)
{
	double on = tr_pause_part(&g.pause);

	look->is_short = !tr_pause_is_whole(&g.pause) && g.open_s > 0;
	if (!look->is_short) {
		g.open_s = on * look->cpu_s;
		g.cost_s = g.rates.cost_s;
		g.more_s = g.rates.more_s;
	}
	if (g.pause.is_used && g.open_s > 0)
		look->shut = unseen((double)g.pause.shut_ns * 1e-9);
}

static void take_look(struct look *look)
{
	double cpu = cpu_seconds();
	double background = (double)g.setup.background_ns() * 1e-9 +
			    g.looking_s;

	memset(look, 0, sizeof(*look));
	tr_pause_account(&g.pause);
	tr_rates_look(&g.rates, tr_pause_part(&g.pause));
	look->cpu_s = cpu - g.cpu_s;
	find_unseen(look);
	for (uint32_t id = TR_SITE_OVERFLOW; id < g.rates.n; id++)
		if (TR_ACQUIRE(tr_site_at(id)->ready) &&
		    !(TR_LOAD(tr_site_at(id)->flags) & TR_SITE_INTERNAL))
			look_at_site(look, id);
	look->cost_s = g.rates.cost_s + background - g.background_s;
	g.background_s = background;
	g.cpu_s = cpu;
	write_governed(look);
	tr_pause_counted(&g.pause);
}

/* ---- what to do about it ----------------------------------------------- */

static struct tr_plan plan_for(struct look *look)
{
	double per_cpu = 1 / look->cpu_s;
	struct tr_plan plan = {
		.site = g.site,
		.n = look->n,
		.limit = limit_now() * HEADROOM,
		.fixed = look->rest_s * per_cpu,
		.scope_s = g.rates.costs.scope_s,
		.untimed_s = g.rates.costs.untimed_s,
		.value_s = g.rates.costs.value_s,
	};

	for (size_t i = 0; i < look->n; i++)
		g.site[i].rate *= per_cpu;
	tr_plan_make(&plan);
	return plan;
}

/* A site that the plan leaves out, because it is cheap, is measured in full. */
static uint8_t planned_level(const struct tr_plan *plan, uint32_t id)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->site[i].site == id)
			return plan->site[i].level;
	return TR_LEVEL_FULL;
}

/* Is the plan looser than the one in force, and nowhere stricter? */
static bool is_looser(const struct tr_plan *plan)
{
	for (size_t i = 0; i < plan->n; i++)
		if (plan->site[i].level > g.levels[plan->site[i].site])
			return false;
	for (uint32_t id = 0; id < g.rates.n; id++)
		if (g.levels[id] && planned_level(plan, id) < g.levels[id])
			return true;
	return false;
}

static bool set_level(uint32_t id, uint8_t level, struct tr_reason why)
{
	struct tr_site *site = tr_site_at(id);

	if (g.levels[id] == level)
		return false;
	TR_STORE(g.levels[id], level);
	TR_STORE(site->level, level);
	if (level > TR_LOAD(site->worst))
		TR_STORE(site->worst, level);
	tr_action_note(id, level, why);
	return true;
}

/* The highest level in force, and how many sites have one. */
static void count_levels(void)
{
	uint32_t highest = 0, n = 0;
	bool paused = false;

	for (uint32_t id = 0; id < g.rates.n; id++) {
		n += g.levels[id] != 0;
		paused |= (g.levels[id] & TR_LEVEL_PAUSED) != 0;
		if (g.levels[id] > highest)
			highest = g.levels[id];
	}
	TR_STORE(governed()->level, highest);
	TR_STORE(governed()->sites, n);
	tr_pause_enable(&g.pause, paused);
}

static struct tr_reason reason(double share)
{
	return (struct tr_reason){ share, limit_now() };
}

/* `looser`: levels may fall, too. `no_pause`: no thread can end a pause. */
static void act(const struct tr_plan *plan, double share, bool looser,
		bool no_pause)
{
	struct tr_reason why = reason(share);
	uint64_t changed = 0;

	for (size_t i = 0; i < plan->n; i++) {
		uint32_t id = plan->site[i].site;
		uint8_t level = plan->site[i].level;

		if (no_pause)
			level &= TR_LEVEL_COUNTED;
		if (level > g.levels[id])
			changed += set_level(id, level, why);
	}
	for (uint32_t id = 0; looser && id < g.rates.n; id++)
		if (g.levels[id])
			changed += set_level(id, planned_level(plan, id), why);
	if (!changed)
		return;
	(void)TR_ADD(governed()->actions, changed);
	count_levels();
	tr_control_bump(tr_ledger->control);
}

static void let_go(const struct tr_plan *plan, double share, int64_t now)
{
	if (!is_looser(plan)) {
		g.calm_ns = 0;
		return;
	}
	if (!g.calm_ns)
		g.calm_ns = now;
	if (now - g.calm_ns < g.hold_ns)
		return;
	act(plan, share, true, false);
	g.calm_ns = 0;
	g.release_ns = now;
}

/* The last resort: switches measuring off, to be tried again in a minute. */
static void switch_all(bool on, double share, int64_t now)
{
	g.off_ns = on ? 0 : now;
	g.off_share = share;
	g.hopeless = 0;
	TR_STORE(tr_ledger->control->enabled, on);
	tr_action_note(0, on ? 0 : TR_GOVERNED_OFF, reason(share));
	(void)TR_ADD(governed()->actions, 1);
	count_levels();
	if (!on)
		TR_STORE(governed()->level, TR_GOVERNED_OFF);
	tr_control_bump(tr_ledger->control);
}

/* True while all is off; `tare ctl` may have switched it on again. */
static bool is_off(int64_t now)
{
	if (!g.off_ns)
		return false;
	if (TR_LOAD(tr_ledger->control->enabled))
		g.off_ns = 0;
	else if (now - g.off_ns >= OFF_NS)
		switch_all(true, g.off_share, now);
	return g.off_ns != 0;
}

static void hold_on(int64_t now)
{
	int64_t since = now - g.release_ns;

	g.calm_ns = 0;
	if (!g.release_ns)
		return;
	if (since < RELAPSE_NS)
		g.hold_ns = g.hold_ns * 2 < HOLD_MOST_NS ? g.hold_ns * 2 :
							   HOLD_MOST_NS;
	else if (since > g.hold_ns * 10)
		g.hold_ns = HOLD_NS;
	g.release_ns = 0; /* once for each relaxation */
}

/*
 * Trials take some tenths of a second to find what a call costs here. A plan
 * without them may remove counts that cost nothing.
 */
static bool awaits_trials(const struct look *look, int64_t now)
{
	if (!g.hot_ns)
		g.hot_ns = now;
	if (now - g.hot_ns > TRIALS_NS || TR_LOAD(tr_ledger->tracing))
		return false;
	for (size_t i = 0; i < look->n; i++)
		if (g.site[i].is_scope && !g.levels[g.site[i].site] &&
		    g.site[i].cost > look->cpu_s * limit_now() / 2 &&
		    !(g.rates.known[g.site[i].site].scope_s > 0))
			return true;
	return false;
}

/* True: further checks are needed. */
static bool look_and_act(int64_t now, bool in_probe)
{
	double since = (double)(now - g.look_ns) * 1e-9;
	struct look look;
	struct tr_plan plan;
	double share;

	TR_STORE(g.look_ns, now);
	take_look(&look);
	if (limit_now() <= 0)
		return false;
	/*
	 * With almost no CPU time the share means nothing, except that levels
	 * may relax.
	 */
	if (look.cpu_s < LEAST_CPU * since)
		look.cpu_s = LEAST_CPU * since;
	plan = plan_for(&look);
	/*
	 * The cost of probes alone: levels do not change the cost of our
	 * thread.
	 */
	share = g.rates.cost_s / look.cpu_s;
	if (plan.is_enough)
		g.hopeless = 0;
	if (share <= limit_now())
		g.hot_ns = 0;
	else if (awaits_trials(&look, now))
		return true;
	if (share > limit_now()) {
		if (!in_probe)
			tr_pause_want(&g.pause, plan.on);
		hold_on(now);
		act(&plan, share, false, in_probe);
		g.hopeless += !plan.is_enough;
		if (g.hopeless >= HOPELESS && !in_probe)
			switch_all(false, share, now);
	} else if (governed()->sites && !in_probe) {
		tr_pause_want(&g.pause, plan.on);
		let_go(&plan, share, now);
	}
	return governed()->sites || share > limit_now() / 4;
}

/* ---- threads that look ------------------------------------------------- */

/*
 * Called by a measured thread in its probe. With many threads and sites a
 * check takes some of the program's time: it is counted, and the next check is
 * delayed so that checks take at most a thousandth of the time.
 */
static void come_by(void)
{
	int64_t now = tr_monotonic_ns();

	if (!TR_ACQUIRE(g.is_ready) ||
	    now - TR_LOAD(g.turn_ns) < ALIVE_NS ||
	    now - TR_LOAD(g.look_ns) < TR_LOAD(g.between_ns) || !begin_work())
		return;
	if (look_and_act(now, true))
		g.setup.ask();
	now = tr_monotonic_ns() - now;
	g.looking_s += (double)now * 1e-9;
	TR_STORE(g.between_ns, now > LOOK_NS / 1000 ? now * 1000 : LOOK_NS);
	end_work();
}

int64_t tr_governor_turn(int64_t now)
{
	int64_t next = 0;

	if (!TR_ACQUIRE(g.is_ready) || !begin_work())
		return LOOK_NS;
	TR_STORE(g.turn_ns, now);
	tr_pause_turn(&g.pause, now);
	if (is_off(now))
		g.busy_ns = now;
	if (now - g.look_ns >= LOOK_NS && tr_pause_is_whole(&g.pause) &&
	    look_and_act(now, false))
		g.busy_ns = now;
	if (now - g.busy_ns < QUIET_NS)
		next = g.look_ns + LOOK_NS - now;
	next = tr_pause_next(&g.pause, now, next);
	if (!next)
		TR_STORE(g.turn_ns, 0); /* threads check themselves */
	end_work();
	tr_actions_tell(g.setup.tell);
	return next;
}

/* Once, or again in a child if it failed in the parent. */
static bool ready_memory(uint32_t sites)
{
	g.n_levels = sites;
	if (!g.levels)
		g.levels = tr_memory_map(sites);
	if (!g.rate)
		g.rate = tr_memory_map(sites * sizeof(*g.rate));
	if (!g.seen)
		g.seen = tr_memory_map(sites * sizeof(*g.seen));
	if (!g.missed)
		g.missed = tr_memory_map(sites * sizeof(*g.missed));
	return g.levels && g.rate && g.seen && g.missed &&
	       tr_rates_open(&g.rates, sites);
}

void tr_governor_open(const struct tr_governor_setup *setup)
{
	/* A child: the parent's state is not used here. */
	TR_STORE(g.is_ready, 0);
	g.setup = *setup;
	g.hold_ns = HOLD_NS;
	g.calm_ns = g.release_ns = g.turn_ns = g.off_ns = g.hot_ns = 0;
	g.open_s = 0;
	g.between_ns = LOOK_NS;
	g.looking_s = 0;
	g.hopeless = 0;
	g.look_ns = g.busy_ns = tr_monotonic_ns();
	g.cpu_s = cpu_seconds();
	g.background_s = 0;
	tr_pause_init(&g.pause);
	if (!ready_memory((uint32_t)(tr_ledger->region[TR_REGION_SITES].cap /
				     sizeof(struct tr_site))))
		return;
	memset(g.levels, 0, g.n_levels);
	__atomic_store_n(&tr_site_levels, g.levels, __ATOMIC_RELEASE);
	__atomic_store_n(&tr_look, come_by, __ATOMIC_RELAXED);
	end_work();
	TR_PUBLISH(g.is_ready, 1);
}

void tr_governor_close(void)
{
	struct look look;

	if (!TR_ACQUIRE(g.is_ready))
		return;
	/* Skipped while another thread checks: its result serves as well. */
	if (begin_work()) {
		take_look(&look);
		end_work();
	}
	tr_actions_tell(g.setup.tell);
	TR_STORE(g.is_ready, 0);
}

/*
 * A lower limit takes effect at the next check, a higher one when the load is
 * low.
 */
void tr_governor_limit(double limit)
{
	__atomic_store(&g.setup.limit, &limit, __ATOMIC_RELAXED);
}
