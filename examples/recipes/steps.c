/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 13: how fast does it go, step after step, and does it leak?
 *
 *	tare run -- ./recipe_steps
 *	tare report last
 *
 * TARE_STEP_ITEMS(n) at the end of a step counts it, times it from the end of
 * the one before, and knows the items a second. Every metrics_log_interval
 * steps there is a line for the program's own log, at the level
 * TARE_LEVEL_PERFORMANCE.
 *
 * The memory of the process is watched along. tare_leak_check() says what it
 * grows by; a leak is also told by itself, after 500 steps, as a warning, and
 * kept as leak.rss and leak.heap. tare_leak_series is the same check for
 * numbers of your own: here, the entries of a cache that nobody empties.
 */
#include <stdio.h>
#include <stdlib.h>
#include <tare/tare.h>

#define STEPS 600
#define BATCH 32

struct entry {
	struct entry *next;
	double value;
};

static void log_line(void *arg, enum tare_level level, const char *text)
{
	unsigned *lines = arg;

	if (level != TARE_LEVEL_PERFORMANCE)
		return;
	/* To this program's own log; here, the last one of all. */
	if (++*lines == STEPS / 100)
		printf("%s\n", text);
}

static double train_one_batch(int step, struct entry **cache)
{
	struct entry *entry = malloc(sizeof(*entry));
	double loss = 1;

	for (int i = 0; i < BATCH * 100; i++)
		loss = loss * 0.999 + 1.0 / (step + i + 1);
	if (entry) {
		*entry = (struct entry){ *cache, loss };
		*cache = entry;
	}
	return loss;
}

int main(void)
{
	tare_leak_series *entries = tare_leak_series_new("cache");
	struct entry *cache = NULL;
	unsigned lines = 0;
	tare_leak leak;

	if (tare_option_set("metrics_log_interval", "100"))
		fputs("metrics_log_interval is as configured\n", stderr);
	tare_log_set(log_line, &lines);
	for (int step = 0; step < STEPS; step++) {
		(void)train_one_batch(step, &cache);
		TARE_STEP_ITEMS(BATCH);
		tare_leak_series_add(entries, (step + 1.0) * sizeof(*cache));
	}
	if (tare_leak_series_look(entries, &leak) == 0 && leak.is_leak)
		printf("the %s grows by %.0f bytes a step\n", leak.what,
		       leak.growth);
	tare_leak_series_free(entries);
	while (cache) {
		struct entry *next = cache->next;

		free(cache);
		cache = next;
	}
	return 0;
}
