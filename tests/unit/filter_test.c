/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters of records and statistics: names, sources, types, outcome, time,
 * number; each checked against a plain loop over everything.
 */
#include "check.h"
#include "scene.h"
#include "read/view.h"

#include <tare/control.h>
#include <tare/probe.h>
#include <tare/read/export.h>
#include <tare/read/judge.h>

#include <fnmatch.h>
#include <math.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static void finish(tare_site *site, bool fails)
{
	tare_scope scope = tare_scope_begin(site);

	tare_scope_attr_int(scope, "n", 1);
	if (fails)
		tare_scope_fail(scope, "no luck");
	scene_pass_ns(SECOND / 4);
	tare_scope_end(scope);
}

/* 400 records of five names and three sources; "calm" never fails. */
static void make_records(void)
{
	static const char *const name[] = { "db.read", "db.write", "calm",
					    "net.read", "x" };
	static const char *const source[] = { "system", "system.disk", "app" };
	struct dice dice = { 17 };

	for (int i = 0; i < 400; i++) {
		const char *n = name[dice_next(&dice) % 5];
		tare_site *site = tare_site_get(TARE_KIND_SCOPE,
						TARE_TYPE_TIME, n, NULL,
						source[dice_next(&dice) % 3]);

		finish(site, strcmp(n, "calm") != 0 &&
				     dice_next(&dice) % 4 == 0);
	}
}

/* What the filter means, said once more in the plainest way. */
static bool is_meant(const tare_filter *f, const tare_record *r)
{
	bool named = f->n_names == 0, from = f->n_sources == 0;

	for (size_t i = 0; i < f->n_names; i++)
		named |= fnmatch(f->names[i], r->name, 0) == 0;
	for (size_t i = 0; i < f->n_sources; i++)
		from |= fnmatch(f->sources[i], r->source, 0) == 0;
	if (f->types && !(f->types & 1u << TARE_TYPE_TIME))
		return false;
	if (f->outcome && r->ok != (f->outcome == TARE_OUTCOME_OK))
		return false;
	if (r->start_ns < f->from_ns || (f->to_ns && r->start_ns >= f->to_ns))
		return false;
	return named && from;
}

static void check_records(tare_view *view, const tare_filter *filter)
{
	const tare_record *all, *some;
	size_t n_all, n, meant = 0, skip = 0;

	if (!CHECK_INT(tare_view_records(view, NULL, &all, &n_all), 0) ||
	    !CHECK_INT(tare_view_records(view, filter, &some, &n), 0))
		return;
	for (size_t i = 0; i < n_all; i++)
		meant += is_meant(filter, &all[i]);
	if (filter->most_records && filter->most_records < meant)
		skip = meant - (size_t)filter->most_records;
	CHECK_INT(n, meant - skip);
	for (size_t i = 0, k = 0; i < n_all && k < n; i++) {
		if (!is_meant(filter, &all[i]))
			continue;
		if (skip > 0) {
			skip--;
			continue;
		}
		CHECK_INT(some[k].start_ns, all[i].start_ns);
		CHECK_STR(some[k].name, all[i].name);
		CHECK(some[k].attrs == all[i].attrs);
		k++;
	}
}

/* Every combination of a few of each. */
static void play_records(void)
{
	static const char *const names[] = { "db.*", "x" };
	static const char *const sources[] = { "system*", "app" };
	int64_t start;
	tare_view *view;

	scene_clock();
	scene_start(NULL);
	start = scene_real_ns();
	make_records();
	view = scene_view();
	for (unsigned i = 0; i < 2 * 3 * 3 * 3 * 3 * 3; i++) {
		tare_filter f = {
			.struct_size = sizeof(f),
			.types = i % 2 ? 1u << TARE_TYPE_TIME : 0,
			.names = names,
			.n_names = i / 2 % 3,
			.sources = sources,
			.n_sources = i / 6 % 3,
			.outcome = i / 18 % 3,
			.from_ns = i / 54 % 3 ? start + 30 * SECOND : 0,
			.to_ns = i / 54 % 3 == 2 ? start + 60 * SECOND : 0,
			.most_records = i / 162 % 3 * 7,
		};

		check_records(view, &f);
	}
	check_records(view, &(tare_filter){
				    .struct_size = sizeof(tare_filter),
				    .types = 1u << TARE_TYPE_MEMORY });
	tare_view_close(view);
}

TEST(a_filter_of_records_means_what_a_plain_loop_says)
{
	scene_play(play_records);
}

static void play_outcome(void)
{
	tare_filter f = { .struct_size = sizeof(f) };
	const tare_stats *rows, *row;
	uint64_t failures = 0;
	tare_view *view;
	size_t all, failed, ok;

	scene_clock();
	scene_start(NULL);
	make_records();
	TARE_COUNT("things", 3);
	view = scene_view();
	all = scene_rows(view, NULL, &rows);
	for (size_t i = 0; i < all; i++)
		failures += rows[i].failures > 0;
	CHECK(failures > 0);
	f.outcome = TARE_OUTCOME_FAILED;
	failed = scene_rows(view, &f, &rows);
	CHECK_INT(failed, failures);
	for (size_t i = 0; i < failed; i++) {
		CHECK(rows[i].failures > 0);
		CHECK_NEAR(rows[i].success_rate,
			   1 - (double)rows[i].failures /
				       (double)rows[i].count, 1e-12);
	}
	f.outcome = TARE_OUTCOME_OK;
	ok = scene_rows(view, &f, &rows);
	CHECK_INT(ok, all - failed);
	row = scene_row(rows, ok, "calm");
	if (CHECK(row != NULL))
		CHECK(row->success_rate == 1);
	row = scene_row(rows, ok, "things");
	if (CHECK(row != NULL))
		CHECK(isnan(row->success_rate));
	tare_view_close(view);
}

TEST(statistics_have_a_success_rate_and_are_chosen_by_outcome)
{
	scene_play(play_outcome);
}

/* Single values know no outcome: the series is asked, over all time. */
static void play_last_values(void)
{
	static const char *const options[] = { "keep_values", "8",
					       "keep_kinds", "all", NULL };
	tare_filter f = { .struct_size = sizeof(f), .last_values = 4 };
	const tare_stats *rows;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(options);
	make_records();
	view = scene_view();
	f.outcome = TARE_OUTCOME_FAILED;
	n = scene_rows(view, &f, &rows);
	CHECK(n > 0);
	CHECK(scene_row(rows, n, "calm") == NULL);
	for (size_t i = 0; i < n; i++)
		CHECK(isnan(rows[i].success_rate));
	tare_view_close(view);
}

TEST(last_values_are_chosen_by_the_outcome_of_their_series)
{
	scene_play(play_last_values);
}

static void play_wrong(void)
{
	static const char *const hole[] = { "a", NULL };
	tare_filter f = { .struct_size = sizeof(f) };
	const tare_record *records;
	const tare_stats *rows;
	tare_view *view;
	size_t n;

	scene_start(NULL);
	view = scene_view();
	f.outcome = 3;
	CHECK_INT(tare_view_records(view, &f, &records, &n), TARE_EINVAL);
	CHECK_INT(tare_view_stats(view, &f, &rows, &n), TARE_EINVAL);
	f.outcome = 0;
	f.n_names = 1;
	CHECK_INT(tare_view_records(view, &f, &records, &n), TARE_EINVAL);
	CHECK_INT(tare_view_stats(view, &f, &rows, &n), TARE_EINVAL);
	f.names = hole;
	f.n_names = 2;
	CHECK_INT(tare_view_records(view, &f, &records, &n), TARE_EINVAL);
	f.n_names = 1;
	CHECK_INT(tare_view_records(view, &f, &records, &n), 0);
	f.struct_size--;
	CHECK_INT(tare_view_records(view, &f, &records, &n), TARE_EINVAL);
	CHECK_INT(tare_view_records(NULL, NULL, &records, &n), TARE_EINVAL);
	tare_view_close(view);
}

TEST(a_wrong_filter_is_refused)
{
	scene_play(play_wrong);
}

/* ---- of programs built with another header ------------------------------- */

static int ignore(void *arg, const char *data, size_t size)
{
	(void)arg;
	(void)data;
	(void)size;
	return 0;
}

static int records_with(tare_view *view, const void *filter, size_t *ret_n)
{
	const tare_record *records;
	const tare_stats *rows;
	int err = tare_view_stats(view, filter, &rows, ret_n);

	return err ? err : tare_view_records(view, filter, &records, ret_n);
}

static void play_other_header(void)
{
	struct {
		tare_filter known;
		uint64_t other;
	} newer = { { .struct_size = sizeof(newer), .most_records = 7 }, 0 };
	tare_filter older = {
		.struct_size = offsetof(tare_filter, record_kinds),
		.most_records = 5,
		.record_kinds = UINT32_MAX << 31, /* it has none */
	};
	tare_export_options how = { .struct_size = sizeof(how),
				    .format = TARE_FORMAT_JSON,
				    .filter = &older };
	tare_report_options report = { .struct_size = sizeof(report),
				       .filter = &older };
	tare_view *view;
	size_t n = 0;

	scene_clock();
	scene_start(NULL);
	make_records();
	view = scene_view();
	CHECK_INT(records_with(view, &older, &n), 0);
	CHECK_INT(n, 5);
	CHECK_INT(tare_export(&view, 1, &how, ignore, NULL), 0);
	CHECK_INT(tare_view_report(view, &report, ignore, NULL), 0);
	CHECK_INT(records_with(view, &newer, &n), 0);
	CHECK_INT(n, 7);
	newer.other = 1;
	CHECK_INT(records_with(view, &newer, &n), TARE_EINVAL);
	tare_view_close(view);
}

TEST(filters_of_other_versions_are_taken)
{
	scene_play(play_other_header);
}

/* Of each kind of options one that is shorter, and one that is longer. */
static void play_other_options(void)
{
	struct {
		tare_report_options known;
		uint64_t other;
	} newer = { { .struct_size = sizeof(newer) }, 0 };
	tare_report_options report = {
		.struct_size = offsetof(tare_report_options, factor),
		.factor = NAN, /* it has none */
	};
	tare_export_options how = {
		.struct_size = offsetof(tare_export_options, unit),
		.format = TARE_FORMAT_JSON,
		.unit = "none at all",
	};
	tare_amdahl_options part = {
		.struct_size = offsetof(tare_amdahl_options, limits),
		.limits.moderate = -1,
	};
	tare_amdahl *amdahl = NULL;
	tare_view *view;

	scene_clock();
	scene_start(NULL);
	make_records();
	view = scene_view();
	CHECK_INT(tare_view_report(view, &report, ignore, NULL), 0);
	CHECK_INT(tare_view_report(view, &newer.known, ignore, NULL), 0);
	newer.other = 1;
	CHECK_INT(tare_view_report(view, &newer.known, ignore, NULL),
		  TARE_EINVAL);
	CHECK_INT(tare_export(&view, 1, &how, ignore, NULL), 0);
	how.struct_size = sizeof(how);
	CHECK_INT(tare_export(&view, 1, &how, ignore, NULL), TARE_EINVAL);
	CHECK_INT(tare_amdahl_open(view, &part, &amdahl), 0);
	tare_amdahl_close(amdahl);
	tare_view_close(view);
}

TEST(options_of_other_versions_are_taken)
{
	scene_play(play_other_options);
}
