/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What it costs to find a series by its labels and add to it, if the caller
 * keeps no handle: two labels, by strings, on each call.
 *
 * Hot: one series. `lookup_add_8`: eight in random order. `lookup_add_10k`: ten
 * thousand, far more than the inner caches hold; their strings alone exceed
 * these caches, so the reference there reads the same strings.
 */
#include <math.h>
#include <stdio.h>

#include <tare/probe.h>

#include "bench.h"

#define N_SERIES 10000u

TARE_SITE(requests, TARE_KIND_COUNTER, TARE_TYPE_COUNTER, "bench.requests",
	  NULL);

static char routes[N_SERIES][24];
static const char *labels[N_SERIES][4];

static void fill(void)
{
	for (size_t i = 0; i < N_SERIES; i++) {
		(void)snprintf(routes[i], sizeof(routes[i]), "/route/%zu", i);
		labels[i][0] = "route";
		labels[i][1] = routes[i];
		labels[i][2] = "status";
		labels[i][3] = i % 2 ? "200" : "404";
	}
}

static inline void lookup_add(size_t i)
{
	tare_counter_add(tare_site_labels(&requests, 2, labels[i]), 1);
}

static void hot(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		lookup_add(0);
}

static void of_8(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		lookup_add(bench_random[i & 65535] & 7);
}

static void of_10k(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		lookup_add(bench_random[i & 65535] % N_SERIES);
}

static void strings_10k(uint64_t n)
{
	unsigned sum = 0;

	for (uint64_t i = 0; i < n; i++) {
		const char *const *l = labels[bench_random[i & 65535] %
					      N_SERIES];

		for (unsigned k = 0; k < 4; k++)
			for (const char *c = l[k]; *c; c++)
				sum = sum * 31 + (unsigned char)*c;
		BENCH_OPAQUE(sum);
	}
}

/* Keeps the handle, as the documentation recommends. */
static void handle(uint64_t n)
{
	tare_site *site = tare_site_labels(&requests, 2, labels[0]);

	for (uint64_t i = 0; i < n; i++) {
		tare_counter_add(site, 1);
		BENCH_OPAQUE(site);
	}
}

static struct bench_case cases[] = {
	{ "pair", bench_pair, 0, 0 },
	{ "hot", hot, 0, 0 },
	{ "of_8", of_8, 0, 0 },
	{ "of_10k", of_10k, 0, 0 },
	{ "strings_10k", strings_10k, 0, 0 },
	{ "handle", handle, 0, 0 },
};

#define N_CASES (sizeof(cases) / sizeof(cases[0]))

static void report(const char *name, const char *what, const char *reference,
		   const char *against)
{
	double ns = bench_best(cases, N_CASES, what);

	bench_report(name, ns, "ns",
		     ns / bench_best(cases, N_CASES, reference), against);
}

static void labels_part(void)
{
	fill();
	for (size_t i = 0; i < N_SERIES; i++)
		lookup_add(i);
	bench_run(cases, N_CASES, 1000);
	report("lookup_add", "hot", "pair", BENCH_PAIR);
	report("lookup_add_8", "of_8", "pair", BENCH_PAIR);
	report("lookup_add_10k", "of_10k", "strings_10k",
	       "a hash of the same strings");
	report("handle_add", "handle", "pair", BENCH_PAIR);
}

const struct bench_part bench_parts[] = {
	{ "labels", labels_part, { "TARE=on", "TARE_MAX_SITES=16384" } },
	{ NULL, NULL, { NULL } },
};
