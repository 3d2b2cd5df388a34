/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: counts, times, throughput, lines in the log, leaks, the floor of
 * the history.
 */
#include "check.h"
#include "scene.h"
#include "record/step.h"
#include "record/system.h"
#include "read/view.h"

#include <tare/tare.h>

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS INT64_C(1000000)

/* ---- the program's log ------------------------------------------------- */

static struct {
	unsigned lines, warnings, infos, others;
	char last[512], warning[4][512];
} said;

static void hear(void *arg, enum tare_level level, const char *text)
{
	CHECK(arg == &said);
	if (level == TARE_LEVEL_PERFORMANCE) {
		said.lines++;
		(void)snprintf(said.last, sizeof(said.last), "%s", text);
	} else if (level == TARE_LEVEL_WARNING) {
		if (said.warnings < 4)
			(void)snprintf(said.warning[said.warnings],
				       sizeof(said.warning[0]), "%s", text);
		said.warnings++;
	} else if (level == TARE_LEVEL_INFO) {
		said.infos++;
	} else {
		said.others++;
	}
}

static const tare_stats *row_of(tare_view *view, const char *name)
{
	const tare_stats *rows, *row;
	size_t n = scene_rows(view, NULL, &rows);

	row = scene_row(rows, n, name);
	if (!CHECK(row))
		printf("# no series %s\n", name);
	return row;
}

/* ---- counts and times -------------------------------------------------- */

static void play_counts(void)
{
	const tare_stats *row;
	tare_view *view;

	scene_clock();
	scene_start(NULL);
	errno = 77;
	for (int i = 0; i < 100; i++) {
		scene_pass_ns(2 * MS);
		TARE_STEP_ITEMS(32);
	}
	CHECK_INT(errno, 77);
	view = scene_view();
	row = row_of(view, "steps");
	CHECK_INT(row->kind, TARE_KIND_COUNTER);
	CHECK_NEAR(row->total, 100, 0);
	row = row_of(view, "step");
	CHECK_INT(row->kind, TARE_KIND_SCOPE);
	CHECK_INT(row->count, 100);
	CHECK_INT(row->timed, 99);
	CHECK_INT(row->items, 3200);
	CHECK_NEAR(row->items_per_s, 16000, 1);
	CHECK_NEAR(row->mean, 2e6, 1);
	row = row_of(view, "step.throughput");
	CHECK_STR(row->unit, "items/s");
	CHECK_NEAR(row->last, 16000, 160);
	tare_view_close(view);
}

TEST(steps_are_counted_and_timed_from_end_to_end)
{
	scene_play(play_counts);
}

/* The first line, too: the first step has items and no time. */
static void play_first_line(void)
{
	tare_view *view;

	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 10; i++) {
		scene_pass_ns(2 * MS);
		TARE_STEP_ITEMS(32);
	}
	view = scene_view();
	CHECK_NEAR(row_of(view, "step.throughput")->last, 16000, 1);
	CHECK_NEAR(row_of(view, "step")->items_per_s, 16000, 1);
	tare_view_close(view);
}

TEST(items_of_the_first_step_make_no_rate)
{
	scene_play(play_first_line);
}

/* Their time is not taken off the scope they are in, nor added to it. */
static void play_overlap(void)
{
	const tare_stats *row;
	const tare_health *health;
	tare_view *view;

	scene_clock();
	scene_start(NULL);
	{
		TARE_SCOPE("train");

		for (int i = 0; i < 10; i++) {
			scene_pass_ns(MS);
			TARE_STEP();
		}
	}
	view = scene_view();
	row = row_of(view, "train");
	CHECK_NEAR(row->total, 10e6, 1);
	CHECK_NEAR(row->own, 10e6, 1);
	health = tare_view_health(view);
	CHECK_NEAR(health->measuring_share, health->measuring_ns / 10e6, 1e-9);
	tare_view_close(view);
}

TEST(steps_overlap_the_scopes_around_them)
{
	scene_play(play_overlap);
}

#define THREADS 4
#define STEPS_EACH 20000

static void *step_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < STEPS_EACH; i++)
		tare_step_done(3);
	return NULL;
}

static void play_threads(void)
{
	pthread_t thread[THREADS];
	tare_leak leaks[4];
	tare_view *view;

	tare_log_set(hear, &said);
	scene_start(NULL);
	for (int i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, step_often, NULL),
			  0);
	for (int i = 0; i < 20; i++)
		(void)tare_leak_check(leaks, 4);
	for (int i = 0; i < THREADS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	view = scene_view();
	CHECK_NEAR(row_of(view, "steps")->total, THREADS * STEPS_EACH, 0);
	CHECK_INT(row_of(view, "step")->count, THREADS * STEPS_EACH);
	CHECK_INT(row_of(view, "step")->timed, THREADS * STEPS_EACH - 1);
	CHECK_INT(row_of(view, "step")->items, 3 * THREADS * STEPS_EACH);
	CHECK(said.lines > 0);
	tare_view_close(view);
}

TEST(steps_of_several_threads_are_counted_exactly)
{
	scene_play(play_threads);
}

static void play_off(void)
{
	tare_leak leak;

	tare_step_done(1);
	CHECK_INT(tare_leak_check(&leak, 1), 0);
	scene_start(NULL);
	CHECK_INT(tare_leak_check(&leak, 1), 0);
	CHECK_INT(tare_enable(false), 0);
	tare_step_done(1);
	CHECK_INT(tare_leak_check(NULL, 0), 0);
}

TEST(steps_do_nothing_while_measuring_is_off)
{
	scene_play(play_off);
}

static void play_fork(void)
{
	const tare_stats *row;
	tare_view *view;
	int status = -1;
	pid_t child;

	tare_log_set(hear, &said);
	scene_start(NULL);
	for (int i = 0; i < 30; i++)
		TARE_STEP();
	CHECK_INT(said.lines, 3);
	child = fork();
	if (child == 0) {
		for (int i = 0; i < 12; i++)
			TARE_STEP();
		view = scene_view();
		row = row_of(view, "step");
		CHECK_INT(row ? row->count : 0, 12);
		CHECK_INT(row ? row->timed : 0, 11);
		CHECK_INT(said.lines, 4);
		CHECK(strncmp(said.last, "step 10", 7) == 0);
		tare_view_close(view);
		_exit(check_failures() > 0);
	}
	CHECK(waitpid(child, &status, 0) == child);
	CHECK_INT(status, 0);
}

TEST(child_counts_its_own_steps)
{
	if (!scene_fork_wipes())
		SKIP("a fork wipes nothing here");
	scene_play(play_fork);
}

/* ---- lines ------------------------------------------------------------- */

static double half_load(void)
{
	return 50;
}

static void play_lines(void)
{
	tare_log_set(hear, &said);
	tr_step_gpu_load = half_load;
	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 1250; i++) {
		scene_pass_ns(i % 10 ? MS : 11 * MS);
		TARE_STEP_ITEMS(100);
	}
	/* More than the library's own messages may be. */
	CHECK_INT(said.lines, 125);
	CHECK_INT(said.warnings + said.infos + said.others, 0);
	printf("# %s\n", said.last);
	CHECK(strstr(said.last, "step 1,250: 2 ms a step, p95 11 ms, "
				"50,000 items/s, rss ") == said.last);
	CHECK(strstr(said.last, "iB (+"));
	CHECK(strstr(said.last, ", gpu 50 %, tare "));
	CHECK_INT(tare_option_set("metrics_log_interval", "100"), 0);
	for (int i = 0; i < 250; i++)
		TARE_STEP();
	CHECK_INT(said.lines, 125 + 3);
}

TEST(every_so_many_steps_there_is_a_line_in_the_log)
{
	scene_play(play_lines);
}

/* Steps of a millisecond with 64 scopes each; the largest share told. */
static double most_told(int steps)
{
	double most = 0;

	for (int i = 0; i < steps; i++) {
		const char *told;

		for (int k = 0; k < 64; k++) {
			TARE_SCOPE("part");
		}
		scene_pass_ns(MS);
		TARE_STEP();
		told = strstr(said.last, "tare ");
		if (told && strtod(told + 5, NULL) > most)
			most = strtod(told + 5, NULL);
	}
	return most;
}

static void play_traced_lines(void)
{
	tare_trace_plan plan = { .struct_size = sizeof(plan), .warm_up = 2,
				 .record = 2, .repeat = 1,
				 .folder = scene_dir };

	tare_log_set(hear, &said);
	scene_clock();
	scene_start(NULL);
	/* What a scope costs, so that shares are known: 1 us of 1 ms / 64. */
	tr_ledger->header->inside_ticks = 500;
	tr_ledger->header->outside_ticks = 500;
	(void)most_told(1000);
	CHECK_INT(tare_trace_schedule(&plan), 0);
	CHECK_NEAR(most_told(100), 6.5, 3);
}

TEST(a_trace_does_not_change_what_measuring_is_said_to_take)
{
	scene_play(play_traced_lines);
}

static void play_seconds(void)
{
	static const char *const options[] = { "metrics_log_interval",
					       "1000000", "metrics_log_seconds",
					       "0.5", NULL };

	tare_log_set(hear, &said);
	scene_clock();
	scene_start(options);
	for (int i = 0; i < 100; i++) {
		scene_pass_ns(100 * MS);
		TARE_STEP();
	}
	CHECK_INT(said.lines, 20 - 1); /* the first step starts the time */
}

TEST(lines_may_go_by_seconds)
{
	scene_play(play_seconds);
}

/* What 20 steps write to stderr, or nothing. */
static size_t written_to_stderr(char *text, size_t size)
{
	char path[160];
	ssize_t n;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/stderr", scene_dir);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (!CHECK(fd >= 0) || !CHECK(dup2(fd, STDERR_FILENO) >= 0))
		return 0;
	for (int i = 0; i < 20; i++)
		TARE_STEP();
	n = pread(fd, text, size - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	(void)close(fd);
	return n > 0 ? (size_t)n : 0;
}

static void play_stderr(void)
{
	char text[4096];

	scene_start(NULL);
	CHECK_INT(written_to_stderr(text, sizeof(text)), 0);
	CHECK_INT(tare_option_set("metrics_log_stderr", "true"), 0);
	CHECK(written_to_stderr(text, sizeof(text)) > 0);
	CHECK(strstr(text, "tare: step 30: ") == text);
	CHECK(strstr(text, "\ntare: step 40: "));
}

TEST(lines_go_to_stderr_only_where_that_is_asked_for)
{
	scene_play(play_stderr);
}

static unsigned inner;

static void step_inside(void *arg, enum tare_level level, const char *text)
{
	tare_leak leak;

	(void)arg;
	(void)level;
	(void)text;
	inner++;
	TARE_STEP();
	CHECK_INT(tare_leak_check(&leak, 1), 0);
}

static void play_inside(void)
{
	tare_view *view;

	tare_log_set(step_inside, NULL);
	scene_start(NULL);
	for (int i = 0; i < 10; i++)
		TARE_STEP();
	CHECK_INT(inner, 1);
	view = scene_view();
	CHECK_NEAR(row_of(view, "steps")->total, 11, 0);
	tare_view_close(view);
}

/* It must not; it does not hang if it does. */
TEST(log_that_steps_itself_does_not_hang)
{
	scene_play(play_inside);
}

/* ---- leaks ------------------------------------------------------------- */

/*
 * At any price: the reader in use waits after a call that took long, and here
 * the clock stands still.
 */
static uint64_t heap_now(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* Does malloc() tell what it gave out? A sanitizer's does not. */
static bool heap_is_told(void)
{
	uint64_t before = heap_now(), after;
	char *volatile block = malloc(100000);

	tr_step_heap = heap_now;
	after = heap_now();
	free(block);
	return after >= before + 100000;
}

static void *kept[1000];

/* A clock that stands still has readings at every step. */
static void leak_steps(int n, size_t bytes)
{
	for (int i = 0; i < n; i++) {
		void **block = malloc(bytes);

		if (!CHECK(block))
			return;
		memset(block, 1, bytes);
		kept[i % 1000] = block;
		TARE_STEP();
	}
}

static bool heard(const char *words)
{
	for (unsigned i = 0; i < said.warnings && i < 4; i++)
		if (strstr(said.warning[i], words))
			return true;
	return false;
}

static void play_leak(void)
{
	tare_leak leaks[4];
	tare_view *view;
	size_t n;

	tare_log_set(hear, &said);
	scene_clock();
	scene_start(NULL);
	leak_steps(900, 65536);
	n = tare_leak_check(leaks, 4);
	CHECK_INT(n, 2);
	CHECK_STR(leaks[0].what, "rss");
	CHECK_STR(leaks[1].what, "heap");
	for (size_t i = 0; i < n && i < 2; i++) {
		CHECK(leaks[i].is_leak);
		CHECK_INT(leaks[i].samples, 900);
		CHECK_NEAR(leaks[i].growth, 65536, 4096);
	}
	CHECK_INT(said.warnings, 2); /* once a kind, over many looks */
	printf("# %s\n", said.warning[0]);
	CHECK(heard("memory grows by 65.6 kB a step (heap, 95 % between "));
	CHECK(heard(" a step (rss, "));
	view = scene_view();
	CHECK_NEAR(row_of(view, "leak.heap")->last, 65600, 600);
	CHECK_STR(row_of(view, "leak.heap")->unit, "B/step");
	CHECK_STR(row_of(view, "leak.heap")->source, "leak");
	CHECK_NEAR(row_of(view, "leak.rss")->last, 65536, 4096);
	tare_view_close(view);
}

TEST(leak_is_told_once_a_kind_and_kept_in_the_ledger)
{
	if (!heap_is_told())
		SKIP("the heap does not tell what is in use");
	scene_play(play_leak);
}

static void play_end(void)
{
	tare_leak leaks[4];
	tare_view *view;

	tare_log_set(hear, &said);
	scene_clock();
	scene_start(NULL);
	leak_steps(900, 65536);
	CHECK_INT(said.warnings, 2);
	for (int i = 0; i < 4000; i++)
		TARE_STEP();
	CHECK_INT(tare_leak_check(leaks, 4), 2);
	CHECK(!leaks[0].is_leak);
	CHECK(!leaks[1].is_leak);
	CHECK_INT(said.infos, said.warnings);
	view = scene_view();
	CHECK_NEAR(row_of(view, "leak.heap")->last, 0, 0);
	tare_view_close(view);
}

TEST(growth_that_ends_is_taken_back)
{
	if (!heap_is_told())
		SKIP("the heap does not tell what is in use");
	scene_play(play_end);
}

/* Of a run that ends early, and of what grew at its beginning alone. */
static void play_short(void)
{
	tare_log_set(hear, &said);
	scene_clock();
	scene_start(NULL);
	leak_steps(250, 65536);
	CHECK_INT(said.warnings, 0);
	for (int i = 0; i < 750; i++)
		TARE_STEP();
	CHECK_INT(said.warnings, 0);
}

TEST(warm_up_is_not_told_as_a_leak_while_it_lasts)
{
	if (!heap_is_told())
		SKIP("the heap does not tell what is in use");
	scene_play(play_short);
}

static void play_last(void)
{
	const tare_stats *rows, *row;
	tare_view *view = NULL;
	size_t n = 0;

	tare_log_set(hear, &said);
	scene_clock();
	scene_start(NULL);
	leak_steps(200, 65536);
	CHECK_INT(tare_stop(), 0);
	CHECK_INT(said.warnings, 0);
	if (!CHECK_INT(tare_view_open("last", &view), 0))
		return;
	CHECK_INT(tare_view_stats(view, NULL, &rows, &n), 0);
	row = scene_row(rows, n, "leak.heap");
	if (CHECK(row))
		CHECK_NEAR(row->last, 65600, 600);
	tare_view_close(view);
}

TEST(leak_of_a_short_run_is_in_its_ledger)
{
	if (!heap_is_told())
		SKIP("the heap does not tell what is in use");
	scene_play(play_last);
}

static void play_steady(void)
{
	const tare_stats *rows;
	tare_leak leaks[4];
	tare_view *view;
	size_t n;

	tare_log_set(hear, &said);
	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 1000; i++) {
		void *block = malloc(1000000);

		if (CHECK(block))
			memset(block, i, 1000000);
		free(block);
		TARE_STEP();
	}
	CHECK_INT(tare_leak_check(leaks, 4), 2);
	CHECK(!leaks[0].is_leak && !leaks[1].is_leak);
	CHECK_INT(said.warnings, 0);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	CHECK(!scene_row(rows, n, "leak.rss"));
	tare_view_close(view);
}

TEST(program_that_gives_back_what_it_takes_does_not_leak)
{
	if (!heap_is_told())
		SKIP("the heap does not tell what is in use");
	scene_play(play_steady);
}

/* An operation a step: its records fill the ledger, page after page. */
static void play_history(void)
{
	tare_leak leaks[4];

	tare_log_set(hear, &said);
	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 3000; i++) {
		TARE_OPERATION("op");
		TARE_ATTR("a long text for a record",
			  "that takes a good part of a page for itself: "
			  "a hundred and fifty of them are a page or two, and "
			  "three thousand some hundred kilobytes");
		TARE_STEP();
	}
	CHECK(tare_leak_check(leaks, 4) >= 1);
	CHECK(!leaks[0].is_leak);
	CHECK_INT(said.warnings, 0);
}

TEST(history_that_fills_is_no_leak)
{
	/* A sanitizer has pages of its own for those of the ledger. */
	if (!heap_is_told())
		SKIP("the heap does not tell what is in use");
	scene_play(play_history);
}

static size_t two_gpus(uint64_t *bytes, size_t size)
{
	static uint64_t used = UINT64_C(1) << 30;

	CHECK(size >= 2);
	used += 1 << 20;
	bytes[0] = UINT64_MAX; /* not known */
	bytes[1] = used;
	return 2;
}

static void play_gpu(void)
{
	tare_leak leaks[8];
	tare_view *view;
	size_t n;

	tr_step_gpu = two_gpus;
	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 700; i++)
		TARE_STEP();
	n = tare_leak_check(leaks, 8);
	if (!CHECK(n >= 2 && n <= 3)) /* with or without a heap */
		return;
	CHECK_STR(leaks[n - 1].what, "gpu1");
	CHECK(leaks[n - 1].is_leak);
	CHECK_NEAR(leaks[n - 1].growth, 1 << 20, 1);
	view = scene_view();
	CHECK_NEAR(row_of(view, "leak.gpu1")->last, 1 << 20, 1);
	tare_view_close(view);
}

TEST(memory_of_gpus_is_watched_where_it_is_known)
{
	scene_play(play_gpu);
}

static void play_unread(void)
{
	static const char *const options[] = { "collect_memory_basic", "false",
					       NULL };

	scene_clock();
	scene_start(options);
	leak_steps(500, 65536);
	CHECK_INT(tare_leak_check(NULL, 0), 0);
	tr_root = "/nowhere";
	CHECK_INT(tare_option_set("collect_memory_basic", "true"), 0);
	scene_pass_ns(2000 * MS);
	tare_log_set(hear, &said);
	leak_steps(10, 65536);
	CHECK_INT(tare_leak_check(NULL, 0), 1); /* the heap */
	CHECK(!strstr(said.last, "rss"));
}

TEST(memory_is_not_read_unless_wanted_and_not_known_without_proc)
{
	if (!heap_is_told())
		SKIP("the heap does not tell what is in use");
	scene_play(play_unread);
}

/* ---- history ----------------------------------------------------------- */

static void operation(int64_t ns, bool fails)
{
	TARE_OPERATION("op");
	TARE_ATTR("ns", ns);
	if (fails)
		TARE_FAIL("broken");
	scene_pass_ns(ns);
}

static size_t records_now(tare_view **view, const tare_record **records)
{
	size_t n = 0;

	*view = scene_view();
	CHECK_INT(tare_view_records(*view, NULL, records, &n), 0);
	return n;
}

static void play_floor(void)
{
	static const char *const options[] = { "history_floor", "1", NULL };
	const tare_record *records;
	tare_view *view;

	scene_clock();
	scene_start(options);
	for (int i = 0; i < 50; i++) {
		operation(MS - 1, false);
		operation(MS, false);
	}
	operation(10, true);
	if (CHECK_INT(records_now(&view, &records), 51)) {
		CHECK_INT(records[0].n_attrs, 1);
		CHECK_INT(records[0].attrs[0].i, MS);
	}
	CHECK_INT(row_of(view, "op")->count, 101);
	CHECK_INT(row_of(view, "op")->failures, 1);
	tare_view_close(view);
	CHECK_INT(tare_option_set("history_floor", "0"), 0);
	operation(10, false);
	CHECK_INT(records_now(&view, &records), 52);
	tare_view_close(view);
}

TEST(operations_below_the_floor_are_counted_and_not_kept)
{
	scene_play(play_floor);
}
