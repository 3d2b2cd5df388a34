/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recipe 6: how many, how large, which share?
 *
 *	tare run -- ./recipe_counters
 *
 *	TARE_COUNT	a total that only grows: requests, bytes sent
 *	TARE_RATIO	two counters and their quotient: hits of lookups
 *	TARE_VALUE	a distribution: mean, median, p95, max
 *	TARE_BYTES, TARE_PERCENT	the same with unit and type
 *	labels		one counter in several series: by status, by camera
 *
 * A counter costs one addition, so it can be used in a hot loop.
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
	/* Looked up once: then a handle is as fast as a macro. */
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
