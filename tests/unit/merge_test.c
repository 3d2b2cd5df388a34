/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merge: several runs as one. The expected figures are those of one run that
 * measured the same: every part is played by a process of its own, and once
 * more by the one that compares.
 */
#include "check.h"
#include "scene.h"
#include "read/stats.h"
#include "read/view.h"

#include <tare/control.h>
#include <tare/probe.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST_PARTS 5
#define SECOND INT64_C(1000000000)

static tare_site *site_of(enum tare_kind kind, const char *name,
			  const char *unit, const char *source)
{
	return tare_site_get(kind, TARE_TYPE_CUSTOM, name, unit, source);
}

/* ---- a part ------------------------------------------------------------ */

static void play_scope(struct dice *dice)
{
	static const char *const source[] = { "a", "b" };
	tare_site *site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, "work",
					NULL, source[dice_next(dice) % 2]);
	static const char *const pair[] = { "route", "/x" };
	tare_scope scope;

	if (dice_next(dice) % 3 == 0)
		site = tare_site_labels(site, 1, pair);
	scope = tare_scope_begin(site);
	/* Up to a second, so that it stays in its slice or the next. */
	scene_pass_ns((int64_t)(1e9 * dice_unit(dice) * dice_unit(dice)));
	tare_scope_items(scope, dice_next(dice) % 5);
	if (dice_next(dice) % 7 == 0)
		tare_scope_fail(scope, "no");
	tare_scope_end(scope);
}

static void play_values(struct dice *dice)
{
	double v = dice_next(dice) % 9 ? 1000 * dice_normal(dice) : 0;

	tare_value_observe(site_of(TARE_KIND_VALUE, "size", "B", "a"), v);
	/* The same name, and yet others. */
	tare_value_observe(site_of(TARE_KIND_VALUE, "size", "m", "a"), 2 * v);
	tare_counter_add(site_of(TARE_KIND_COUNTER, "size", "B", "a"), 3);
	tare_gauge_set(site_of(TARE_KIND_GAUGE, "level", "", "a"), v);
	tare_ratio_add(site_of(TARE_KIND_RATIO, "hits", "1", "a"),
		       dice_next(dice) % 3, 3);
}

static void play_part(unsigned number)
{
	struct dice dice = { 1000 + number };

	for (unsigned i = 0; i < 300 * (number + 1); i++) {
		play_scope(&dice);
		play_values(&dice);
	}
	if (number == 1)
		tare_counter_add(site_of(TARE_KIND_COUNTER, "once", "", "a"),
				 7);
}

/* In a process of its own, killed or not; its view. */
static tare_view *view_of_part(unsigned number)
{
	tare_view *view = NULL;
	char which[32];
	int status;
	pid_t child = fork();

	if (child == 0) {
		play_part(number);
		_exit(0);
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	(void)snprintf(which, sizeof(which), "%d", (int)child);
	CHECK_INT(tare_view_open(which, &view), 0);
	return view;
}

/* ---- comparing --------------------------------------------------------- */

static void check_same(double is, double wanted, const char *what,
		       const tare_stats *row)
{
	double most = 1e-9 * fabs(wanted) + 1e-9;

	if ((isnan(is) && isnan(wanted)) || is == wanted)
		return;
	if (!CHECK(fabs(is - wanted) <= most))
		printf("# %s of %s{%s} %s: %g, not %g\n", what, row->name,
		       row->labels, row->unit, is, wanted);
}

#define CHECK_FIELD(field) check_same(is->field, wanted->field, #field, wanted)

static void check_row(const tare_stats *is, const tare_stats *wanted)
{
	CHECK_STR(is->name, wanted->name);
	CHECK_STR(is->labels, wanted->labels);
	CHECK_STR(is->source, wanted->source);
	CHECK_STR(is->unit, wanted->unit);
	CHECK_INT(is->kind, wanted->kind);
	CHECK_INT(is->type, wanted->type);
	CHECK_INT(is->count, wanted->count);
	CHECK_INT(is->timed, wanted->timed);
	CHECK_INT(is->failures, wanted->failures);
	CHECK_INT(is->items, wanted->items);
	CHECK_FIELD(total);
	CHECK_FIELD(own);
	CHECK_FIELD(mean);
	CHECK_FIELD(min);
	CHECK_FIELD(max);
	CHECK_FIELD(p50);
	CHECK_FIELD(p90);
	CHECK_FIELD(p95);
	CHECK_FIELD(p99);
	CHECK_FIELD(p999);
	CHECK_FIELD(last);
	CHECK_FIELD(success_rate);
	CHECK_FIELD(items_per_s);
}

static void check_buckets(const tare_merge *merge, const tare_view *view,
			  size_t index)
{
	static tare_bucket is[8192], wanted[8192];
	size_t n = tare_view_buckets(view, index, wanted, 8192);

	if (!CHECK_INT(tare_merge_buckets(merge, index, is, 8192), n))
		return;
	for (size_t i = 0; i < n; i++) {
		CHECK(is[i].lower == wanted[i].lower);
		CHECK(is[i].upper == wanted[i].upper);
		CHECK_INT(is[i].count, wanted[i].count);
	}
}

static void compare_rows(const tare_merge *merge, tare_view *whole,
			 const tare_filter *filter)
{
	const tare_stats *is, *wanted;
	size_t n_is, n_wanted = scene_rows(whole, filter, &wanted);

	is = tare_merge_stats(merge, &n_is);
	if (CHECK_INT(n_is, n_wanted))
		for (size_t i = 0; i < n_is; i++) {
			check_row(&is[i], &wanted[i]);
			check_buckets(merge, whole, i);
			check_same(tare_merge_quantile(merge, i, 0.37),
				   tare_view_quantile(whole, i, 0.37),
				   "quantile", &wanted[i]);
		}
}

static void check_merge(tare_view *const *parts, size_t n, tare_view *whole,
			const tare_filter *filter)
{
	tare_merge *merge = NULL;

	if (!CHECK_INT(tare_merge_open(parts, n, filter, &merge), 0))
		return;
	compare_rows(merge, whole, filter);
	tare_merge_close(merge);
}

/* What threads make of the files, and of two summaries of halves. */
static void check_files(tare_view *const *parts, size_t n, tare_view *whole)
{
	const char *path[MOST_PARTS + 1], *halves[2];
	char half[2][512];
	tare_merge *merge = NULL;
	uint64_t unreadable = 7;

	for (size_t i = 0; i < n; i++)
		path[i] = tare_view_run(parts[i])->path;
	path[n] = "/dev/null";
	if (!CHECK_INT(tare_merge_files(path, n + 1, NULL, &merge), 0))
		return;
	CHECK_INT(tare_merge_runs(merge, &unreadable), n);
	CHECK_INT(unreadable, 1);
	compare_rows(merge, whole, NULL);
	tare_merge_close(merge);

	for (size_t k = 0; k < 2; k++) {
		(void)snprintf(half[k], sizeof(half[k]), "%.400s.half%zu",
			       path[0], k);
		CHECK_INT(tare_merge_files(path + k * (n / 2),
					   k ? n - n / 2 : n / 2, NULL,
					   &merge), 0);
		CHECK_INT(tare_merge_save(merge, half[k]), 0);
		tare_merge_close(merge);
		halves[k] = half[k];
	}
	CHECK_INT(tare_merge_files(halves, 2, NULL, &merge), 0);
	CHECK_INT(tare_merge_runs(merge, NULL), n);
	compare_rows(merge, whole, NULL);
	tare_merge_close(merge);
	for (size_t k = 0; k < 2; k++)
		CHECK_INT(unlink(half[k]), 0);
}

/* ---- tests ------------------------------------------------------------- */

static unsigned n_parts;

static void play_parts(void)
{
	static const char *const names[] = { "work", "si*" };
	tare_filter f = { .struct_size = sizeof(f) };
	tare_view *part[MOST_PARTS], *whole;

	scene_clock();
	scene_start(NULL);
	for (unsigned i = 0; i < n_parts; i++) {
		part[i] = view_of_part(i);
		play_part(i);
	}
	whole = scene_view();
	check_merge(part, n_parts, whole, NULL);
	check_files(part, n_parts, whole);
	f.names = names;
	f.n_names = 2;
	check_merge(part, n_parts, whole, &f);
	f.types = 1u << TARE_TYPE_TIME;
	check_merge(part, n_parts, whole, &f);
	f.outcome = TARE_OUTCOME_FAILED;
	check_merge(part, n_parts, whole, &f);
	f.types = 0;
	f.outcome = TARE_OUTCOME_OK;
	check_merge(part, n_parts, whole, &f);
	for (unsigned i = 0; i < n_parts; i++)
		tare_view_close(part[i]);
	tare_view_close(whole);
}

TEST(the_merge_of_parts_is_what_one_pass_measures)
{
	if (!scene_fork_wipes())
		SKIP("children of a measured process under an emulator");
	for (n_parts = 1; n_parts <= MOST_PARTS; n_parts++)
		scene_play(play_parts);
}

/* Fails in one of the runs: it has failures in all. */
static void play_outcome(void)
{
	tare_filter f = { .struct_size = sizeof(f) };
	tare_view *part[2], *view;
	tare_merge *merge = NULL;
	const tare_stats *rows;
	size_t n;

	scene_clock();
	scene_start(NULL);
	part[0] = view_of_part(0);
	{
		TARE_SCOPE_IN("a", "work");
		scene_pass_ns(5);
	}
	part[1] = view = scene_view();
	f.outcome = TARE_OUTCOME_OK;
	CHECK_INT(tare_merge_open(part, 2, &f, &merge), 0);
	rows = tare_merge_stats(merge, &n);
	for (size_t i = 0; i < n; i++)
		CHECK(strcmp(rows[i].name, "work") != 0 ||
		      strcmp(rows[i].source, "a") != 0 || rows[i].labels[0]);
	tare_merge_close(merge);
	f.outcome = TARE_OUTCOME_FAILED;
	CHECK_INT(tare_merge_open(part, 2, &f, &merge), 0);
	tare_view_close(part[0]);
	tare_view_close(part[1]);
	/* The strings outlive the views. */
	rows = tare_merge_stats(merge, &n);
	CHECK(scene_row(rows, n, "work") != NULL);
	tare_merge_close(merge);
}

TEST(the_outcome_is_asked_of_all_runs_together)
{
	if (!scene_fork_wipes())
		SKIP("children of a measured process under an emulator");
	scene_play(play_outcome);
}

static void record(const char *source, unsigned i)
{
	uint64_t ns = 500 + (uint64_t)i * i * 13;
	const char *error = i % 9 == 0 ? "no" : NULL;

	tare_duration_record(tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					   "part", NULL, source),
			     ns, error);
	tare_duration_record(tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					   "whole", NULL, ""),
			     ns, error);
}

/* Recorded twice: under three sources, and under one name. */
static void play_as_one(void)
{
	static const char *const source[] = { "x", "y", "z" };
	static const char *const name[] = { "part" };
	tare_filter f = { .struct_size = sizeof(f), .names = name,
			  .n_names = 1 };
	tare_stats row = { 0 };
	const tare_stats *rows, *wanted;
	tare_merge *merge = NULL;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(NULL);
	for (unsigned i = 0; i < 1000; i++)
		record(source[i % 3], i);
	view = scene_view();
	CHECK_INT(tare_merge_open(&view, 1, &f, &merge), 0);
	CHECK_INT(tr_merge_times(merge, &row), 0);
	CHECK_INT(tare_view_stats(view, NULL, &rows, &n), 0);
	wanted = scene_row(rows, n, "whole");
	row.name = wanted->name;
	check_row(&row, wanted);
	tare_merge_close(merge);
	tare_view_close(view);
}

TEST(series_of_times_as_one_are_what_one_series_measures)
{
	scene_play(play_as_one);
}

static void play_edges(void)
{
	tare_merge *merge = NULL;
	tare_view *none[1] = { NULL };
	tare_filter wrong = { 0 };
	tare_bucket bucket;
	tare_stats row;
	size_t n = 7;

	CHECK_INT(tare_merge_open(NULL, 1, NULL, &merge), TARE_EINVAL);
	CHECK_INT(tare_merge_open(none, 1, NULL, &merge), TARE_EINVAL);
	CHECK_INT(tare_merge_open(none, 0, &wrong, &merge), TARE_EINVAL);
	CHECK_INT(tare_merge_open(none, 0, NULL, NULL), TARE_EINVAL);
	CHECK(merge == NULL);
	CHECK_INT(tare_merge_open(NULL, 0, NULL, &merge), 0);
	CHECK(tare_merge_stats(merge, &n) != NULL);
	CHECK_INT(n, 0);
	CHECK(isnan(tare_merge_quantile(merge, 0, 0.5)));
	CHECK_INT(tare_merge_buckets(merge, 0, &bucket, 1), 0);
	CHECK_INT(tr_merge_times(merge, &row), 0);
	CHECK(row.count == 0 && isnan(row.mean) && isnan(row.p50));
	tare_merge_close(merge);
	tare_merge_close(NULL);
}

TEST(nothing_merges_to_nothing_and_wrong_arguments_are_refused)
{
	scene_play(play_edges);
}
