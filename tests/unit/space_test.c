/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Space: parts of the ledger handed out, its limit, and the accounting when
 * there is no more of it. What was produced is counted by the test itself.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"
#include "read/view.h"

#include <tare/control.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- regions ----------------------------------------------------------- */

#define N_THREADS 4
#define MOST 4096

struct taker {
	uint32_t off[MOST];
	unsigned n;
	unsigned bytes;
};

static struct taker taker[N_THREADS];

static void *take_all(void *arg)
{
	struct taker *t = arg;
	uint32_t off;

	while (t->n < MOST &&
	       (off = tr_region_take(TR_REGION_STRINGS, t->bytes)))
		t->off[t->n++] = off;
	return NULL;
}

static void mark_taken(unsigned char *taken, uint64_t size,
		       const struct tr_region *region)
{
	for (int i = 0; i < N_THREADS; i++)
		for (unsigned k = 0; k < taker[i].n; k++) {
			uint64_t at = taker[i].off[k] - region->off;

			if (!CHECK(taker[i].off[k] >= region->off &&
				   at + taker[i].bytes <= size))
				return;
			for (unsigned b = 0; b < taker[i].bytes; b++)
				taken[at + b]++;
		}
}

static void play_takers(void)
{
	const struct tr_region *region;
	unsigned char *taken;
	pthread_t thread[N_THREADS];
	uint64_t sum = 0;

	scene_start(NULL);
	region = &tr_ledger->header->region[TR_REGION_STRINGS];
	taken = calloc(1, region->cap);
	sum = region->used;
	for (int i = 0; i < N_THREADS; i++) {
		taker[i].bytes = 8u << i;
		CHECK_INT(pthread_create(&thread[i], NULL, take_all,
					 &taker[i]), 0);
	}
	for (int i = 0; i < N_THREADS; i++) {
		CHECK_INT(pthread_join(thread[i], NULL), 0);
		sum += (uint64_t)taker[i].n * taker[i].bytes;
	}
	mark_taken(taken, region->cap, region);
	for (uint64_t i = 0; i < region->cap; i++)
		if (!CHECK(taken[i] <= 1))
			break;
	CHECK_INT(region->used, sum);
	CHECK(region->used <= region->cap);
	free(taken);
}

TEST(no_part_of_a_region_is_handed_out_twice)
{
	scene_play(play_takers);
}

static void play_bounds(void)
{
	const struct tr_region *arena;

	scene_start(NULL);
	arena = &tr_ledger->header->region[TR_REGION_ARENA];
	CHECK_INT(tr_region_take(TR_REGION_SITES, UINT64_C(1) << 40), 0);
	CHECK_INT(tr_region_take(TR_REGION_SITES, UINT64_MAX - 7), 0);
	CHECK_INT(tr_arena_claim(arena->cap + 1), 0);
	CHECK(!tr_space_reserve(tr_ledger->map_bytes, TR_PAGE));
	CHECK(!tr_space_reserve(tr_ledger->map_bytes - 1, 2));
	CHECK(!tr_space_reserve(UINT64_MAX - TR_PAGE, 16));
	CHECK(tr_arena_claim(64) != 0);
}

TEST(what_is_larger_than_the_ledger_is_refused)
{
	scene_play(play_bounds);
}

/* ---- the limit --------------------------------------------------------- */

static pthread_barrier_t barrier;
static uint64_t produced;

#define CROWD 64
#define KINDS 40

static void use_series(int i)
{
	char name[32];
	tare_site *scope, *value, *counter;

	(void)snprintf(name, sizeof(name), "series.%d", i);
	scope = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, name, NULL,
			      NULL);
	value = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM, name, NULL,
			      NULL);
	counter = tare_site_get(TARE_KIND_COUNTER, TARE_TYPE_COUNTER, name,
				NULL, NULL);
	for (int k = 0; k < 3; k++) {
		tare_scope_end(tare_scope_begin(scope));
		tare_value_observe(value, k);
		tare_counter_add(counter, 1);
		(void)__atomic_fetch_add(&produced, 3, __ATOMIC_RELAXED);
	}
}

/* All at once, so that no track is handed on. */
static void *crowd(void *arg)
{
	for (int i = 0; i < KINDS; i++)
		use_series(i);
	(void)pthread_barrier_wait(&barrier);
	return arg;
}

static void check_accounts(bool lossy)
{
	const tare_stats *rows = NULL;
	const tare_health *h;
	uint64_t stored = 0;
	tare_view *view = scene_view();
	size_t n = scene_rows(view, NULL, &rows);

	for (size_t i = 0; i < n; i++)
		stored += rows[i].count;
	h = tare_view_health(view);
	CHECK_INT(stored + h->lost, produced);
	CHECK_INT(h->lost > 0, lossy);
	CHECK_INT(h->lost, h->lost_no_track + h->lost_no_space +
				   h->lost_busy + h->lost_damage);
	CHECK_INT(h->damaged, 0);
	CHECK(tare_view_run(view)->ledger_bytes <=
	      tare_view_run(view)->ledger_limit);
	tare_view_close(view);
}

static void run_crowd(void)
{
	pthread_t thread[CROWD];

	CHECK_INT(pthread_barrier_init(&barrier, NULL, CROWD), 0);
	for (int i = 0; i < CROWD; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, crowd, NULL), 0);
	for (int i = 0; i < CROWD; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
}

static const char *limit;

static void play_limit(void)
{
	const char *options[] = { "ledger_limit", limit, NULL };

	scene_start(options);
	run_crowd();
	check_accounts(strcmp(limit, "1M") == 0);
	CHECK_INT(tare_verify(tare_ledger_path(), NULL, NULL), 0);
}

TEST(beyond_the_limit_every_event_is_stored_or_counted_as_lost)
{
	limit = "1M";
	scene_play(play_limit);
}

TEST(below_the_limit_nothing_is_lost)
{
	limit = "64M";
	scene_play(play_limit);
}

/* Space that comes back is used. */
static void play_resume(void)
{
	uint64_t all, before;
	tare_view *view;

	scene_start(NULL);
	use_series(0);
	all = tr_ledger->limit_bytes;
	__atomic_store_n(&tr_ledger->limit_bytes, 4096, __ATOMIC_RELAXED);
	for (int i = 1; i < 30; i++)
		use_series(i);
	check_accounts(true);
	view = scene_view();
	before = tare_view_health(view)->lost;
	tare_view_close(view);
	__atomic_store_n(&tr_ledger->limit_bytes, all, __ATOMIC_RELAXED);
	for (int i = 0; i < 30; i++)
		use_series(i);
	check_accounts(true);
	view = scene_view();
	CHECK_INT(tare_view_health(view)->lost, before);
	tare_view_close(view);
}

TEST(measuring_goes_on_when_there_is_space_again)
{
	scene_play(play_resume);
}

/* ---- pages on disk ------------------------------------------------------ */

/*
 * "rr" among the flags of the mapping that begins at `at`: no readahead. A
 * mapping that the kernel does not list, as below an emulator, has it.
 */
static bool has_no_readahead(const void *at)
{
	FILE *file = fopen("/proc/self/smaps", "r");
	bool is_here = false, has = true;
	char line[512];
	unsigned long start, end;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, "VmFlags:", 8) == 0 && is_here)
			has = strstr(line, " rr ") != NULL;
		else if (sscanf(line, "%lx-%lx ", &start, &end) == 2)
			is_here = start == (uintptr_t)at;
	if (file)
		(void)fclose(file);
	return has;
}

static void play_readahead(void)
{
	scene_start(NULL);
	CHECK(has_no_readahead(tr_ledger->base));
	CHECK_INT(truncate(tr_ledger->path, 0), 0);
	use_series(0); /* the guard replaces the file */
	CHECK(has_no_readahead(tr_ledger->base));
}

TEST(a_page_of_the_ledger_does_not_bring_its_neighbours)
{
	scene_play(play_readahead);
}

/* ---- no folder --------------------------------------------------------- */

static unsigned warnings;

static void count_warning(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	(void)text;
	warnings += level <= TARE_LEVEL_WARNING;
}

static void play_in_memory(void)
{
	const char *options[] = { "dir", "/proc/none", NULL };

	tare_log_set(count_warning, NULL);
	scene_start(options);
	CHECK(tare_ledger_path() == NULL);
	CHECK_INT(warnings, 1);
	for (int i = 0; i < KINDS; i++)
		use_series(i);
	check_accounts(false);
	CHECK(tare_clear() != 0);
}

TEST(without_a_folder_it_measures_in_memory_and_says_so_once)
{
	scene_play(play_in_memory);
}
