/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long it takes to open a view of 1,000 sites in each of 8 threads, and to
 * read its statistics. The threads have recorded and wait.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <tare/probe.h>
#include <tare/read/view.h>

#include "bench.h"

#define N_SITES 1000u
#define N_THREADS 8u
#define N_CALLS 20u
#define N_LOOKS 400u

static tare_site *sites[N_SITES];
static pthread_barrier_t recorded, may_end;
static double look_ms[N_LOOKS], open_ms[N_LOOKS];
static uint64_t ledger_bytes;

static void *record(void *arg)
{
	for (unsigned k = 0; k < N_CALLS; k++)
		for (size_t i = 0; i < N_SITES; i++)
			tare_scope_end(tare_scope_begin(sites[i]));
	(void)pthread_barrier_wait(&recorded);
	(void)pthread_barrier_wait(&may_end);
	return arg;
}

static void make_sites(void)
{
	char name[32];

	for (size_t i = 0; i < N_SITES; i++) {
		(void)snprintf(name, sizeof(name), "bench.site.%zu", i);
		sites[i] = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					 name, NULL, NULL);
	}
}

static void check(const tare_stats *stats, size_t n)
{
	uint64_t calls = 0;

	for (size_t i = 0; i < n; i++)
		calls += stats[i].count;
	if (calls != (uint64_t)N_SITES * N_THREADS * N_CALLS)
		bench_fail("snapshot", "calls are missing");
}

static void look(const char *which, size_t index)
{
	uint64_t from = bench_ns(), opened;
	const tare_stats *stats;
	tare_view *view;
	size_t n;

	if (tare_view_open(which, &view))
		bench_fail("snapshot", "cannot open a view");
	opened = bench_ns();
	if (tare_view_stats(view, NULL, &stats, &n))
		bench_fail("snapshot", "no statistics");
	look_ms[index] = (double)(bench_ns() - from) / 1e6;
	open_ms[index] = (double)(opened - from) / 1e6;
	check(stats, n);
	ledger_bytes = tare_view_run(view)->ledger_bytes;
	tare_view_close(view);
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void measure(void)
{
	size_t n = bench_is_quick() ? N_LOOKS / 10 : N_LOOKS;
	char which[16];

	(void)snprintf(which, sizeof(which), "%d", (int)getpid());
	for (size_t i = 0; i < n; i++)
		look(which, i);
	qsort(look_ms, n, sizeof(look_ms[0]), by_size);
	qsort(open_ms, n, sizeof(open_ms[0]), by_size);
	bench_report("snapshot", look_ms[0], "ms", NAN, NULL);
	bench_report("snapshot_median", look_ms[n / 2], "ms", NAN, NULL);
	bench_report("snapshot_open", open_ms[0], "ms", NAN, NULL);
	bench_report("snapshot_ledger", (double)ledger_bytes, "B", NAN, NULL);
}

static void snapshot_part(void)
{
	pthread_t threads[N_THREADS];

	make_sites();
	(void)pthread_barrier_init(&recorded, NULL, N_THREADS + 1);
	(void)pthread_barrier_init(&may_end, NULL, N_THREADS + 1);
	for (size_t i = 0; i < N_THREADS; i++)
		if (pthread_create(&threads[i], NULL, record, NULL))
			bench_fail("snapshot", "cannot create a thread");
	(void)pthread_barrier_wait(&recorded);
	measure();
	(void)pthread_barrier_wait(&may_end);
	for (size_t i = 0; i < N_THREADS; i++)
		(void)pthread_join(threads[i], NULL);
}

const struct bench_part bench_parts[] = {
	{ "snapshot", snapshot_part, { "TARE=on" } },
	{ NULL, NULL, { NULL } },
};
