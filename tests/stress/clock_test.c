/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks that step, stand still and run backwards; scopes of hours, and of
 * more ticks than 32 bits hold. No duration is negative or absurd, and what
 * the test adds up itself is what the view shows.
 */
#include "check.h"
#include "scene.h"
#include "scratch.h"

#include "ledger/write.h"
#include "read/view.h"

#include <tare/control.h>

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000000)
#define HOUR (3600 * SECOND)
#define YEAR (8766 * HOUR)

TARE_SCOPE_SITE_DEFINE(outer, "outer");
TARE_SCOPE_SITE_DEFINE(inner, "inner");

/* What one site should show. */
struct sums {
	uint64_t count, steps;
	double total, max;
};

static void add(struct sums *sums, int64_t start, int64_t end)
{
	int64_t duration = end - start;

	sums->count++;
	if (duration < 0 || duration > 10 * YEAR) {
		sums->steps++;
		duration = 0;
	}
	sums->total += (double)duration;
	sums->max = fmax(sums->max, (double)duration);
}

static void check_row(tare_view *view, const char *name,
		      const struct sums *sums)
{
	const tare_stats *rows = NULL, *row;
	size_t n = scene_rows(view, NULL, &rows);

	row = scene_row(rows, n, name);
	if (!CHECK(row))
		return;
	CHECK_INT(row->count, sums->count);
	CHECK_INT(row->timed, sums->count);
	CHECK_NEAR(row->total, sums->total, sums->total * 1e-9);
	CHECK_NEAR(row->max, sums->max, 1 + sums->max * 1e-12);
	CHECK(row->min >= 0 && row->own >= 0 && row->net_total >= 0);
	CHECK(row->own <= row->total * (1 + 1e-9) + 1);
	CHECK(row->p50 >= 0 && row->p999 <= row->max);
}

static void check_tree(tare_view *view)
{
	const tare_node *nodes = NULL;
	size_t n = 0;

	CHECK_INT(tare_view_tree(view, &nodes, &n), 0);
	for (size_t i = 0; i < n; i++) {
		CHECK(nodes[i].total_ns >= 0 && nodes[i].own_ns >= 0);
		CHECK(nodes[i].net_own_ns >= 0 && nodes[i].net_total_ns >= 0);
		CHECK(nodes[i].total_ns < (double)(100 * YEAR));
	}
}

/* ---- scripted steps ---------------------------------------------------- */

static int64_t one_step(struct dice *dice)
{
	uint64_t choice = dice_next(dice) % 10;
	double unit = dice_unit(dice) * 2 - 1;

	if (choice == 0)
		return 0; /* it stands still */
	if (choice == 1)
		return (int64_t)(unit * 1000); /* hardly */
	if (choice == 2)
		return unit < 0 ? -HOUR : HOUR;
	return (int64_t)(unit * (double)HOUR);
}

static void play_steps(void)
{
	struct dice dice = { 21 };
	struct sums outside = { 0 }, inside = { 0 };
	tare_view *view;

	scene_clock();
	/* Far from its zero: an hour back must be possible. */
	scene_pass_ns(1000 * HOUR);
	scene_start(NULL);
	for (int i = 0; i < 200; i++) {
		int64_t start = scene_monotonic_ns(), inner_start;
		tare_scope scope = tare_scope_begin(&outer), within;

		for (int k = 0; k < 3; k++) {
			inner_start = scene_monotonic_ns();
			within = tare_scope_begin(&inner);
			scene_step_monotonic_ns(one_step(&dice));
			scene_step_real_ns(one_step(&dice));
			tare_scope_end(within);
			add(&inside, inner_start, scene_monotonic_ns());
		}
		tare_scope_end(scope);
		add(&outside, start, scene_monotonic_ns());
	}
	CHECK(inside.steps > 100 && outside.steps > 50);
	view = scene_view();
	check_row(view, "outer", &outside);
	check_row(view, "inner", &inside);
	check_tree(view);
	CHECK_INT(tare_view_health(view)->clock_steps,
		  inside.steps + outside.steps);
	CHECK_INT(tare_view_health(view)->lost, 0);
	CHECK_INT(tare_view_health(view)->events, 800);
	tare_view_close(view);
	CHECK_INT(tare_stop(), 0);
}

TEST(two_hundred_steps_of_an_hour_make_no_negative_duration)
{
	scene_play(play_steps);
}

static void play_absurd(void)
{
	static const int64_t steps[] = { 9 * YEAR, 11 * YEAR, 100 * YEAR,
					 -50 * YEAR, 1, 0, -1 };
	struct sums sums = { 0 };
	tare_view *view;

	scene_clock();
	scene_pass_ns(60 * YEAR);
	scene_start(NULL);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		int64_t start = scene_monotonic_ns();
		tare_scope scope = tare_scope_begin(&outer);

		scene_step_monotonic_ns(steps[i]);
		tare_scope_end(scope);
		add(&sums, start, scene_monotonic_ns());
	}
	view = scene_view();
	check_row(view, "outer", &sums);
	CHECK_INT(tare_view_health(view)->clock_steps, 4);
	tare_view_close(view);
}

TEST(a_duration_of_more_than_ten_years_is_a_step)
{
	scene_play(play_absurd);
}

/* Values, gauges and operations while the clock runs backwards. */
static void play_backwards(void)
{
	tare_filter operations = { .struct_size = sizeof(operations),
				   .record_kinds =
					   1u << TARE_RECORD_OPERATION };
	const tare_record *records = NULL;
	const tare_stats *rows = NULL;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_pass_ns(1000 * HOUR);
	scene_start(NULL);
	for (int i = 0; i < 1000; i++) {
		TARE_OPERATION("operation");
		TARE_VALUE("value", "1", i);
		TARE_GAUGE("gauge", "1", i);
		TARE_COUNT("counter", 1);
		scene_pass_ns(-SECOND);
	}
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(rows[i].count, 1000);
	CHECK_INT(n, 4);
	CHECK_INT(tare_view_records(view, NULL, &records, &n), 0);
	CHECK_INT(n, 3000); /* with the values and the gauge's */
	CHECK_INT(tare_view_records(view, &operations, &records, &n), 0);
	CHECK_INT(n, 1000);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(records[i].duration_ns, 0);
	CHECK_INT(tare_view_health(view)->clock_steps, 1000);
	tare_view_close(view);
}

TEST(everything_is_counted_while_the_clock_runs_backwards)
{
	scene_play(play_backwards);
}

/* ---- threads ----------------------------------------------------------- */

static uint32_t done;

static void *record(void *arg)
{
	uint64_t *n = arg;

	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE)) {
		tare_scope scope = tare_scope_begin(&outer);

		tare_scope_end(tare_scope_begin(&inner));
		tare_scope_end(scope);
		(void)__atomic_fetch_add(n, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void play_threads(void)
{
	struct dice dice = { 22 };
	uint64_t n[3] = { 0 };
	const tare_stats *rows = NULL, *row;
	pthread_t thread[3];
	tare_view *view;
	size_t n_rows;

	scene_clock();
	scene_pass_ns(10000 * HOUR);
	scene_start(NULL);
	for (int i = 0; i < 3; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, record, &n[i]), 0);
	/* Until each has met many steps. */
	for (int i = 0; i < 3; i++)
		while (__atomic_load_n(&n[i], __ATOMIC_RELAXED) < 20000)
			scene_pass_ns(one_step(&dice));
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 3; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	view = scene_view();
	n_rows = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n_rows, "inner");
	if (CHECK(row)) {
		CHECK_INT(row->count, n[0] + n[1] + n[2]);
		CHECK_INT(row->timed, row->count);
		CHECK(row->min >= 0 && row->max < 1e6 * (double)HOUR);
	}
	check_tree(view);
	tare_view_close(view);
}

TEST(threads_measure_while_the_clock_steps)
{
	scene_play(play_threads);
}

/* ---- long scopes ------------------------------------------------------- */

static void play_hours(void)
{
	static const int64_t spans[] = { 5 * HOUR,	INT64_C(1) << 32,
					 (INT64_C(1) << 32) - 1,
					 (INT64_C(1) << 32) + 1, 400 * HOUR,
					 YEAR };
	struct sums sums = { 0 };
	tare_view *view;

	scene_clock();
	scene_start(NULL);
	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		int64_t start = scene_monotonic_ns();
		tare_scope scope = tare_scope_begin(&outer);

		/* The last one fails, in the long form of an entry. */
		scene_pass_ns(spans[i]);
		if (i == 5)
			tare_scope_fail(scope, "long");
		tare_scope_end(scope);
		add(&sums, start, scene_monotonic_ns());
		view = scene_view();
		check_row(view, "outer", &sums);
		tare_view_close(view);
	}
	view = scene_view();
	CHECK_INT(tare_view_health(view)->clock_steps, 0);
	tare_view_close(view);
}

TEST(a_scope_of_hours_is_measured_exactly)
{
	scene_play(play_hours);
}

static void sleep_ns(int64_t ns)
{
	struct timespec left = { ns / SECOND, ns % SECOND };

	while (nanosleep(&left, &left))
		;
}

/* Of the processor's counter: about 2 s are 2^32 ticks. */
static void play_long_ticks(void)
{
	const tare_stats *rows = NULL, *row;
	int64_t before, slept;
	double ticks;
	tare_view *view;
	size_t n;

	scene_start(NULL);
	ticks = tr_ledger->header->sec_per_tick * 4294967296.;
	before = tr_monotonic_ns();
	{
		TARE_SCOPE_SITE(&outer);
		sleep_ns((int64_t)(ticks * 1.05e9));
	}
	slept = tr_monotonic_ns() - before;
	tare_scope_end(tare_scope_begin(&inner));
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "outer");
	if (CHECK(row)) {
		CHECK_INT(row->count, 1);
		CHECK_NEAR(row->total, (double)slept,
			   (double)slept * .005 + 2e6);
		CHECK_NEAR(row->p50, (double)slept, (double)slept * .016);
	}
	CHECK_INT(tare_view_health(view)->clock_steps, 0);
	tare_view_close(view);
}

TEST(a_scope_of_more_than_32_bits_of_ticks_is_measured)
{
	if (!TR_HAS_COUNTER || !tr_counter_is_trusted())
		SKIP("no counter that the kernel trusts");
	if (tr_counter_hz() > 0 && tr_counter_hz() < 1e9)
		SKIP("the counter is slow: that would take minutes");
	scene_play(play_long_ticks);
}
