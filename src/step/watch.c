/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watch: the memory of the process, step after step, and what it grows to.
 *
 * A reading costs microseconds and a step may be shorter, so readings are as
 * far apart as their cost asks for: they take at most one part in
 * TR_READING_SHARE of the time. The same for looks, which also wait until a
 * sixteenth more is known: looking more often finds nothing earlier, and
 * chance gets more tries.
 *
 * A leak is told when looks in a row see it, over a quarter of the run, and
 * not before TR_LEAST_STEPS: what grows at first, and then no more, cannot be
 * told from one before it ends. At the end of the process it is kept in the
 * ledger at once, and not told: the program's log may be gone.
 */
#include "step/pace.h"

#include "text/text.h"

#include <stdio.h>
#include <string.h>

#define TR_GPUS 16u
#define TR_KINDS (2u + TR_GPUS)
#define TR_READING_SHARE 4000u
#define TR_LOOK_SHARE 4000u
#define TR_LEAST_STEPS 500u
/*
 * Bytes: less comes and goes anyway, and some kernels count pages a CPU
 * first and add them up in dozens.
 */
#define TR_LEAST_GROWTH (256 * 1024.0)

size_t (*tr_step_gpu)(uint64_t *bytes, size_t size);

/* One kind of memory. */
struct watched {
	tare_leak_series *series;
	uint64_t suspected; /* samples at the first look that saw it; 0: none */
	bool is_told, is_over;
	tare_site *site;    /* its growth in the ledger */
};

/* Written by the holder of the lock of steps. */
static struct {
	struct watched kind[TR_KINDS];
	size_t n_kinds;
	uint64_t rss;
	uint64_t next, next_look; /* ticks */
	uint64_t look_step;	  /* step of the last look */
	uint64_t look_samples;
	uint64_t cost;
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
	watch.next = watch.next_look = 0;
	watch.look_step = watch.look_samples = 0;
	watch.cost = 0;
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

/* What was measured fills pages as well, and is nobody's leak. */
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
	add(1, step, tr_usage_heap());
	for (size_t i = 0; i < n && i < TR_GPUS; i++)
		add(2 + i, step, gpu[i]);
}

/* ---- leaks ------------------------------------------------------------- */

static size_t put_number(char *out, size_t size, double value, int decimals)
{
	size_t n = tr_fixed_text(out, size, value, decimals);

	return n < size ? n : size - 1;
}

/* "memory grows by 4.1 kB a step (rss, 95 % between 3.9 and 4.3), over 1,200
 * steps": all three in the unit of the first. */
static void tell(const tare_leak *leak, uint64_t steps)
{
	static const char *const unit[] = { "B", "kB", "MB", "GB" };
	char text[192], number[3][32], count[32];
	double by = 1;
	int u = 0;

	for (; u < 3 && leak->growth >= 1000 * by; u++)
		by *= 1000;
	(void)put_number(number[0], 32, leak->growth / by, 1);
	(void)put_number(number[1], 32, leak->growth_low / by, 1);
	(void)put_number(number[2], 32, leak->growth_high / by, 1);
	(void)tr_count_text(count, sizeof(count), steps);
	(void)snprintf(text, sizeof(text),
		       "memory grows by %s %s a step (%s, 95 %% between %s "
		       "and %s), over %s steps",
		       number[0], unit[u], leak->what, number[1], number[2],
		       count);
	tr_step_say(TARE_LEVEL_WARNING, text);
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
		tr_step_say(TARE_LEVEL_INFO, text);
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
	if (!kind->suspected)
		kind->suspected = leak->samples;
	if (!is_last && (step < TR_LEAST_STEPS ||
			 leak->samples * 4 < kind->suspected * 5))
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

void tr_watch_step(uint64_t step)
{
	uint64_t start = tr_ledger_ticks(), read, end;

	if (!TR_LOAD(tr_step_options.memory)) {
		watch.next = start + (uint64_t)(1 / tr_ledger->sec_per_tick);
		return;
	}
	read_memory(step);
	read = end = tr_ledger_ticks();
	if (is_look_due(step, read)) {
		watch.look_step = step;
		(void)tr_watch_look(NULL, 0, step, false);
		end = tr_ledger_ticks();
		watch.next_look = end + (end - read) * TR_LOOK_SHARE;
	}
	watch.next = end + (read - start) * TR_READING_SHARE;
	watch.cost += end - start;
}

uint64_t tr_watch_due(void)
{
	return watch.next;
}

uint64_t tr_watch_rss(void)
{
	return watch.rss;
}

uint64_t tr_watch_cost(void)
{
	return watch.cost;
}
