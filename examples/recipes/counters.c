/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 6: how many, how large, which part of the whole?
 *
 *	tare run -- ./recipe_counters
 *
 * TARE_COUNT	a sum that only grows: requests, bytes sent
 * TARE_RATIO	parts of wholes: hits of look-ups, kept of all
 * TARE_VALUE	single values, with their mean, median, p95, max
 * TARE_BYTES, TARE_PERCENT	the same with their unit and type
 * labels	one counter in several series: by status, by camera
 *
 * A counter costs an addition, so it may stand in a hot loop.
 */
#include <stdio.h>
#include <tare/tare.h>

static tare_site *answers_of(const char *status)
{
	const char *const pairs[] = { "status", status };

	return tare_site_labels(
		tare_site_get(TARE_KIND_COUNTER, TARE_TYPE_COUNTER, "answers",
			      NULL, "http"),
		1, pairs);
}

int main(void)
{
	/* Resolved once: a handle is then as fast as a macro. */
	tare_site *ok = answers_of("200"), *missing = answers_of("404");
	unsigned long sent = 0;

	for (unsigned request = 0; request < 1000; request++) {
		int is_cached = request % 4 != 0;
		int is_missing = request % 50 == 0;
		unsigned size = 500 + request % 100 * 10;

		TARE_COUNT("requests", 1);
		TARE_RATIO("cache.hits", is_cached, 1);
		tare_counter_add(is_missing ? missing : ok, 1);
		if (is_missing)
			continue;
		TARE_COUNT("sent", size);
		TARE_BYTES("answer.size", size);
		TARE_PERCENT("answer.fill", size / 16.0);
		sent += size;
	}
	printf("1000 requests, %lu bytes sent\n", sent);
	return 0;
}
