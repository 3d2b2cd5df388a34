/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clearing while threads measure: nothing is ever negative or more than was
 * produced, and in the end produced = stored + cleared.
 */
#include "check.h"
#include "scene.h"
#include "scratch.h"
#include "read/view.h"

#include <tare/control.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_THREADS 3
#define N_SITES 20

static uint64_t done[N_THREADS];
static uint32_t stop;

static void *record(void *arg)
{
	uint64_t *n = arg;
	tare_site *scope[N_SITES], *value[N_SITES];
	char name[16];

	for (int i = 0; i < N_SITES; i++) {
		(void)snprintf(name, sizeof(name), "s%d", i);
		scope[i] = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, name,
					 NULL, NULL);
		(void)snprintf(name, sizeof(name), "v%d", i);
		value[i] = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM,
					 name, NULL, NULL);
	}
	while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
		for (int i = 0; i < N_SITES; i++) {
			TARE_SCOPE_SITE(scope[i]);
			tare_value_observe(value[i], i + 1);
		}
		__atomic_store_n(n, *n + 2 * N_SITES, __ATOMIC_RELEASE);
	}
	return NULL;
}

static uint64_t produced(void)
{
	uint64_t n = 0;

	for (int i = 0; i < N_THREADS; i++)
		n += __atomic_load_n(&done[i], __ATOMIC_ACQUIRE);
	return n;
}

/* A look in passing; what is under way is at most a round a thread. */
static bool check_sane(void)
{
	const tare_stats *rows = NULL;
	const tare_node *nodes = NULL;
	tare_view *view = scene_view();
	size_t n = scene_rows(view, NULL, &rows);
	uint64_t most = produced() + N_THREADS * 2 * N_SITES, sum = 0;
	bool sane = true;

	for (size_t i = 0; i < n; i++) {
		sum += rows[i].count;
		sane &= CHECK(rows[i].count <= most && rows[i].timed <= most);
		sane &= CHECK(rows[i].total >= 0 && rows[i].total < 1e13);
		sane &= CHECK(!(rows[i].max > 1e12));
	}
	sane &= CHECK(sum <= most);
	sane &= CHECK_INT(tare_view_tree(view, &nodes, &n), 0);
	for (size_t i = 0; i < n; i++)
		sane &= CHECK(nodes[i].calls <= most &&
			      nodes[i].own_ns >= 0 && nodes[i].total_ns < 1e13);
	tare_view_close(view);
	return sane;
}

static void check_account(void)
{
	const tare_stats *rows = NULL;
	tare_view *view = scene_view();
	size_t n = scene_rows(view, NULL, &rows);
	uint64_t stored = 0;

	for (size_t i = 0; i < n; i++)
		stored += rows[i].count;
	CHECK_INT(stored + tare_view_health(view)->cleared, produced());
	CHECK_INT(tare_view_health(view)->lost, 0);
	tare_view_close(view);
}

static void play(void)
{
	pthread_t thread[N_THREADS];
	double end;
	unsigned clears = 0;

	scene_start(NULL);
	for (int i = 0; i < N_THREADS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, record, &done[i]),
			  0);
	/* Some turns of the time slices, which move what is copied. */
	end = scratch_seconds() + 4;
	while (scratch_seconds() < end) {
		CHECK_INT(tare_clear(), 0);
		clears++;
		for (int i = 0; i < 5; i++)
			if (!check_sane())
				end = 0;
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < N_THREADS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	printf("# %u clears, %llu events\n", clears,
	       (unsigned long long)produced());
	check_account();
	CHECK_INT(tare_clear(), 0);
	check_account();
	check_sane();
}

TEST(clearing_while_threads_measure_loses_nothing)
{
	scene_play(play);
}
