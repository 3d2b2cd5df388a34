/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Price: what timing a call costs, from trials in the program.
 */
#include "check.h"
#include "scene.h"

#include <tare/control.h>
#include <tare/probe.h>

#include <pthread.h>
#include <string.h>

#include "ledger/layout.h"
#include "record/price/price.h"
#include "read/view.h"

/* ---- from sums to a cost ----------------------------------------------- */

static void add_batches(struct tr_price_sums *sums, unsigned n, double ticks)
{
	sums->batches += n;
	sums->samples += (uint64_t)n * TR_PRICE_BATCH;
	sums->sum += n * ticks;
	sums->squares += n * ticks * ticks;
}

TEST(without_trials_there_is_no_cost)
{
	struct tr_price row = { .site = 7 };
	struct tr_price_figures f;

	CHECK(!tr_price_figures(&row, 30, &f));
}

TEST(in_dense_code_counting_costs_almost_what_a_second_count_costs)
{
	struct tr_price row = { .site = 7 };
	struct tr_price_figures f;

	add_batches(&row.timed, 10, 20);
	add_batches(&row.counted, 10, -10); /* twice: 30 more than once */
	CHECK(tr_price_figures(&row, 30, &f));
	CHECK(f.counted > 20 && f.counted <= 30);
	CHECK_NEAR(f.timed, 20 + f.counted, 1e-9);
	CHECK_NEAR(f.variance, 0, 1e-9);
}

TEST(in_code_that_waits_counting_is_almost_free)
{
	struct tr_price row = { .site = 7 };
	struct tr_price_figures f;

	add_batches(&row.timed, 10, 20);
	add_batches(&row.counted, 10, 14);
	CHECK(tr_price_figures(&row, 30, &f));
	CHECK(f.counted >= 0 && f.counted < 0.2);
	CHECK(f.timed >= 20 && f.timed < 20.2);
}

TEST(a_cost_is_never_negative)
{
	struct tr_price row = { .site = 7 };
	struct tr_price_figures f;

	add_batches(&row.timed, 10, -3);
	add_batches(&row.counted, 10, 2);
	CHECK(tr_price_figures(&row, 30, &f));
	CHECK_NEAR(f.counted, 0, 0);
	CHECK_NEAR(f.timed, 0, 0);
}

TEST(damaged_sums_have_no_cost)
{
	const double bad[] = { __builtin_nan(""), __builtin_inf(), 1e300 };
	struct tr_price_figures f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tr_price row = { .site = 7 };

		row.timed.batches = 5;
		row.timed.sum = bad[i];
		CHECK(!tr_price_figures(&row, 30, &f));
	}
}

/* ---- in a program ------------------------------------------------------ */

#define CALLS 3000000u

static uint64_t work(uint64_t x)
{
	TARE_SCOPE("price work");
	for (unsigned i = 0; i < 12; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static void *many_calls(void *arg)
{
	uint64_t x = 1;

	(void)arg;
	for (unsigned i = 0; i < CALLS; i++)
		x = work(x);
	return (void *)(uintptr_t)x;
}

static void check_row(tare_view *view, const char *name, uint64_t calls)
{
	const tare_stats *rows, *row;
	size_t n = scene_rows(view, NULL, &rows);

	row = scene_row(rows, n, name);
	CHECK(row != NULL);
	if (!row)
		return;
	CHECK_INT(row->count, calls);
	CHECK(!row->is_estimate);
	/* Some calls of trials that were cut short may come on top. */
	CHECK(row->timed <= calls && calls - row->timed <= calls / 50);
	/* The total counts the others as if they took as long. */
	CHECK_NEAR(row->total, row->mean * (double)calls, 0.02 * row->total);
	CHECK(row->net_total >= 0 && row->net_total <= row->total);
}

static void play_trials(void)
{
	static const char *const options[] = { "auto_disable_on_slow", "0",
					       NULL };
	const tare_health *health;
	tare_view *view;

	scene_start(options);
	(void)many_calls(NULL);
	view = scene_view();
	if (!view)
		return;
	check_row(view, "price work", CALLS);
	health = tare_view_health(view);
	CHECK(health->tried > 0 && health->tried <= CALLS / 50);
	CHECK_INT(health->repairs, 0);
	CHECK(health->measuring_low_ns <= health->measuring_ns &&
	      health->measuring_ns <= health->measuring_high_ns);
	CHECK(health->measuring_ns < 1e4 * CALLS);
	tare_view_close(view);
}

TEST(trials_leave_counts_exact_and_take_few_times)
{
	CHECK(scene_play(play_trials));
}

static void play_threads(void)
{
	static const char *const options[] = { "auto_disable_on_slow", "0",
					       NULL };
	pthread_t thread[3];
	tare_view *view;

	scene_start(options);
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, many_calls, NULL),
			  0);
	for (unsigned i = 0; i < 3; i++)
		(void)pthread_join(thread[i], NULL);
	view = scene_view();
	if (!view)
		return;
	check_row(view, "price work", 3 * (uint64_t)CALLS);
	tare_view_close(view);
}

TEST(threads_share_a_site_in_a_trial)
{
	CHECK(scene_play(play_threads));
}

static void operate(void)
{
	TARE_OPERATION("price operation");
	__asm__ volatile("" ::: "memory");
}

static void play_operations(void)
{
	static const char *const options[] = { "auto_disable_on_slow", "0",
					       NULL };
	const tare_stats *rows, *row;
	tare_view *view;
	size_t n;

	scene_start(options);
	for (unsigned i = 0; i < 300000; i++)
		operate();
	view = scene_view();
	if (!view)
		return;
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "price operation");
	CHECK(row && row->timed == 300000);
	CHECK_INT(tare_view_health(view)->tried, 0);
	tare_view_close(view);
}

TEST(operations_are_always_timed)
{
	CHECK(scene_play(play_operations));
}

static void play_traced(void)
{
	static const char *const options[] = { "auto_disable_on_slow", "0",
					       "trace", "1", NULL };
	tare_view *view;

	scene_start(options);
	(void)many_calls(NULL);
	view = scene_view();
	if (!view)
		return;
	CHECK_INT(tare_view_health(view)->tried, 0);
	tare_view_close(view);
}

TEST(traced_events_are_never_skipped)
{
	CHECK(scene_play(play_traced));
}
