/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records: operations with their attributes and errors, and the bounds of
 * their history.
 */
#include "check.h"
#include "scene.h"
#include "read/view.h"

#include <tare/control.h>
#include <tare/probe.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static size_t records_of(tare_view *view, const tare_record **ret_records)
{
	size_t n = 0;

	*ret_records = NULL;
	CHECK_INT(tare_view_records(view, NULL, ret_records, &n), 0);
	return n;
}

static const tare_attr_value *attr_of(const tare_record *record,
				      const char *key)
{
	for (size_t i = 0; i < record->n_attrs; i++)
		if (strcmp(record->attrs[i].key, key) == 0)
			return &record->attrs[i];
	return NULL;
}

/* ---- content ----------------------------------------------------------- */

static void make_photo(int id)
{
	TARE_OPERATION("photo");
	TARE_ATTR("id", id);
	TARE_ATTR("size", 1.5 * id);
	TARE_ATTR("name", id % 2 ? "odd" : "even");
	scene_pass_ns(SECOND * id);
	if (id == 3)
		TARE_FAIL("out of film");
}

static void check_photo(const tare_record *record, int id)
{
	const tare_attr_value *a = attr_of(record, "id");

	CHECK_STR(record->name, "photo");
	CHECK_INT(record->duration_ns, SECOND * id);
	CHECK_INT(record->n_attrs, 3);
	CHECK(!record->truncated);
	CHECK_INT(record->ok, id != 3);
	CHECK_STR(record->error, id == 3 ? "out of film" : "");
	CHECK(a && a->type == TARE_ATTR_INT && a->i == id);
	a = attr_of(record, "size");
	CHECK(a && a->type == TARE_ATTR_DOUBLE && a->d == 1.5 * id);
	a = attr_of(record, "name");
	if (CHECK(a && a->type == TARE_ATTR_STR))
		CHECK_STR(a->s, id % 2 ? "odd" : "even");
}

static void play_content(void)
{
	const tare_record *records;
	int64_t start;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(NULL);
	start = scene_real_ns();
	for (int i = 1; i <= 5; i++)
		make_photo(i);
	{
		TARE_SCOPE("no operation");
		scene_pass_ns(SECOND);
	}
	TARE_DURATION_FAILED("upload", 2000000000, "refused");
	view = scene_view();
	n = records_of(view, &records);
	if (!CHECK_INT(n, 6))
		return;
	for (int i = 0; i < 5; i++) {
		check_photo(&records[i], i + 1);
		CHECK_INT(records[i].start_ns, start);
		start += SECOND * (i + 1);
	}
	CHECK_STR(records[5].name, "upload");
	CHECK_STR(records[5].error, "refused");
	CHECK_INT(records[5].duration_ns, 2 * SECOND);
	CHECK_INT(tare_view_health(view)->records, 6);
	tare_view_close(view);
}

TEST(a_record_has_what_its_scope_was_given)
{
	scene_play(play_content);
}

/* The document's: record_processing_time("operation", ms, photo_id=123). */
static void record_elsewhere(void)
{
	const tare_attr some[] = { TARE_ATTR_OF("photo_id", 123),
				   TARE_ATTR_OF("stage", "exif"),
				   TARE_ATTR_OF("score", 0.5) };

	CHECK_INT(tare_processing_record("operation", 1500, NULL, some, 3), 0);
	CHECK_INT(tare_processing_record("operation", 500, "no such photo",
					 some, 1), 0);
	CHECK_INT(tare_processing_record("operation", 0.25, NULL, NULL, 0), 0);
	CHECK_INT(tare_processing_record(NULL, 1, NULL, NULL, 0), TARE_EINVAL);
	CHECK_INT(tare_processing_record("o", -1, NULL, NULL, 0), TARE_EINVAL);
	CHECK_INT(tare_processing_record("o", 1, NULL, NULL, 1), TARE_EINVAL);
	TARE_DURATION_WITH("resize", 2000000000, "too large",
			   TARE_ATTR_OF("photo_id", 7),
			   TARE_ATTR_OF("name", "odd"));
}

static void check_elsewhere(const tare_record *r)
{
	const tare_attr_value *a = attr_of(&r[0], "photo_id");

	CHECK_STR(r[0].name, "operation");
	CHECK_INT(r[0].duration_ns, 3 * SECOND / 2);
	CHECK_INT(r[0].n_attrs, 3);
	CHECK(r[0].ok && !r[0].truncated);
	CHECK(a && a->type == TARE_ATTR_INT && a->i == 123);
	a = attr_of(&r[0], "stage");
	CHECK(a && a->type == TARE_ATTR_STR && strcmp(a->s, "exif") == 0);
	a = attr_of(&r[0], "score");
	CHECK(a && a->type == TARE_ATTR_DOUBLE && a->d == 0.5);
	CHECK(!r[1].ok && r[1].n_attrs == 1);
	CHECK_STR(r[1].error, "no such photo");
	CHECK(r[2].ok && r[2].n_attrs == 0 && r[2].duration_ns == 250000);
	CHECK_STR(r[3].name, "resize");
	CHECK_STR(r[3].error, "too large");
	CHECK_INT(r[3].n_attrs, 2);
}

static int by_name(const void *a, const void *b)
{
	const tare_record *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : x->start_ns < y->start_ns ? -1 : 1;
}

/* A scope is open that began when the duration did: its notes stay its. */
static void play_elsewhere(void)
{
	const tare_record *records;
	const tare_stats *rows, *row;
	tare_record all[5];
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(NULL);
	{
		TARE_OPERATION("around");
		TARE_ATTR("of", "around");
		scene_pass_ns(2 * SECOND);
		record_elsewhere();
	}
	view = scene_view();
	n = records_of(view, &records);
	if (!CHECK_INT(n, 5))
		return;
	memcpy(all, records, sizeof(all));
	qsort(all, n, sizeof(all[0]), by_name);
	CHECK_STR(all[0].name, "around");
	CHECK_INT(all[0].n_attrs, 1);
	check_elsewhere(all + 1);
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "operation");
	if (CHECK(row)) {
		CHECK_INT(row->count, 3);
		CHECK_INT(row->failures, 1);
		CHECK_NEAR(row->success_rate, 2.0 / 3, 1e-9);
	}
	tare_view_close(view);
}

TEST(a_recorded_duration_has_attributes_and_an_outcome)
{
	scene_play(play_elsewhere);
}

static void play_long_list(void)
{
	static char text[600];
	const tare_record *records;
	tare_attr all[300];
	tare_view *view;

	memset(text, 'x', sizeof(text) - 1);
	for (int i = 0; i < 300; i++)
		all[i] = i == 2 ? tare_attr_of_str("text", text) :
				  tare_attr_of_int("number", i);
	scene_start(NULL);
	CHECK_INT(tare_processing_record("long", 1, text, all, 300), 0);
	CHECK_INT(tare_processing_record("cut", 1, text, all, 3), 0);
	view = scene_view();
	if (CHECK_INT(records_of(view, &records), 2)) {
		CHECK(records[0].truncated && records[1].truncated);
		CHECK(records[0].n_attrs > 20 && records[0].n_attrs < 60);
		CHECK_INT(records[1].n_attrs, 3);
		CHECK(!records[0].ok && !records[1].ok);
	}
	CHECK_INT(tare_view_health(view)->lost_records, 0);
	tare_view_close(view);
}

TEST(a_long_list_of_attributes_is_cut_and_says_so)
{
	scene_play(play_long_list);
}

/* Notes of an outer scope and of inner ones do not mix. */
static void play_nested(void)
{
	const tare_record *records;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(NULL);
	{
		TARE_SCOPE_AS(outer, "outer");
		tare_scope_attr_int(outer, "a", 1);
		scene_pass_ns(1000);
		for (int i = 0; i < 3; i++) {
			TARE_SCOPE_AS(inner, "inner");
			TARE_ATTR("b", i);
			tare_scope_attr_int(outer, "c", i);
			scene_pass_ns(1000);
			if (i == 1)
				tare_scope_fail(inner, "inner");
		}
		tare_scope_fail(outer, "outer");
	}
	view = scene_view();
	n = records_of(view, &records);
	if (!CHECK_INT(n, 4))
		return;
	CHECK_STR(records[0].name, "outer");
	CHECK_INT(records[0].n_attrs, 4);
	CHECK_STR(records[0].error, "outer");
	for (int i = 0; i < 3; i++) {
		CHECK_STR(records[i + 1].name, "inner");
		CHECK_INT(records[i + 1].n_attrs, 1);
		CHECK_INT(records[i + 1].attrs[0].i, i);
		CHECK_INT(records[i + 1].ok, i != 1);
	}
	tare_view_close(view);
}

TEST(notes_of_nested_scopes_do_not_mix)
{
	scene_play(play_nested);
}

static void play_off(void)
{
	const tare_record *records;
	tare_view *view;
	tare_scope scope;

	scene_start(NULL);
	TARE_SCOPE_SITE_DEFINE(site, "outer");
	scope = tare_scope_begin(&site);
	CHECK_INT(tare_enable(false), 0);
	make_photo(3);
	CHECK_INT(tare_enable(true), 0);
	make_photo(4);
	tare_scope_end(scope);
	view = scene_view();
	if (!view)
		return;
	if (CHECK_INT(records_of(view, &records), 1)) {
		CHECK_STR(records[0].name, "photo");
		CHECK(records[0].ok && records[0].n_attrs == 3);
	}
	tare_view_close(view);
}

TEST(notes_of_a_scope_that_is_off_are_dropped)
{
	CHECK(scene_play(play_off));
}

/* ---- sizes ------------------------------------------------------------- */

#define MANY (16u << 20)

static void record_text(const char *text, bool as_error)
{
	TARE_OPERATION("text");

	if (as_error)
		TARE_FAIL(text);
	else
		TARE_ATTR("text", text);
}

static const char *last_text(tare_view *view, bool as_error,
			     bool *ret_truncated)
{
	const tare_record *records;
	size_t n = records_of(view, &records);
	const tare_attr_value *a;

	*ret_truncated = false;
	if (!CHECK(n > 0))
		return "";
	*ret_truncated = records[n - 1].truncated;
	if (as_error)
		return records[n - 1].error;
	a = attr_of(&records[n - 1], "text");
	return a && a->type == TARE_ATTR_STR ? a->s : "";
}

/* The beginning of `text`, all of it or marked, cut between characters. */
static void check_text(const char *text, size_t unit, bool as_error)
{
	tare_view *view;
	const char *kept;
	bool truncated;
	size_t len;

	scene_pass_ns(SECOND); /* the newest record is the last */
	record_text(text, as_error);
	view = scene_view();
	kept = last_text(view, as_error, &truncated);
	len = strlen(kept);
	CHECK(strncmp(kept, text, len) == 0);
	CHECK_INT(truncated, text[len] != '\0');
	CHECK_INT(len % unit, 0);
	CHECK(len >= 400 || !text[len]);
	tare_view_close(view);
}

static const char *const unit_of[] = { "x", "\xc3\xa9", "\xe2\x82\xac",
				       "\xf0\x9f\x98\x80" };

static void play_sizes(void)
{
	char *text = malloc(MANY + 1);

	scene_clock();
	scene_start(NULL);
	for (size_t size = 1; size <= MANY;
	     size = size < 1100 ? size + 9 : size * 64) {
		for (size_t unit = 1; unit <= 4; unit++) {
			size_t n = size / unit;

			for (size_t i = 0; i < n; i++)
				memcpy(text + i * unit, unit_of[unit - 1],
				       unit);
			text[n * unit] = '\0';
			check_text(text, unit, false);
			check_text(text, unit, true);
		}
	}
	free(text);
}

TEST(texts_of_any_size_are_kept_or_cut_between_characters_and_marked)
{
	scene_play(play_sizes);
}

/* Bytes that are no text are kept as they are. */
static void play_invalid(void)
{
	static const char *const invalid[] = {
		"\x80", "\xff\xfe", "\xc3", "\xe2\x82", "\xed\xa0\x80",
		"\xc0\xaf", "\xf8\x88\x80\x80\x80", "\x01\x02\x1b[31m\x7f",
	};
	static char tail[2001];

	scene_clock();
	scene_start(NULL);
	for (size_t i = 0; i < sizeof(invalid) / sizeof(invalid[0]); i++)
		check_text(invalid[i], 1, i % 2);
	memset(tail, 0x80, 2000);
	check_text(tail, 1, false);
	memset(tail, 0xff, 2000);
	check_text(tail, 1, true);
}

TEST(invalid_text_is_kept_byte_by_byte)
{
	scene_play(play_invalid);
}

static void play_many_attrs(void)
{
	const tare_record *records;
	tare_view *view;
	char key[80];
	size_t n;

	scene_clock();
	scene_start(NULL);
	{
		TARE_OPERATION("attributes");
		for (int i = 0; i < 1000; i++) {
			(void)snprintf(key, sizeof(key), "key.%d", i);
			TARE_ATTR(key, i);
		}
		tare_attr_str(NULL, NULL);
		tare_attr_str("", "");
		tare_attr_double("nan", NAN);
		TARE_FAIL(NULL);
		scene_pass_ns(1000);
	}
	/* The next one has room again. */
	make_photo(1);
	view = scene_view();
	n = records_of(view, &records);
	if (CHECK_INT(n, 2)) {
		CHECK(records[0].truncated);
		CHECK(records[0].n_attrs >= 10);
		for (size_t i = 0; i < records[0].n_attrs; i++)
			CHECK_INT(records[0].attrs[i].i, i);
		check_photo(&records[1], 1);
	}
	tare_view_close(view);
}

TEST(attributes_beyond_the_room_are_left_out_and_marked)
{
	scene_play(play_many_attrs);
}

/* ---- the bound --------------------------------------------------------- */

static void check_newest(uint64_t n_wanted, int last)
{
	const tare_record *records;
	tare_view *view = scene_view();
	size_t n = records_of(view, &records);

	CHECK_INT(n, n_wanted);
	CHECK_INT(tare_view_health(view)->records, n_wanted);
	CHECK_INT(tare_view_health(view)->lost_records, 0);
	for (size_t i = 0; i < n; i++)
		if (!CHECK_INT(records[i].attrs[0].i,
			       last - (int)(n - 1 - i)))
			break;
	tare_view_close(view);
}

static void play_bound(void)
{
	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 100000; i++) {
		TARE_OPERATION("numbered");
		TARE_ATTR("n", i);
		scene_pass_ns(1000);
		if (i == 9000)
			check_newest(9000, 8999);
	}
	check_newest(10000, 99999);
	CHECK_INT(tare_option_set("max_history_size", "500"), 0);
	check_newest(500, 99999);
	CHECK_INT(tare_option_set("max_history_size", "5000"), 0);
	check_newest(5000, 99999);
	CHECK_INT(tare_option_set("max_history_size", "0"), 0);
	check_newest(0, 99999);
	for (int i = 0; i < 10; i++) {
		TARE_OPERATION("not kept");
		TARE_ATTR("n", i);
	}
	CHECK_INT(tare_option_set("max_history_size", "10"), 0);
	check_newest(10, 99999);
}

TEST(the_history_is_bounded_and_the_bound_may_change)
{
	scene_play(play_bound);
}

static void record_numbers(int from, int to)
{
	for (int i = from; i < to; i++) {
		TARE_OPERATION("numbered");
		TARE_ATTR("n", i);
		scene_pass_ns(1000);
	}
}

/* At the start, before the ring has come round, and after that. */
static void play_raised(void)
{
	scene_clock();
	scene_start(NULL);
	record_numbers(0, 5000);
	CHECK_INT(tare_option_set("max_history_size", "60000"), 0);
	record_numbers(5000, 100000);
	check_newest(60000, 99999);
}

static void play_raised_late(void)
{
	scene_clock();
	scene_start(NULL);
	record_numbers(0, 100000);
	CHECK_INT(tare_option_set("max_history_size", "60000"), 0);
	record_numbers(100000, 150000);
	check_newest(60000, 149999);
	record_numbers(150000, 500000);
	check_newest(60000, 499999);
}

TEST(a_raised_bound_is_kept)
{
	scene_play(play_raised);
	scene_play(play_raised_late);
}

static int add_text(void *arg, const char *text, size_t len)
{
	char *all = arg;

	(void)strncat(all, text, len < 65536 - strlen(all) ?
					 len : 65535 - strlen(all));
	return 0;
}

/* A place for eight times what ten need, and the least there is. */
static void play_small_start(void)
{
	static const char *const options[] = { "max_history_size", "10",
					       NULL };
	static char text[65536 + 1];
	tare_view *view;

	scene_clock();
	scene_start(options);
	CHECK_INT(tare_option_set("max_history_size", "60000"), 0);
	record_numbers(0, 20000);
	view = scene_view();
	CHECK(tare_view_health(view)->history_room >= 10);
	CHECK(tare_view_health(view)->history_room < 2000);
	CHECK_INT(tare_view_report(view, NULL, add_text, text), 0);
	CHECK(strstr(text, "set it before the program starts"));
	CHECK(!strstr(text, "ledger_limit"));
	tare_view_close(view);
}

static void play_no_room(void)
{
	static const char *const options[] = { "ledger_limit", "1M",
					       "max_history_size", "1000000",
					       NULL };
	static char text[65536 + 1];
	const tare_health *health;
	const tare_record *records;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(options);
	record_numbers(0, 200000);
	view = scene_view();
	n = records_of(view, &records);
	health = tare_view_health(view);
	CHECK(n >= 5000 && n < 20000);
	for (size_t i = 0; i < n; i++)
		if (!CHECK_INT(records[i].attrs[0].i, 200000 - n + i))
			break;
	CHECK_INT(health->lost_records, 0);
	CHECK(health->history_room > 0 && health->history_room < 10000);
	CHECK_INT(tare_view_report(view, NULL, add_text, text), 0);
	CHECK(strstr(text, "ledger_limit"));
	tare_view_close(view);
}

TEST(a_history_without_room_keeps_the_newest_and_says_what_limits_it)
{
	scene_play(play_small_start);
	scene_play(play_no_room);
}

static void *record_many(void *arg)
{
	int first = *(const int *)arg;

	for (int i = first; i < first + 2000; i++) {
		TARE_OPERATION("numbered");
		TARE_ATTR("n", i);
		scene_pass_ns(10);
	}
	return NULL;
}

/* Every record of every thread, once, with its own attributes. */
static void play_threads(void)
{
	static unsigned char seen[8000];
	const tare_record *records;
	pthread_t thread[4];
	int first[4];
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 4; i++) {
		first[i] = i * 2000;
		CHECK_INT(pthread_create(&thread[i], NULL, record_many,
					 &first[i]), 0);
	}
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	view = scene_view();
	n = records_of(view, &records);
	CHECK_INT(n, 8000);
	for (size_t i = 0; i < n; i++)
		if (CHECK(records[i].n_attrs == 1 &&
			  (uint64_t)records[i].attrs[0].i < 8000))
			seen[records[i].attrs[0].i]++;
	for (size_t i = 0; i < 8000; i++)
		if (!CHECK_INT(seen[i], 1))
			break;
	for (size_t i = 1; i < n; i++)
		if (!CHECK(records[i - 1].start_ns <= records[i].start_ns))
			break;
	tare_view_close(view);
}

TEST(records_of_several_threads_are_all_there_in_order)
{
	scene_play(play_threads);
}

/* ---- forms of an operation --------------------------------------------- */

static void play_forms(void)
{
	TARE_OPERATION_SITE_DEFINE(site, "by handle");
	const tare_record *records;
	tare_view *view;
	size_t n = 0;

	scene_start(NULL);
	{
		TARE_OPERATION_IN("db", "with a source");
	}
	tare_scope_end(tare_scope_begin(&site));
	view = scene_view();
	CHECK_INT(tare_view_records(view, NULL, &records, &n), 0);
	if (CHECK_INT(n, 2)) {
		CHECK_STR(records[0].name, "with a source");
		CHECK_STR(records[0].source, "db");
		CHECK_STR(records[1].name, "by handle");
	}
	tare_view_close(view);
}

TEST(operations_have_sources_and_handles)
{
	scene_play(play_forms);
}

/* ---- durations from elsewhere, in ns and back ---------------------------- */

/* By the clock of the machine: its ticks are no ns. */
static void play_as_given(void)
{
	static const uint64_t given[] = { 1, 7, 1000, 999999, 2500000,
					  123456789, 3600000000001 };
	const tare_record *records;
	tare_view *view;
	double tick_ns;
	size_t n;

	scene_start(NULL);
	for (size_t i = 0; i < 7; i++)
		TARE_DURATION("given", given[i]);
	CHECK_INT(tare_processing_record("given", 0.001, NULL, NULL, 0), 0);
	view = scene_view();
	tick_ns = tr_view_ns(view, 1);
	n = records_of(view, &records);
	CHECK_INT(n, 8);
	for (size_t i = 0, k; i < n; i++) {
		for (k = 0; k < 7; k++)
			if (fabs((double)records[i].duration_ns -
				 (double)given[k]) <= tick_ns / 2)
				break;
		CHECK(k < 7);
	}
	tare_view_close(view);
}

TEST(a_duration_comes_back_as_it_was_given)
{
	scene_play(play_as_given);
}

/* Longer than the clock has run, and than most clocks run. */
static void play_older_than_the_clock(void)
{
	const tare_stats *rows = NULL, *row;
	const tare_record *records;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(NULL);
	CHECK_INT(tare_processing_record("old", 1e12, NULL, NULL, 0), 0);
	scene_pass_ns(SECOND);
	CHECK_INT(tare_processing_record("old", 1, NULL, NULL, 0), 0);
	view = scene_view();
	n = records_of(view, &records);
	if (CHECK_INT(n, 2)) {
		CHECK_NEAR((double)records[0].duration_ns, 1e18, 1e3);
		CHECK_NEAR((double)(records[0].start_ns - scene_real_ns()),
			   -1e18 - 1e9, 1e3);
	}
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "old");
	if (CHECK(row)) {
		CHECK_INT(row->count, 2);
		CHECK_NEAR(row->min, 1e6, 1);
		CHECK_NEAR(row->max, 1e18, 1e3);
	}
	tare_view_close(view);
}

TEST(a_duration_may_be_older_than_the_clock)
{
	scene_play(play_older_than_the_clock);
}
