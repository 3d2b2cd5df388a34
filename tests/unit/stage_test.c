/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages: records, own time and that of others, order, bottleneck. The clock
 * is the test's, so times are exact; stage_time_test.c has real ones.
 */
#define TARE_PIPELINE "test"

#include "check.h"
#include "scene.h"
#include "read/view.h"

#include <tare/read/pipeline.h>
#include <tare/tare.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define MS 1000000LL

static void start(void)
{
	scene_clock();
	scene_start(NULL);
	scene_pass_ns(MS);
}

static const tare_pipeline *lines_of(tare_view *view, size_t wanted)
{
	const tare_pipeline *lines = NULL;
	size_t n = 0;

	CHECK_INT(tare_view_pipelines(view, 2, &lines, &n), 0);
	return CHECK_INT(n, wanted) ? lines : NULL;
}

static const tare_stage_stats *stage_of(const tare_pipeline *line,
					const char *name)
{
	for (size_t i = 0; line && i < line->n_stages; i++)
		if (strcmp(line->stages[i].name, name) == 0)
			return &line->stages[i];
	printf("# no stage %s\n", name);
	CHECK(false);
	return NULL;
}

/* Of a program with one pipeline. The view is to be closed. */
static const tare_pipeline *see_line(tare_view **ret_view)
{
	*ret_view = scene_view();
	return lines_of(*ret_view, 1);
}

static const tare_stage_stats *see_stage(tare_view **ret_view,
					 const char *name)
{
	return stage_of(see_line(ret_view), name);
}

static void check_records(const tare_stage_stats *s, uint64_t in, uint64_t out)
{
	if (!s)
		return;
	CHECK_INT(s->in, in);
	CHECK_INT(s->out, out);
	CHECK_INT(s->dropped, in > out ? in - out : 0);
	if (in)
		CHECK_NEAR(s->passed, (double)out / (double)in, 1e-12);
}

static void check_times(const tare_stage_stats *s, double own_ms,
			double up_ms, double down_ms)
{
	if (!s)
		return;
	CHECK_NEAR(s->own_ns, own_ms * 1e6, 1000);
	CHECK_NEAR(s->upstream_ns, up_ms * 1e6, 1000);
	CHECK_NEAR(s->downstream_ns, down_ms * 1e6, 1000);
}

/* ---- push -------------------------------------------------------------- */

static void sum_up(int value)
{
	TARE_STAGE("sum");
	scene_pass_ns(3 * MS);
	(void)value;
}

static void keep_even(int value)
{
	TARE_STAGE("filter");
	{
		TARE_SCOPE("a scope inside is the stage's own time");
		scene_pass_ns(MS);
	}
	if (value % 2)
		return;
	sum_up(value);
}

static void parse(int value)
{
	TARE_STAGE_FUNCTION();
	scene_pass_ns(2 * MS);
	keep_even(value);
}

static void parse_numbers(int n)
{
	for (int i = 0; i < n; i++)
		parse(i);
}

static void play_push(void)
{
	const tare_pipeline *line;
	tare_view *view;

	start();
	parse_numbers(10);
	line = see_line(&view);
	if (!line || !CHECK_INT(line->n_stages, 3))
		return;
	CHECK_STR(line->name, "test");
	CHECK_STR(line->stages[0].name, "parse");
	CHECK_STR(line->stages[1].name, "filter");
	CHECK_STR(line->stages[2].name, "sum");
	check_records(&line->stages[0], 10, 10);
	check_records(&line->stages[1], 10, 5);
	check_records(&line->stages[2], 5, 5);
	check_times(&line->stages[0], 20, 0, 25);
	check_times(&line->stages[1], 10, 0, 15);
	check_times(&line->stages[2], 15, 0, 0);
	CHECK_NEAR(line->stages[0].total_ns, 45e6, 1000);
	CHECK_NEAR(line->stages[2].throughput_rps, 5 / 15e-3, 0.1);
	CHECK_INT(line->in, 10);
	CHECK_INT(line->out, 5);
	CHECK_INT(line->threads, 1);
	CHECK_NEAR(line->own_ns, 45e6, 1000);
	CHECK_NEAR(line->wall_ns, 45e6, 1000);
	CHECK_NEAR(line->throughput_rps, 5 / 45e-3, 0.1);
	tare_view_close(view);
}

TEST(a_push_pipeline_needs_one_macro_a_stage)
{
	scene_play(play_push);
}

static void play_amdahl(void)
{
	const tare_pipeline *line;
	const tare_stage_stats *s;
	tare_view *view;

	start();
	parse_numbers(10);
	line = see_line(&view);
	if (!line)
		return;
	/* Of 45 ms: 20 in parse, 10 in filter, 15 in sum. */
	CHECK_INT(line->bottleneck, 0);
	s = stage_of(line, "parse");
	CHECK(s->is_bottleneck);
	CHECK_NEAR(s->share, 20 / 45.0, 1e-4);
	CHECK_NEAR(s->gain, 45.0 / 35 - 1, 1e-4);
	CHECK_NEAR(s->gain_most, 45.0 / 25 - 1, 1e-4);
	s = stage_of(line, "sum");
	CHECK(!s->is_bottleneck);
	CHECK_NEAR(s->gain, 45.0 / 37.5 - 1, 1e-4);
	CHECK_INT(tare_view_pipelines(view, 4, &line, &(size_t){ 0 }), 0);
	CHECK_NEAR(line->stages[0].gain, 45.0 / 30 - 1, 1e-4);
	CHECK_INT(tare_view_pipelines(view, NAN, &line, &(size_t){ 0 }),
		  TARE_EINVAL);
	tare_view_close(view);
}

TEST(the_gain_in_one_thread_is_amdahls)
{
	scene_play(play_amdahl);
}

static void slow_down(void)
{
	TARE_STAGE("slow");
	scene_pass_ns(149 * MS);
}

static int keep_text(void *arg, const char *text, size_t len)
{
	(void)snprintf(arg, 4096, "%.*s", (int)len, text);
	return 0;
}

static void play_gain_texts(void)
{
	tare_report_options how = { .struct_size = sizeof(how),
				    .parts = TARE_REPORT_STAGES, .factor = 2 };
	char text[4096] = "";
	tare_view *view;

	start();
	{
		TARE_STAGE("fast");
		scene_pass_ns(MS);
		slow_down();
	}
	view = scene_view();
	CHECK_INT(tare_view_report(view, &how, keep_text, text), 0);
	if (!CHECK(strstr(text, "2 times as fast it gives 98.7 % more "
			  "records/s (49.7 % less time)")) ||
	    !CHECK(strstr(text, "at most 150 x the records/s (99.3 % less "
			  "time)")))
		printf("# %s\n", text);
	tare_view_close(view);
}

TEST(a_gain_is_told_in_percents_or_as_a_factor)
{
	scene_play(play_gain_texts);
}

/* A stage says itself what goes out, whatever the next one takes. */
static void split(int parts)
{
	TARE_STAGE("split");
	TARE_STAGE_OUT((uint64_t)parts);
	for (int i = 0; i < parts; i++)
		sum_up(i);
}

static bool is_small(int value)
{
	TARE_STAGE("small");
	return TARE_STAGE_PASS(value < 3);
}

static void play_said(void)
{
	const tare_pipeline *line;
	tare_view *view;
	int small = 0;

	start();
	for (int i = 0; i < 4; i++)
		split(3);
	for (int i = 0; i < 10; i++)
		small += is_small(i);
	CHECK_INT(small, 3);
	line = see_line(&view);
	check_records(stage_of(line, "split"), 4, 12);
	check_records(stage_of(line, "sum"), 12, 10);
	check_records(stage_of(line, "small"), 10, 3);
	tare_view_close(view);
}

TEST(a_stage_may_say_what_goes_out)
{
	scene_play(play_said);
}

static void play_batch(void)
{
	const tare_stage_stats *s;
	tare_view *view;

	start();
	for (int i = 0; i < 5; i++) {
		TARE_STAGE_BATCH("batch", 100);
		scene_pass_ns(MS);
		TARE_STAGE_IN(1);
		for (int k = 0; k < 60; k++)
			TARE_STAGE_OUT(1);
	}
	s = see_stage(&view, "batch");
	check_records(s, 505, 300);
	CHECK_INT(s->calls, 5);
	CHECK_NEAR(s->own_per_record, 5e6 / 300, 10);
	tare_view_close(view);
}

TEST(a_call_may_be_a_batch)
{
	scene_play(play_batch);
}

static void waits(void)
{
	TARE_STAGE("waits");
	scene_pass_ns(MS);
	TARE_STAGE_WAIT("waits.room");
	scene_pass_ns(4 * MS);
}

static void play_wait(void)
{
	const tare_stage_stats *s;
	tare_view *view;

	start();
	for (int i = 0; i < 3; i++)
		waits();
	s = see_stage(&view, "waits");
	CHECK_NEAR(s->own_ns, 3e6, 1000);
	CHECK_NEAR(s->waiting_ns, 12e6, 1000);
	CHECK_NEAR(s->total_ns, 15e6, 1000);
	tare_view_close(view);
}

TEST(waiting_is_no_own_time)
{
	scene_play(play_wait);
}

static void fails(int i)
{
	TARE_STAGE("fails");
	scene_pass_ns(MS);
	if (i % 4 == 0)
		TARE_FAIL("a fourth");
}

static void play_failures(void)
{
	const tare_stage_stats *s;
	tare_view *view;

	start();
	for (int i = 0; i < 12; i++)
		fails(i);
	s = see_stage(&view, "fails");
	CHECK_INT(s->failures, 3);
	check_records(s, 12, 9);
	tare_view_close(view);
}

TEST(records_that_fail_at_the_end_do_not_come_out)
{
	scene_play(play_failures);
}

/* ---- pull -------------------------------------------------------------- */

struct numbers {
	int next, most;
};

static bool generate(void *self, void *record)
{
	struct numbers *numbers = self;

	scene_pass_ns(MS);
	*(int *)record = numbers->next;
	return numbers->next++ < numbers->most;
}

/* Every third number, of a source that it does not know. */
struct thirds {
	tare_stage_fn next;
	void *source;
};

static bool thirds(void *self, void *record)
{
	struct thirds *it = self;

	while (it->next(it->source, record)) {
		scene_pass_ns(2 * MS);
		if (*(int *)record % 3 == 0)
			return true;
	}
	return false;
}

static void pull_all(void)
{
	struct numbers numbers = { 0, 30 };
	struct thirds third = { .next = tare_stage_next };
	tare_stage source, filter;
	int record, n = 0;

	TARE_STAGE_WRAP_NEXT(&source, generate, &numbers);
	third.source = &source;
	TARE_STAGE_WRAP_NEXT(&filter, thirds, &third);
	while (tare_stage_next(&filter, &record)) {
		scene_pass_ns(5 * MS);
		CHECK_INT(record % 3, 0);
		n++;
	}
	CHECK_INT(n, 10);
}

static void play_pull(void)
{
	const tare_stage_stats *s;
	const tare_pipeline *line;
	tare_view *view;

	start();
	pull_all();
	line = see_line(&view);
	if (!line || !CHECK_INT(line->n_stages, 2))
		return;
	s = &line->stages[0];
	CHECK_STR(s->name, "generate");
	CHECK(s->is_pull && s->is_source);
	check_records(s, 0, 30);
	CHECK_NEAR(s->own_ns, 31e6, 1000); /* 30 numbers, and the end */
	CHECK_NEAR(s->upstream_ns, 0, 1000);
	/* From each of 30 to the next question: 2 ms, and 5 for ten. */
	CHECK_INT(s->downstream.n, 30);
	CHECK_NEAR(s->downstream_ns, 60e6 + 50e6, 2e6);
	CHECK_NEAR(s->downstream.mean, s->downstream_ns / 30, 1e5);
	CHECK_NEAR(s->total_ns, s->own_ns + s->downstream_ns, 1000);
	CHECK_NEAR(s->throughput_rps, 30 / (s->total_ns * 1e-9), 0.01);
	s = &line->stages[1];
	CHECK_STR(s->name, "thirds");
	CHECK(!s->is_source);
	check_records(s, 30, 10);
	CHECK_NEAR(s->own_ns, 60e6, 1000);
	CHECK_NEAR(s->upstream_ns, 31e6, 1000);
	CHECK_INT(s->downstream.n, 10);
	CHECK_NEAR(s->downstream_ns, 50e6, 1e6);
	CHECK(s->is_bottleneck);
	CHECK_INT(line->out, 10);
	CHECK_INT(line->in, 30);
	tare_view_close(view);
}

TEST(a_pull_pipeline_tells_before_from_behind)
{
	scene_play(play_pull);
}

static bool macro_source(int *record)
{
	static int n;

	TARE_STAGE_PULL("macro.source");
	scene_pass_ns(MS);
	*record = n++;
	return TARE_STAGE_PASS(n <= 6);
}

static bool macro_odd(int *record)
{
	TARE_STAGE_PULL("macro.odd");

	while (macro_source(record)) {
		scene_pass_ns(MS);
		if (*record % 2)
			return TARE_STAGE_PASS(true);
	}
	return false;
}

static void play_macros(void)
{
	const tare_pipeline *line;
	tare_view *view;
	int record, n = 0;

	start();
	while (macro_odd(&record))
		n++;
	CHECK_INT(n, 3);
	line = see_line(&view);
	if (!line)
		return;
	CHECK_STR(line->stages[0].name, "macro.source");
	check_records(&line->stages[0], 0, 6);
	check_records(&line->stages[1], 6, 3);
	check_times(&line->stages[1], 6, 7, 0);
	tare_view_close(view);
}

TEST(pull_stages_may_be_macros)
{
	scene_play(play_macros);
}

/* ---- wrapped callbacks ------------------------------------------------- */

static bool store(void *self, void *record)
{
	(void)record;
	scene_pass_ns(2 * MS);
	return ++*(int *)self % 2;
}

static void play_wrapped(void)
{
	const tare_stats *rows;
	const tare_stage_stats *s;
	tare_stage stage;
	tare_view *view;
	int n = 0;
	size_t n_rows;

	start();
	TARE_STAGE_WRAP(&stage, store, &n);
	for (int i = 0; i < 8; i++)
		CHECK_INT(tare_stage_push(&stage, NULL), i % 2 == 0);
	s = see_stage(&view, "store");
	check_records(s, 8, 4);
	CHECK_NEAR(s->own_ns, 16e6, 1000);
	/* Its series are there for everybody. */
	n_rows = scene_rows(view, NULL, &rows);
	CHECK_INT(scene_row(rows, n_rows, "store")->count, 8);
	tare_view_close(view);
}

TEST(a_wrapped_callback_keeps_its_name_and_its_result)
{
	scene_play(play_wrapped);
}

static void play_off(void)
{
	struct numbers numbers = { 0, 3 };
	tare_stage stage, source;
	tare_queue queue;
	tare_ticket ticket;
	int n = 0, record;

	TARE_STAGE_WRAP(&stage, store, &n);
	TARE_STAGE_WRAP_NEXT(&source, generate, &numbers);
	tare_queue_init(&queue, NULL, "store");
	CHECK(tare_stage_push(&stage, NULL));
	CHECK(tare_stage_next(&source, &record));
	tare_queue_enter(&queue, &ticket);
	tare_queue_leave(&queue, &ticket);
	parse(1);
	CHECK_INT(n, 1);
}

TEST(stages_work_while_measuring_is_off)
{
	scene_play(play_off);
}

/* ---- threads and queues ------------------------------------------------ */

static void work_a(void)
{
	TARE_STAGE("a");
	scene_pass_ns(2 * MS);
	TARE_STAGE_OUT(1);
}

static void work_b(void)
{
	TARE_STAGE("b");
	scene_pass_ns(6 * MS);
}

#define RECORDS 20
static tare_queue between;
static tare_ticket tickets[RECORDS];

static void *thread_b(void *arg)
{
	(void)arg;
	for (int i = 0; i < RECORDS; i++) {
		tare_queue_leave(&between, &tickets[i]);
		work_b();
	}
	return NULL;
}

static void play_threads(void)
{
	const tare_stage_stats *a, *b;
	const tare_pipeline *line;
	tare_view *view;
	pthread_t thread;

	start();
	tare_queue_init(&between, "test", "b");
	for (int i = 0; i < RECORDS; i++) {
		work_a();
		tare_queue_enter(&between, &tickets[i]);
	}
	CHECK_INT(pthread_create(&thread, NULL, thread_b, NULL), 0);
	CHECK_INT(pthread_join(thread, NULL), 0);
	line = see_line(&view);
	a = stage_of(line, "a");
	b = stage_of(line, "b");
	if (!a || !b)
		return;
	check_records(a, RECORDS, RECORDS);
	check_records(b, RECORDS, RECORDS);
	CHECK_INT(line->threads, 2);
	CHECK_INT(line->bottleneck, 1);
	CHECK(b->is_bottleneck);
	/* The next busy thread limits what a faster one can give. */
	CHECK_NEAR(b->gain, 120.0 / 60 - 1, 1e-3);
	CHECK_NEAR(b->gain_most, 120.0 / 40 - 1, 1e-3);
	CHECK_NEAR(a->gain, 0, 1e-9);
	CHECK_NEAR(a->gain_most, 0, 1e-9);
	/* Record i waits for the rest of a, and then for i of b. */
	CHECK_INT(b->queue.n, RECORDS);
	CHECK_NEAR(b->queue.mean, (2e6 + 6e6) * (RECORDS - 1) / 2, 2e5);
	CHECK_NEAR(b->queue.max, 6e6 * (RECORDS - 1), 2e5);
	CHECK_NEAR(b->depth_max, RECORDS - 1, 0.3);
	CHECK_NEAR(b->depth_now, 0, 1e-9);
	CHECK_NEAR(b->depth_mean, (RECORDS - 1) / 2.0, 0.3);
	CHECK_INT(a->queue.n, 0);
	/* One after the other here: 160 ms, of which b worked 120. */
	CHECK_NEAR(b->busy, 120.0 / 160, 1e-3);
	tare_view_close(view);
}

TEST(the_busiest_thread_holds_a_pipeline_up)
{
	scene_play(play_threads);
}

/* ---- bounds and edges -------------------------------------------------- */

static void play_recent(void)
{
	const tare_stage_stats *s;
	tare_view *view;

	start();
	for (int i = 0; i < 300; i++) {
		TARE_STAGE("recent");
		scene_pass_ns(i < 150 ? 10 * MS : MS);
	}
	s = see_stage(&view, "recent");
	CHECK_INT(s->latency.n, 300);
	CHECK_INT(s->recent.n, 100);
	CHECK_NEAR(s->latency.mean, 5.5e6, 1e4);
	CHECK_NEAR(s->recent.mean, 1e6, 1e4);
	CHECK_NEAR(s->recent.max, 1e6, 2e4);
	CHECK_NEAR(s->latency.p99, 10e6, 2e5);
	tare_view_close(view);
}

TEST(the_last_hundred_are_kept_and_no_more)
{
	scene_play(play_recent);
}

static void play_empty(void)
{
	const tare_pipeline *line;
	const tare_stage_stats *s;
	tare_view *view;

	start();
	{
		TARE_SCOPE("no stage");
	}
	view = scene_view();
	(void)lines_of(view, 0);
	tare_view_close(view);
	{
		TARE_STAGE("under way");
		scene_pass_ns(MS);
		view = scene_view();
	}
	line = lines_of(view, 1);
	s = stage_of(line, "under way");
	CHECK_INT(s->in, 1);
	CHECK_INT(s->calls, 0);
	CHECK_NEAR(s->own_ns, 1e6, 1000);
	CHECK_NEAR(line->wall_ns, 1e6, 1000);
	tare_view_close(view);
}

TEST(nothing_is_no_pipeline_and_one_under_way_is)
{
	scene_play(play_empty);
}

static void play_nothing_out(void)
{
	const tare_stage_stats *s;
	tare_view *view;

	start();
	for (int i = 0; i < 3; i++) {
		TARE_STAGE("drops");
		scene_pass_ns(MS);
		TARE_FAIL("always");
	}
	s = see_stage(&view, "drops");
	check_records(s, 3, 0);
	CHECK_NEAR(s->throughput_rps, 0, 0);
	CHECK_NEAR(s->own_per_record, 1e6, 1000);
	tare_view_close(view);
}

TEST(the_throughput_of_nothing_is_0)
{
	scene_play(play_nothing_out);
}

static void play_clear(void)
{
	const tare_pipeline *line;
	tare_view *view;

	start();
	parse_numbers(10);
	CHECK_INT(tare_clear(), 0);
	scene_pass_ns(MS);
	parse_numbers(4);
	line = see_line(&view);
	if (!line)
		return;
	check_records(&line->stages[0], 4, 4);
	check_records(&line->stages[1], 4, 2);
	check_times(&line->stages[0], 8, 0, 10);
	CHECK_INT(line->stages[0].recent.n, 4);
	CHECK_NEAR(line->wall_ns, 19e6, 2000);
	tare_view_close(view);
}

TEST(a_clear_starts_a_pipeline_anew)
{
	scene_play(play_clear);
}

static void play_two(void)
{
	const tare_pipeline *lines;
	tare_stage one, other;
	tare_view *view;
	int a = 0, b = 0;

	start();
	tare_stage_wrap(&one, "orders", "store", store, &a);
	tare_stage_wrap(&other, "mails", "store", store, &b);
	for (int i = 0; i < 6; i++) {
		(void)tare_stage_push(&one, NULL);
		if (i < 2)
			(void)tare_stage_push(&other, NULL);
	}
	view = scene_view();
	lines = lines_of(view, 2);
	if (!lines)
		return;
	CHECK_STR(lines[0].name, "orders");
	CHECK_STR(lines[1].name, "mails");
	check_records(stage_of(&lines[0], "store"), 6, 3);
	check_records(stage_of(&lines[1], "store"), 2, 1);
	tare_view_close(view);
}

TEST(pipelines_are_told_apart_by_name)
{
	scene_play(play_two);
}
