/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 13: how fast are the steps, and does the program leak?
 *
 *	tare run -- ./recipe_steps
 *	tare report last
 *
 * TARE_STEP_ITEMS(n) at the end of a step counts it, times it from the end of
 * the previous one, and computes items per second. Every metrics_log_interval
 * steps there is a line for the program's own log, at the level
 * TARE_LEVEL_PERFORMANCE.
 *
 * The memory of the process is monitored too. tare_leak_check() returns its
 * growth; after 500 steps a leak is also reported automatically, as a warning,
 * and stored as leak.rss and leak.heap. tare_leak_series is the same check for
 * your own numbers: here, the entries of a cache that is never emptied.
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
	/* To the program's own log; here, only the last line. */
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
