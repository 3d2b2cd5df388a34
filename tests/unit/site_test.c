/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sites: each series once, whoever names it and how; long names, labels,
 * and what happens to names beyond the limit.
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

static tare_site *counter(const char *name)
{
	return tare_site_get(TARE_KIND_COUNTER, TARE_TYPE_COUNTER, name, NULL,
			     NULL);
}

static uint64_t count_of(const char *name)
{
	const tare_stats *rows = NULL, *row;
	tare_view *view = scene_view();
	size_t n = scene_rows(view, NULL, &rows);
	uint64_t count;

	row = scene_row(rows, n, name);
	count = row ? row->count : 0;
	tare_view_close(view);
	return count;
}

/* ---- the same series --------------------------------------------------- */

static void play_same(void)
{
	char copy[] = "name";

	scene_start(NULL);
	CHECK(counter("name") == counter(copy));
	CHECK(counter("name") != counter("name2"));
	CHECK(counter("name") != tare_site_get(TARE_KIND_COUNTER,
					       TARE_TYPE_COUNTER, "name",
					       "unit", NULL));
	CHECK(counter("name") != tare_site_get(TARE_KIND_COUNTER,
					       TARE_TYPE_COUNTER, "name",
					       NULL, "source"));
	CHECK(counter("name") != tare_site_get(TARE_KIND_VALUE,
					       TARE_TYPE_COUNTER, "name",
					       NULL, NULL));
	CHECK(counter(NULL) == counter("(unnamed)"));
	copy[0] = 'x'; /* the library has its own copy */
	CHECK_STR(counter("name")->name, "name");
}

TEST(the_same_name_gives_the_same_handle)
{
	scene_play(play_same);
}

static void play_merged(void)
{
	scene_start(NULL);
	TARE_COUNT("merged", 1);
	TARE_COUNT("merged", 10);
	tare_counter_add(counter("merged"), 100);
	CHECK_INT(count_of("merged"), 111);
}

TEST(static_and_dynamic_sites_of_one_name_are_one_series)
{
	scene_play(play_merged);
}

/* ---- names ------------------------------------------------------------- */

static void play_long_names(void)
{
	static const size_t sizes[] = { 1,    254,   255,     256,  257,
					4000, 70000, 1 << 20, 16 << 20 };
	char *name = malloc((16 << 20) + 1);
	const tare_stats *rows = NULL;
	tare_view *view;
	uint64_t sum = 0;
	size_t n;

	scene_start(NULL);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		memset(name, 'a' + (int)i, sizes[i]);
		name[sizes[i]] = '\0';
		tare_counter_add(counter(name), 1);
		tare_counter_add(counter(name), 1);
		/* Euro signs: three bytes, cut between them. */
		for (size_t k = 0; k + 3 <= sizes[i]; k += 3)
			memcpy(name + k, "\xe2\x82\xac", 3);
		name[sizes[i] / 3 * 3] = '\0';
		tare_counter_add(counter(name), 1);
	}
	free(name);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(rows[i].name);

		sum += rows[i].count;
		CHECK(len <= 255);
		if (rows[i].name[0] == '\xe2')
			CHECK_INT(len % 3, 0);
	}
	CHECK_INT(sum, 27);
	tare_view_close(view);
}

TEST(names_of_any_length_are_counted)
{
	scene_play(play_long_names);
}

/* ---- labels ------------------------------------------------------------ */

static const char *labels_of(const tare_stats *rows, size_t n, uint64_t count)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].count == count)
			return rows[i].labels;
	return NULL;
}

static void play_labels(void)
{
	static const char *const ok[] = { "code", "200", "route", "/" };
	static const char *const swapped[] = { "route", "/", "code", "200" };
	static const char *const odd[] = { "text", "a\"b\\c\nd" };
	static const char *const null[] = { "text", NULL };
	static const char *many[2000];
	const tare_stats *rows = NULL;
	tare_site *base;
	tare_view *view;
	size_t n;

	scene_start(NULL);
	base = counter("requests");
	CHECK(tare_site_labels(base, 2, ok) == tare_site_labels(base, 2, ok));
	CHECK(tare_site_labels(base, 2, ok) != base);
	CHECK(tare_site_labels(base, 2, ok) !=
	      tare_site_labels(base, 2, swapped));
	CHECK(tare_site_labels(base, 0, ok) == base);
	CHECK(tare_site_labels(base, 1, null) == base);
	for (size_t i = 0; i < 2000; i++)
		many[i] = "x";
	CHECK(tare_site_labels(base, 1000, many) == base);
	tare_counter_add(base, 1);
	tare_counter_add(tare_site_labels(base, 2, ok), 2);
	tare_counter_add(tare_site_labels(base, 1, odd), 3);
	tare_counter_add(tare_site_labels(counter("other"), 2, ok), 4);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	CHECK_INT(n, 4);
	CHECK_STR(labels_of(rows, n, 1), "");
	CHECK_STR(labels_of(rows, n, 2), "code=\"200\",route=\"/\"");
	CHECK_STR(labels_of(rows, n, 3), "text=\"a\\\"b\\\\c\\nd\"");
	CHECK_STR(labels_of(rows, n, 4), "code=\"200\",route=\"/\"");
	tare_view_close(view);
}

TEST(labels_make_series_of_their_own)
{
	scene_play(play_labels);
}

/* Balanced, whatever is cut off: k="v" pairs and commas. */
static bool is_well_formed(const char *labels)
{
	while (*labels) {
		labels += strcspn(labels, "=\"");
		if (*labels++ != '=' || *labels++ != '"')
			return false;
		for (; *labels != '"'; labels++) {
			if (!*labels)
				return false;
			labels += *labels == '\\' && labels[1];
		}
		labels++;
		if (*labels == ',' && !*++labels)
			return false;
	}
	return true;
}

static void play_long_labels(void)
{
	static char value[3000];
	const tare_stats *rows = NULL;
	tare_view *view;
	uint64_t sum = 0;
	size_t n;

	scene_start(NULL);
	for (size_t size = 1; size < sizeof(value); size += 37) {
		const char *pairs[] = { "a", "x", "long", value, "b", "y" };

		memset(value, 'v', size);
		if (size % 2)
			memset(value, '"', size / 2);
		value[size] = '\0';
		tare_counter_add(tare_site_labels(counter("c"), 3, pairs), 1);
		sum++;
	}
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	for (size_t i = 0; i < n; i++) {
		sum -= rows[i].count;
		if (!CHECK(is_well_formed(rows[i].labels)))
			printf("# %s\n", rows[i].labels);
	}
	CHECK_INT(sum, 0);
	tare_view_close(view);
}

TEST(labels_that_are_cut_stay_well_formed)
{
	scene_play(play_long_labels);
}

/* ---- beyond the limit -------------------------------------------------- */

static enum tare_kind kind;

static void use(tare_site *site)
{
	switch (kind) {
	case TARE_KIND_SCOPE:
		tare_scope_end(tare_scope_begin(site));
		break;
	case TARE_KIND_COUNTER:
		tare_counter_add(site, 1);
		break;
	case TARE_KIND_GAUGE:
		tare_gauge_set(site, 5);
		break;
	case TARE_KIND_VALUE:
		tare_value_observe(site, 5);
		break;
	default:
		tare_ratio_add(site, 1, 1);
	}
}

static void play_overflow(void)
{
	static const char *const options[] = { "max_sites", "64", NULL };
	const tare_stats *rows = NULL, *row;
	tare_view *view;
	uint64_t sum = 0;
	size_t n;

	scene_start(options);
	for (int i = 0; i < 1000; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "n%d", i);
		use(tare_site_get(kind, TARE_TYPE_CUSTOM, name, NULL, NULL));
	}
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	for (size_t i = 0; i < n; i++)
		sum += rows[i].count;
	CHECK_INT(sum, 1000);
	row = scene_row(rows, n, "(overflow)");
	if (CHECK(row)) {
		CHECK_INT(row->kind, kind);
		CHECK(row->count >= 1000 - 130 && row->count <= 1000 - 50);
		CHECK_INT(tare_view_health(view)->overflow_calls, row->count);
	}
	CHECK(tare_view_health(view)->overflow_sites > 0);
	CHECK_INT(tare_view_health(view)->lost, 0);
	tare_view_close(view);
}

TEST(names_beyond_the_limit_share_one_counted_series_of_their_kind)
{
	for (kind = TARE_KIND_SCOPE; kind <= TARE_KIND_RATIO; kind++)
		scene_play(play_overflow);
}

/* ---- threads ----------------------------------------------------------- */

#define N_THREADS 8
#define N_NAMES 500

static void *register_all(void *arg)
{
	char name[16];

	for (int i = 0; i < N_NAMES; i++) {
		(void)snprintf(name, sizeof(name), "n%d", i);
		tare_counter_add(counter(name), 1);
	}
	return arg;
}

static void play_race(void)
{
	pthread_t thread[N_THREADS];
	const tare_stats *rows = NULL;
	tare_view *view;
	size_t n;

	scene_start(NULL);
	for (int i = 0; i < N_THREADS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, register_all, NULL),
			  0);
	for (int i = 0; i < N_THREADS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	CHECK_INT(n, N_NAMES);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(rows[i].count, N_THREADS);
	CHECK_INT(tare_view_health(view)->overflow_sites, 0);
	tare_view_close(view);
}

TEST(threads_that_name_the_same_at_once_get_the_same_series)
{
	scene_play(play_race);
}
