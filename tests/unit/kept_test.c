/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kept values: the last ones of every series, in statistics and as records.
 */
#include "check.h"
#include "scene.h"
#include "read/view.h"

#include <tare/control.h>
#include <tare/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static tare_site *handle(enum tare_kind kind, enum tare_type type,
			 const char *name, const char *unit,
			 const char *source)
{
	return tare_site_get(kind, type, name, unit, source);
}

static size_t records_of(tare_view *view, const tare_filter *filter,
			 const tare_record **ret_records)
{
	size_t n = 0;

	*ret_records = NULL;
	CHECK_INT(tare_view_records(view, filter, ret_records, &n), 0);
	return n;
}

static uint64_t count_of(tare_view *view, uint64_t last, const char *name,
			 double *ret_min)
{
	tare_filter filter = { .struct_size = sizeof(filter),
			       .last_values = last };
	const tare_stats *rows = NULL, *row;
	size_t n = scene_rows(view, &filter, &rows);

	row = scene_row(rows, n, name);
	*ret_min = row ? row->min : NAN;
	return row ? row->count : 0;
}

/* ---- statistics of the last values ------------------------------------- */

static void play_defaults(void)
{
	tare_view *view;
	double min;

	scene_clock();
	scene_start(NULL);
	for (int i = 1; i <= 2500; i++) {
		TARE_OPERATION("load");
		TARE_VALUE("rows", "", i);
		TARE_GAUGE("queue", "", i);
		TARE_PERCENT("used", -i);
		{
			TARE_SCOPE("inner");
			scene_pass_ns(1000);
		}
		scene_pass_ns(1000000);
	}
	view = scene_view();
	CHECK_INT(count_of(view, 1000, "load", &min), 1000);
	CHECK_INT(count_of(view, 1000, "rows", &min), 1000);
	CHECK_NEAR(min, 1501, 20);
	CHECK_INT(count_of(view, 1000, "queue", &min), 1000);
	CHECK_INT(count_of(view, 1000, "used", &min), 1000);
	CHECK_NEAR(min, -2500, 30);
	CHECK_INT(count_of(view, 10, "rows", &min), 10);
	CHECK_NEAR(min, 2491, 30);
	CHECK_INT(count_of(view, 1000, "inner", &min), 0);
	tare_view_close(view);
}

TEST(the_last_thousand_are_there_without_an_option)
{
	scene_play(play_defaults);
}

/* Every size of a ring on its way, one more and one less. */
static void play_growth(void)
{
	tare_site *site = handle(TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "v", "",
				 "");
	tare_view *view;
	double min;

	scene_start(NULL);
	for (uint64_t i = 1; i <= 2100; i++) {
		uint64_t kept = i < 1000 ? i : 1000;

		tare_value_observe(site, (double)i);
		if (i % 16 > 1 && i % 16 != 15)
			continue;
		view = scene_view();
		CHECK_INT(count_of(view, 5000, "v", &min), kept);
		CHECK_NEAR(min, (double)(i - kept + 1),
			   .03 * (double)(i - kept + 1));
		tare_view_close(view);
	}
}

TEST(a_ring_that_grows_forgets_nothing)
{
	scene_play(play_growth);
}

static void play_off(void)
{
	static const char *const options[] = { "keep_values", "0", NULL };
	const tare_record *records;
	tare_view *view;
	double min;

	scene_start(options);
	for (int i = 0; i < 100; i++)
		TARE_VALUE("rows", "", i);
	view = scene_view();
	CHECK_INT(count_of(view, 1000, "rows", &min), 0);
	CHECK_INT(count_of(view, 0, "rows", &min), 100);
	CHECK_INT(records_of(view, NULL, &records), 0);
	tare_view_close(view);
}

TEST(one_option_switches_it_off)
{
	scene_play(play_off);
}

static void play_scopes(void)
{
	static const char *const options[] = { "keep_kinds", "scope", NULL };
	const tare_record *records;
	tare_view *view;
	double min;

	scene_clock();
	scene_start(options);
	for (int i = 1; i <= 20; i++) {
		TARE_SCOPE("inner");
		TARE_VALUE("rows", "", i);
		scene_pass_ns(1000 * i);
	}
	view = scene_view();
	CHECK_INT(count_of(view, 1000, "inner", &min), 20);
	CHECK_INT(count_of(view, 1000, "rows", &min), 0);
	if (CHECK_INT(records_of(view, NULL, &records), 20)) {
		CHECK_INT(records[19].kind, TARE_RECORD_SCOPE);
		CHECK_INT(records[19].duration_ns, 20000);
		CHECK_NEAR(records[19].value, 20000, 0);
	}
	tare_view_close(view);
}

TEST(scopes_are_kept_on_request)
{
	scene_play(play_scopes);
}

/* 64 KiB: three rings of a thousand. None of the others may fail. */
static void play_little_memory(void)
{
	static const char *const options[] = { "keep_bytes", "65536", NULL };
	uint64_t all = 0, n;
	tare_view *view;
	char name[16];
	double min;

	scene_start(options);
	for (int i = 0; i < 50; i++) {
		tare_site *site;

		(void)snprintf(name, sizeof(name), "v%d", i);
		site = handle(TARE_KIND_VALUE, TARE_TYPE_CUSTOM, name, "", "");
		for (int k = 0; k < 2000; k++)
			tare_value_observe(site, k + 1);
	}
	view = scene_view();
	for (int i = 0; i < 50; i++) {
		(void)snprintf(name, sizeof(name), "v%d", i);
		CHECK_INT(count_of(view, 0, name, &min), 2000);
		n = count_of(view, 5000, name, &min);
		CHECK(n == 0 || n == 16 || n == 128 || n == 1000);
		all += n;
	}
	CHECK(all >= 1000 && all * 16 <= 65536);
	CHECK_INT(tare_view_health(view)->lost, 0);
	tare_view_close(view);
}

TEST(kept_values_stay_within_their_part_of_the_ledger)
{
	scene_play(play_little_memory);
}

/* ---- records ----------------------------------------------------------- */

static const tare_record *newest(const tare_record *records, size_t n,
				 const char *name)
{
	while (n-- > 0)
		if (strcmp(records[n].name, name) == 0)
			return &records[n];
	return NULL;
}

static void check_cpu(const tare_record *r, int64_t now)
{
	if (!CHECK(r))
		return;
	CHECK_INT(r->kind, TARE_RECORD_GAUGE);
	CHECK_INT(r->type, TARE_TYPE_PERCENTAGE);
	CHECK_STR(r->source, "system_monitor");
	CHECK_STR(r->unit, "%");
	CHECK_STR(r->labels, "core=\"0\"");
	CHECK_NEAR(r->value, 85, 0);
	CHECK_INT(r->start_ns, now);
	CHECK(r->ok && r->n_attrs == 0 && !r->error[0]);
}

/* The program of the document: 140 recorded. */
static void record_all(void)
{
	static const char *const pair[] = { "core", "0" };
	tare_site *cpu = handle(TARE_KIND_GAUGE, TARE_TYPE_PERCENTAGE,
				"cpu_usage", "%", "system_monitor");
	tare_site *query = handle(TARE_KIND_VALUE, TARE_TYPE_TIME,
				  "database_query_time", "s", "database");
	tare_site *requests = handle(TARE_KIND_COUNTER, TARE_TYPE_COUNTER,
				     "api_requests", "", "api_handler");

	cpu = tare_site_labels(cpu, 1, pair);
	for (int i = 0; i < 20; i++) {
		TARE_OPERATION_IN("loader", "load");
		scene_pass_ns(SECOND);
		tare_gauge_set(cpu, 85);
		for (int k = 0; k < 4; k++)
			tare_value_observe(query, 0.025 * (k + 1));
		tare_counter_add(requests, 1);
	}
}

static void play_records(void)
{
	static const char *const options[] = { "keep_kinds", "all", NULL };
	const tare_record *records, *r;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(options);
	record_all();
	view = scene_view();
	n = records_of(view, NULL, &records);
	CHECK_INT(n, 140);
	CHECK_INT(tare_view_health(view)->records, 140);
	check_cpu(newest(records, n, "cpu_usage"), scene_real_ns());
	r = newest(records, n, "database_query_time");
	if (CHECK(r)) {
		CHECK_INT(r->kind, TARE_RECORD_VALUE);
		CHECK_NEAR(r->value, 0.1, 0);
		CHECK_STR(r->unit, "s");
	}
	r = newest(records, n, "api_requests");
	if (CHECK(r)) {
		CHECK_INT(r->kind, TARE_RECORD_COUNTER);
		CHECK_INT(r->type, TARE_TYPE_COUNTER);
		CHECK_NEAR(r->value, 1, 0);
		CHECK_STR(r->source, "api_handler");
		CHECK_INT(r->start_ns, scene_real_ns());
	}
	r = newest(records, n, "load");
	if (CHECK(r))
		CHECK_NEAR(r->value, 1e9, 0);
	for (size_t i = 1; i < n; i++)
		CHECK(records[i - 1].start_ns <= records[i].start_ns);
	tare_view_close(view);
}

TEST(every_kind_of_measurement_is_in_the_history)
{
	scene_play(play_records);
}

static size_t filtered(tare_view *view, const char *name, const char *source,
		       uint32_t types, uint32_t kinds)
{
	tare_filter filter = { .struct_size = sizeof(filter),
			       .names = &name,
			       .n_names = name != NULL,
			       .sources = &source,
			       .n_sources = source != NULL,
			       .types = types,
			       .record_kinds = kinds };
	const tare_record *records;

	return records_of(view, &filter, &records);
}

static void play_filters(void)
{
	tare_view *view;

	scene_clock();
	scene_start(NULL);
	record_all();
	view = scene_view();
	CHECK_INT(filtered(view, NULL, NULL, 0, 0), 120);
	CHECK_INT(filtered(view, "cpu*", NULL, 0, 0), 20);
	CHECK_INT(filtered(view, NULL, "system*", 0, 0), 20);
	CHECK_INT(filtered(view, NULL, "data*", 1u << TARE_TYPE_TIME, 0), 80);
	CHECK_INT(filtered(view, "cpu*", NULL, 1u << TARE_TYPE_TIME, 0), 0);
	CHECK_INT(filtered(view, NULL, NULL, 1u << TARE_TYPE_TIME, 0), 100);
	CHECK_INT(filtered(view, NULL, NULL, 0, 1u << TARE_RECORD_GAUGE), 20);
	CHECK_INT(filtered(view, NULL, NULL, 0,
			   1u << TARE_RECORD_OPERATION), 20);
	tare_view_close(view);
}

TEST(records_of_values_are_filtered_as_all_others)
{
	scene_play(play_filters);
}

/* Operations and values have the same bound, each for itself. */
static void play_bounds(void)
{
	static const char *const options[] = { "max_history_size", "30",
					       "max_history_age", "10", NULL };
	const tare_record *records;
	tare_view *view;

	scene_clock();
	scene_start(options);
	record_all();
	view = scene_view();
	CHECK_INT(filtered(view, "load", NULL, 0, 0), 10);
	CHECK_INT(filtered(view, "cpu*", NULL, 0, 0), 10);
	CHECK_INT(filtered(view, "data*", NULL, 0, 0), 30);
	CHECK_INT(records_of(view, NULL, &records), 40);
	tare_view_close(view);
	CHECK_INT(tare_clear(), 0);
	view = scene_view();
	CHECK_INT(records_of(view, NULL, &records), 0);
	tare_view_close(view);
	scene_pass_ns(SECOND);
	TARE_VALUE("after", "", 1);
	view = scene_view();
	CHECK_INT(records_of(view, NULL, &records), 1);
	tare_view_close(view);
}

TEST(number_age_and_a_clear_bound_the_history_of_values)
{
	scene_play(play_bounds);
}

static void *observe_in_thread(void *arg)
{
	for (int i = 0; i < 100; i++)
		TARE_VALUE("of threads", "", *(const int *)arg);
	return NULL;
}

static void play_threads(void)
{
	const tare_record *records;
	pthread_t thread[3];
	int value[3] = { 1, 2, 3 };
	tare_view *view;
	size_t n;

	scene_start(NULL);
	for (int i = 0; i < 3; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, observe_in_thread,
					 &value[i]), 0);
	for (int i = 0; i < 3; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	view = scene_view();
	n = records_of(view, NULL, &records);
	CHECK_INT(n, 300);
	for (size_t i = 0; i < n; i++)
		value[(size_t)records[i].value - 1]++;
	for (int i = 0; i < 3; i++)
		CHECK_INT(value[i], 101 + i);
	tare_view_close(view);
}

TEST(values_of_all_threads_are_records)
{
	scene_play(play_threads);
}

/* ---- counters of doubles ----------------------------------------------- */

static void *count_in_thread(void *arg)
{
	tare_site *site = arg;

	for (int i = 0; i < 1000; i++)
		tare_counter_add_double(site, 0.25);
	return NULL;
}

static void play_doubles(void)
{
	tare_site *site = tare_counter_get_double("at run time", "", "api");
	const tare_stats *rows = NULL, *row;
	pthread_t thread;
	tare_view *view;
	size_t n;

	scene_start(NULL);
	CHECK_INT(pthread_create(&thread, NULL, count_in_thread, site), 0);
	for (int i = 0; i < 10; i++) {
		TARE_COUNT("of doubles", 0.5);
		TARE_COUNT("of floats", 1.5f);
		TARE_COUNT("of whole numbers", 3);
		tare_counter_add_double(site, 1.0);
		tare_counter_add(site, 2);
	}
	tare_counter_add_double(site, -1);
	tare_counter_add_double(site, (double)NAN);
	tare_counter_add_double(site, (double)INFINITY);
	CHECK_INT(pthread_join(thread, NULL), 0);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "of doubles");
	if (CHECK(row)) {
		CHECK_INT(row->kind, TARE_KIND_COUNTER);
		CHECK_NEAR(row->total, 5, 0);
	}
	row = scene_row(rows, n, "of floats");
	CHECK(row && row->total == 15);
	row = scene_row(rows, n, "of whole numbers");
	CHECK(row && row->total == 30 && row->count == 30);
	row = scene_row(rows, n, "at run time");
	if (CHECK(row))
		CHECK_NEAR(row->total, 280, 0);
	tare_view_close(view);
}

TEST(a_counter_of_doubles_is_as_exact_as_another)
{
	scene_play(play_doubles);
}

static void play_kept_doubles(void)
{
	static const char *const options[] = { "keep_kinds", "counter", NULL };
	const tare_record *records;
	tare_view *view;
	double min;

	scene_start(options);
	for (int i = 1; i <= 40; i++) {
		TARE_COUNT("of doubles", 0.5 * i);
		TARE_COUNT("of whole numbers", i);
		TARE_VALUE("value", "", i);
	}
	view = scene_view();
	CHECK_INT(records_of(view, NULL, &records), 80);
	CHECK_NEAR(records[79].value + records[78].value, 60, 0);
	CHECK_INT(count_of(view, 10, "of whole numbers", &min), 10);
	CHECK_NEAR(min, 31, .5);
	tare_view_close(view);
}

TEST(single_additions_are_kept_on_request)
{
	scene_play(play_kept_doubles);
}
