/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watch: the memory of the process over the steps, and its growth.
 *
 * A reading costs microseconds, and a step may be shorter. So readings are
 * spaced by their cost: they take one part in TR_READING_SHARE of the time. A
 * run of many short steps would end without any; so the first TR_DENSE steps
 * are all read, and later ones ever more rarely. If that has cost more than
 * TR_CREDIT_NS and a part of the time, TR_SPARSE is the number, and at
 * TR_MOST_NS it ends. The distance between these readings is random: teeth
 * sampled at their own period seem to rise.
 *
 * Checks cost more. They have the same share of the time, and wait until there
 * are a sixteenth more samples: checking more often finds nothing earlier, and
 * gives chance more tries.
 *
 * A leak is reported when consecutive checks see it, over a quarter of the
 * run, and not before TR_LEAST_STEPS: growth that ends later looks like a leak
 * before it ends. At the end of the process a leak is stored in the ledger at
 * once, and not logged: the program's log may be gone.
 */
#include "record/step/pace.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define TR_GPUS 16u
#define TR_KINDS (2u + TR_GPUS)
#define TR_READING_SHARE 4000u
#define TR_LOOK_SHARE 4000u
#define TR_DENSE 256u
#define TR_SPARSE 64u
#define TR_CREDIT_NS 2e6
#define TR_CREDIT_SHARE 2000u
#define TR_MOST_NS 5e7
#define TR_FIRST_NS 1e4 /* a longer first reading includes page faults */
#define TR_LEAST_STEPS 500u
/*
 * Bytes: less varies anyway, and some kernels count pages per CPU first and
 * add them in dozens.
 */
#define TR_LEAST_GROWTH (256 * 1024.0)

uint64_t (*tr_step_heap)(void);
size_t (*tr_step_gpu)(uint64_t *bytes, size_t size);
bool (*tr_step_grown)(char *text, size_t size);

/* One kind of memory. */
struct watched {
	tare_leak_series *series;
	uint64_t suspected; /* step of the first check that saw it; 0: none */
	bool is_told, is_over;
	tare_site *site;    /* its growth in the ledger */
};

/* Written with the lock of steps. */
static struct {
	struct watched kind[TR_KINDS];
	size_t n_kinds;
	uint64_t rss;
	uint64_t start;		  /* ticks at the first step */
	uint64_t next, next_look; /* ticks */
	uint64_t next_step;	  /* if there is credit */
	uint64_t look_step;	  /* step of the last check */
	uint64_t look_samples;
	uint64_t cost;		  /* of all, ticks */
	uint64_t spent;		  /* of readings, at their usual cost */
	uint64_t reading, look;	  /* usual cost of one */
	uint64_t chance;
} watch;

void tr_watch_reset(void)
{
	for (size_t i = 0; i < TR_KINDS; i++) {
		if (watch.kind[i].series)
			tr_series_clear(watch.kind[i].series);
		watch.kind[i].suspected = 0;
		watch.kind[i].is_told = watch.kind[i].is_over = false;
	}
	watch.rss = UINT64_MAX;
	watch.start = tr_ledger_ticks();
	watch.next = watch.next_look = watch.next_step = 0;
	watch.look_step = watch.look_samples = 0;
	watch.cost = watch.spent = 0;
	watch.reading = watch.look = 0;
	watch.chance = UINT64_C(88172645463325252);
}

/* ---- readings ---------------------------------------------------------- */

static void name_kind(size_t index, char *name, size_t size)
{
	if (index < 2)
		(void)snprintf(name, size, "%s", index ? "heap" : "rss");
	else
		(void)snprintf(name, size, "gpu%zu", index - 2);
}

static void add(size_t index, uint64_t step, uint64_t bytes)
{
	struct watched *kind = &watch.kind[index];
	char name[16];

	if (bytes == UINT64_MAX)
		return;
	if (!kind->series) {
		name_kind(index, name, sizeof(name));
		kind->series = tare_leak_series_new(name);
		if (!kind->series)
			return;
		kind->series->least_growth = TR_LEAST_GROWTH;
	}
	tr_series_add(kind->series, (double)step, (double)bytes);
	if (index >= watch.n_kinds)
		watch.n_kinds = index + 1;
}

/* The ledger's pages grow with the measurements, and are no leak. */
static uint64_t without_ledger(uint64_t rss)
{
	uint64_t own = TR_LOAD(tr_ledger->real_bytes);

	return rss == UINT64_MAX || rss < own ? rss : rss - own;
}

static void read_memory(uint64_t step)
{
	uint64_t gpu[TR_GPUS];
	size_t n = tr_step_gpu ? tr_step_gpu(gpu, TR_GPUS) : 0;

	watch.rss = tr_usage_rss();
	add(0, step, without_ledger(watch.rss));
	add(1, step, tr_step_heap ? tr_step_heap() : UINT64_MAX);
	for (size_t i = 0; i < n && i < TR_GPUS; i++)
		add(2 + i, step, gpu[i]);
}

/* ---- leaks ------------------------------------------------------------- */

/* "memory grows by 4.1 kB a step (rss, 95 % between 3.9 and 4.3), over 1,200
 * steps": all three in the unit of the first. Where allocations are known:
 * "; most in prog+0x1234 ...". */
static void tell(const tare_leak *leak, uint64_t steps)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB" };
	char text[384], number[3][32], where[160] = "";
	double by = 1;
	int u = 0;

	for (; u < 3 && leak->growth >= 1000 * by; u++)
		by *= 1000;
	(void)tr_fixed_text(number[0], 32, leak->growth / by, 1);
	(void)tr_fixed_text(number[1], 32, leak->growth_low / by, 1);
	(void)tr_fixed_text(number[2], 32, leak->growth_high / by, 1);
	if (!tr_step_grown || !tr_step_grown(where, sizeof(where)))
		where[0] = '\0';
	(void)snprintf(text, sizeof(text),
		       "memory grows by %s %s a step (%s, 95 %% between %s "
		       "and %s), over %s steps%s",
		       number[0], unit[u], leak->what, number[1], number[2],
		       tr_as_count(steps).text, where);
	tr_step_message(TARE_LEVEL_WARNING, text);
}

static void keep(struct watched *kind, double growth)
{
	char name[48];

	if (!kind->site) {
		(void)snprintf(name, sizeof(name), "leak.%s",
			       kind->series->what);
		kind->site = tr_own_site_get(TARE_KIND_GAUGE, TARE_TYPE_MEMORY,
					     name, "B/step", "leak");
	}
	tare_gauge_set(kind->site, growth);
}

static void take_back(struct watched *kind)
{
	char text[96];

	if (kind->is_told && !kind->is_over) {
		kind->is_over = true;
		keep(kind, 0);
		(void)snprintf(text, sizeof(text),
			       "memory does not grow any more (%s)",
			       kind->series->what);
		tr_step_message(TARE_LEVEL_INFO, text);
	}
	kind->suspected = 0;
}

static void consider(struct watched *kind, const tare_leak *leak, uint64_t step,
		     bool is_last)
{
	if (!leak->is_leak) {
		take_back(kind);
		return;
	}
	if (!kind->suspected) {
		kind->suspected = step;
		if (tr_step_grown)
			(void)tr_step_grown(NULL, 0);
	}
	if (!is_last && (step < TR_LEAST_STEPS ||
			 step * 4 < kind->suspected * 5))
		return;
	keep(kind, leak->growth);
	kind->is_over = false;
	if (!kind->is_told && !is_last) {
		kind->is_told = true;
		tell(leak, step);
	}
}

size_t tr_watch_look(tare_leak *ret_leaks, size_t size, uint64_t step,
		     bool is_last)
{
	size_t n = 0;

	for (size_t i = 0; i < watch.n_kinds; i++) {
		struct watched *kind = &watch.kind[i];
		tare_leak leak;

		if (!kind->series || !kind->series->samples)
			continue;
		tr_leak_judge(kind->series, &leak);
		consider(kind, &leak, step, is_last);
		if (n < size)
			ret_leaks[n] = leak;
		n++;
	}
	return n;
}

/* ---- when -------------------------------------------------------------- */

static bool is_look_due(uint64_t step, uint64_t now)
{
	uint64_t samples = 0, steps = TR_LOAD(tr_step_options.look_steps);

	for (size_t i = 0; i < watch.n_kinds; i++)
		if (watch.kind[i].series &&
		    watch.kind[i].series->samples > samples)
			samples = watch.kind[i].series->samples;
	if (step - watch.look_step < steps || now < watch.next_look ||
	    samples - watch.look_samples < watch.look_samples / 16)
		return false;
	watch.look_samples = samples;
	return true;
}

static uint64_t ticks_of(double ns)
{
	return (uint64_t)(ns * 1e-9 / tr_ledger->sec_per_tick);
}

/*
 * Usual cost of such work. A long one may have been preempted: only many long
 * ones change it.
 */
static uint64_t usual(uint64_t *known, uint64_t took)
{
	uint64_t first = ticks_of(TR_FIRST_NS);

	if (!*known)
		*known = took < first ? took : first;
	if (took > 2 * *known)
		took = 2 * *known;
	*known = (7 * *known + took) / 8;
	return *known;
}

/* Random: 1 to twice a TR_DENSE-th of the steps so far. */
static uint64_t steps_to_next(uint64_t step, uint64_t now)
{
	uint64_t credit = ticks_of(TR_CREDIT_NS) +
			  (now - watch.start) / TR_CREDIT_SHARE;
	uint64_t part = watch.spent <= credit ? TR_DENSE : TR_SPARSE;

	watch.chance ^= watch.chance << 13;
	watch.chance ^= watch.chance >> 7;
	watch.chance ^= watch.chance << 17;
	return 1 + watch.chance % (2 * (step / part) + 1);
}

static bool has_credit(uint64_t now)
{
	return watch.spent <= ticks_of(TR_MOST_NS) +
				      (now - watch.start) / TR_CREDIT_SHARE;
}

static void look_if_due(uint64_t step, uint64_t now)
{
	uint64_t took;

	if (!is_look_due(step, now))
		return;
	watch.look_step = step;
	(void)tr_watch_look(NULL, 0, step, false);
	took = tr_ledger_ticks() - now;
	watch.next_look = now + took +
			  usual(&watch.look, took) * TR_LOOK_SHARE;
}

bool tr_watch_is_due(uint64_t step, uint64_t now)
{
	return now >= watch.next || (step >= watch.next_step &&
				     TR_LOAD(tr_step_options.memory) &&
				     has_credit(now));
}

void tr_watch_step(uint64_t step)
{
	uint64_t start = tr_ledger_ticks(), end, took;

	watch.next_step = step + steps_to_next(step, start);
	if (!TR_LOAD(tr_step_options.memory)) {
		watch.next = start + ticks_of(1e9);
		return;
	}
	read_memory(step);
	end = tr_ledger_ticks();
	took = usual(&watch.reading, end - start);
	watch.spent += took;
	watch.next = end + took * TR_READING_SHARE;
	look_if_due(step, end);
	watch.cost += tr_ledger_ticks() - start;
}

void tr_watch_due(uint64_t *ret_step, uint64_t *ret_ticks)
{
	*ret_step = has_credit(tr_ledger_ticks()) ? watch.next_step :
						    UINT64_MAX;
	*ret_ticks = watch.next;
}

uint64_t tr_watch_rss(void)
{
	return watch.rss;
}

uint64_t tr_watch_cost(void)
{
	return watch.cost;
}
