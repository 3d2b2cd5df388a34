/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Millions of names under the limit of some thousand: every call is counted,
 * under its own name or in the overflow series, and memory stays bounded.
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
#include <unistd.h>

/* Bytes of this process in memory. */
static uint64_t resident(void)
{
	unsigned long pages = 0, all = 0;
	FILE *file = fopen("/proc/self/statm", "re");

	if (!file)
		return 0;
	if (fscanf(file, "%lu %lu", &all, &pages) != 2)
		pages = 0;
	(void)fclose(file);
	return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

struct sums {
	uint64_t all, overflow, rows;
};

static struct sums sum_of(enum tare_kind kind)
{
	struct sums sums = { 0 };
	const tare_stats *rows = NULL;
	tare_view *view = scene_view();
	size_t n = scene_rows(view, NULL, &rows);

	for (size_t i = 0; i < n; i++) {
		if (rows[i].kind != kind)
			continue;
		sums.rows++;
		sums.all += rows[i].count;
		if (strcmp(rows[i].name, "(overflow)") == 0)
			sums.overflow += rows[i].count;
	}
	CHECK_INT(tare_view_health(view)->lost, 0);
	CHECK_INT(tare_view_health(view)->damaged, 0);
	tare_view_close(view);
	return sums;
}

/* Digits of a number after a letter; snprintf would take most of the time. */
static void make_name(char *name, char letter, uint32_t number)
{
	*name++ = letter;
	for (; number; number /= 10)
		*name++ = (char)('0' + number % 10);
	*name = '\0';
}

/* ---- counters ---------------------------------------------------------- */

static uint32_t n_names;

static void play_counters(void)
{
	uint64_t before;
	struct sums sums;
	char name[16];

	scene_start(NULL);
	TARE_COUNT("first", 1);
	before = resident();
	for (uint32_t i = 0; i < n_names; i++) {
		make_name(name, 'n', i);
		tare_counter_add(tare_site_get(TARE_KIND_COUNTER,
					       TARE_TYPE_COUNTER, name, NULL,
					       NULL), 1);
	}
	sums = sum_of(TARE_KIND_COUNTER);
	CHECK_INT(sums.all, n_names + 1);
	CHECK(sums.overflow > 0 && sums.overflow < n_names);
	CHECK(sums.rows > 8000 && sums.rows < 8400);
	/* Known names are found again, new ones are not. */
	make_name(name, 'n', 5);
	tare_counter_add(tare_site_get(TARE_KIND_COUNTER, TARE_TYPE_COUNTER,
				       name, NULL, NULL), 1);
	CHECK_INT(sum_of(TARE_KIND_COUNTER).overflow, sums.overflow);
	/* 8,192 names: their texts, handles and places. */
	if (!SCRATCH_ASAN && !SCRATCH_TSAN &&
	    !CHECK(resident() - before < 24 << 20))
		printf("# %llu bytes more\n",
		       (unsigned long long)(resident() - before));
}

TEST(five_million_names_are_counted_in_bounded_memory)
{
	n_names = scratch_times(5000000);
	scene_play(play_counters);
}

/* ---- every kind, labels, threads --------------------------------------- */

#define N_THREADS 4

static void use(enum tare_kind kind, tare_site *site)
{
	if (kind == TARE_KIND_SCOPE)
		tare_scope_end(tare_scope_begin(site));
	else if (kind == TARE_KIND_VALUE)
		tare_value_observe(site, 1);
	else
		tare_counter_add(site, 1);
}

static void *use_names(void *arg)
{
	static const enum tare_kind kinds[] = { TARE_KIND_SCOPE,
						TARE_KIND_VALUE,
						TARE_KIND_COUNTER };
	uint32_t part = *(const uint32_t *)arg;
	char name[16];

	/* Half of the names are the same in all threads. */
	for (uint32_t i = 0; i < n_names; i++) {
		enum tare_kind kind = kinds[i % 3];

		make_name(name, i % 2 ? 'x' : (char)('a' + part), i);
		use(kind, tare_site_get(kind, TARE_TYPE_CUSTOM, name, NULL,
					NULL));
	}
	return NULL;
}

static void play_threads(void)
{
	static const char *const options[] = { "max_sites", "1000",
					       "max_nodes", "2000", NULL };
	pthread_t thread[N_THREADS];
	uint32_t part[N_THREADS];

	scene_start(options);
	for (uint32_t i = 0; i < N_THREADS; i++) {
		part[i] = i;
		CHECK_INT(pthread_create(&thread[i], NULL, use_names,
					 &part[i]), 0);
	}
	for (int i = 0; i < N_THREADS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	CHECK_INT(sum_of(TARE_KIND_SCOPE).all +
			  sum_of(TARE_KIND_VALUE).all +
			  sum_of(TARE_KIND_COUNTER).all,
		  (uint64_t)n_names * N_THREADS);
	CHECK_INT(sum_of(TARE_KIND_VALUE).all,
		  (uint64_t)(n_names + 1) / 3 * N_THREADS);
}

TEST(names_of_all_kinds_from_several_threads_are_counted)
{
	n_names = scratch_times(200000);
	scene_play(play_threads);
}

static void play_labels(void)
{
	static const char *const options[] = { "max_sites", "1000", NULL };
	struct sums sums;
	tare_site *base;
	char value[16];

	scene_start(options);
	base = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "base", NULL,
			     NULL);
	for (uint32_t i = 0; i < n_names; i++) {
		const char *pairs[] = { "id", value, "host", "here" };

		make_name(value, 'v', i);
		tare_value_observe(tare_site_labels(base, 2, pairs), i);
	}
	sums = sum_of(TARE_KIND_VALUE);
	CHECK_INT(sums.all, n_names);
	CHECK(sums.overflow >= n_names - 1100 && sums.overflow < n_names);
}

TEST(labels_of_too_many_values_are_counted)
{
	n_names = scratch_times(500000);
	scene_play(play_labels);
}

/* Each 64 KiB and different: they are cut, or too large to be kept. */
static void play_huge_names(void)
{
	size_t size = 64 << 10;
	char *name = malloc(size + 1);
	uint64_t before;

	scene_start(NULL);
	before = resident();
	memset(name, 'h', size);
	name[size] = '\0';
	for (uint32_t i = 0; i < n_names; i++) {
		make_name(name + size - 12, 'n', i);
		tare_counter_add(tare_site_get(TARE_KIND_COUNTER,
					       TARE_TYPE_COUNTER, name, NULL,
					       NULL), 1);
	}
	CHECK_INT(sum_of(TARE_KIND_COUNTER).all, n_names);
	if (!SCRATCH_ASAN && !SCRATCH_TSAN &&
	    !CHECK(resident() - before < 64 << 20))
		printf("# %llu bytes more\n",
		       (unsigned long long)(resident() - before));
	free(name);
}

TEST(huge_names_are_counted_in_bounded_memory)
{
	n_names = scratch_times(20000);
	scene_play(play_huge_names);
}

/* ---- the same name, at the same time ----------------------------------- */

#define RACERS 4
#define RACED_NAMES 2000

static pthread_barrier_t line;

/* Static sites of several files have one name: each registers it. */
static void *race(void *arg)
{
	tare_site *sites = arg;
	char name[16];

	(void)pthread_barrier_wait(&line);
	for (uint32_t i = 0; i < RACED_NAMES; i++) {
		make_name(name, 'r', i);
		sites[i] = (tare_site)TARE_SITE_INIT_(
			sites[i], TARE_KIND_GAUGE, TARE_TYPE_CUSTOM, 0,
			strdup(name), NULL, NULL);
		tare_gauge_set(&sites[i], 1);
	}
	return NULL;
}

static void play_race(void)
{
	static tare_site sites[RACERS][RACED_NAMES];
	pthread_t thread[RACERS];
	struct sums sums;

	scene_start(NULL);
	CHECK_INT(pthread_barrier_init(&line, NULL, RACERS), 0);
	for (int i = 0; i < RACERS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, race, sites[i]), 0);
	for (int i = 0; i < RACERS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	sums = sum_of(TARE_KIND_GAUGE);
	CHECK_INT(sums.rows, RACED_NAMES);
	CHECK_INT(sums.all, RACERS * RACED_NAMES);
	CHECK_INT(sums.overflow, 0);
}

TEST(a_name_that_several_register_at_once_is_one_series)
{
	scene_play(play_race);
}
