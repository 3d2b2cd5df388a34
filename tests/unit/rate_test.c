/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows at a high rate: ten million events in a minute have the statistics
 * of the exact computation, quantiles within 1.1 %.
 *
 * Event i ends 6 us after the one before, so its time need not be kept; its
 * duration is one of 2^22 values, so exact quantiles are counted, not sorted.
 */
#include "check.h"
#include "scene.h"
#include "read/view.h"

#include <tare/probe.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define SECOND INT64_C(1000000000)
#define STEP INT64_C(6000)
#define BEFORE 2000000u /* 12 s, much slower ones */
#define EVENTS 10000000u /* 60 s */
#define MOST (1u << 22)

static uint32_t *spans;
static uint32_t *counted; /* by duration */

static void make_events(struct dice *dice)
{
	for (uint32_t i = 0; i < BEFORE + EVENTS; i++) {
		double ns = exp(7 + 1.2 * dice_normal(dice));

		if (i < BEFORE)
			ns *= 100;
		spans[i] = ns < MOST - 1 ? (uint32_t)ns : MOST - 1;
		scene_pass_ns(STEP);
		if (i % 10 == 3)
			TARE_DURATION_FAILED("event", spans[i], "text");
		else
			TARE_DURATION("event", spans[i]);
	}
}

struct exact {
	uint64_t count, failures;
	double total;
	uint32_t min, max;
};

/* Of the events that ended in [from, to), in ns after the first step. */
static struct exact compute(int64_t from_ns, int64_t to_ns)
{
	struct exact e = { .min = UINT32_MAX };

	for (uint32_t i = 0; i < BEFORE + EVENTS; i++) {
		int64_t end_ns = (int64_t)(i + 1) * STEP;

		if (end_ns < from_ns || end_ns >= to_ns)
			continue;
		e.count++;
		e.failures += i % 10 == 3;
		e.total += spans[i];
		if (spans[i] < e.min)
			e.min = spans[i];
		if (spans[i] > e.max)
			e.max = spans[i];
		counted[spans[i]]++;
	}
	return e;
}

static double exact_quantile(double q, uint64_t n)
{
	uint64_t rank = (uint64_t)ceil(q * (double)n), seen = 0;

	for (uint32_t ns = 0; ns < MOST; ns++) {
		seen += counted[ns];
		if (seen >= rank && seen)
			return ns;
	}
	return NAN;
}

static void check_quantile(double is, double q, uint64_t n)
{
	double wanted = exact_quantile(q, n);

	/* Half a nanosecond: durations are whole ones. */
	if (!CHECK(fabs(is - wanted) <= 0.011 * wanted + 0.5))
		printf("# q %g: %g, exactly %g\n", q, is, wanted);
}

static void check_row(const tare_stats *row, const struct exact *e)
{
	CHECK_INT(row->count, e->count);
	CHECK_INT(row->timed, e->count);
	CHECK_INT(row->failures, e->failures);
	CHECK_NEAR(row->total / e->total, 1, 1e-12);
	CHECK_NEAR(row->mean * (double)e->count / e->total, 1, 1e-12);
	CHECK_NEAR(row->min, e->min, 1e-6);
	CHECK_NEAR(row->max, e->max, 1e-6);
	CHECK_NEAR(row->success_rate,
		   1 - (double)e->failures / (double)e->count, 1e-12);
	check_quantile(row->p50, 0.5, e->count);
	check_quantile(row->p90, 0.9, e->count);
	check_quantile(row->p95, 0.95, e->count);
	check_quantile(row->p99, 0.99, e->count);
	check_quantile(row->p999, 0.999, e->count);
}

static void play_minute(void)
{
	struct dice dice = { 7 };
	tare_filter f = { .struct_size = sizeof(f) };
	const tare_window *window;
	const tare_stats *rows;
	struct exact e;
	int64_t start;
	tare_view *view;

	spans = calloc(BEFORE + EVENTS, sizeof(*spans));
	counted = calloc(MOST, sizeof(*counted));
	if (!CHECK(spans && counted))
		return;
	scene_clock();
	scene_start(NULL);
	start = scene_real_ns();
	make_events(&dice);
	view = scene_view();
	f.from_ns = scene_real_ns() - 60 * SECOND + 1;
	if (CHECK_INT(scene_rows(view, &f, &rows), 1)) {
		window = tare_view_window(view);
		/* At most a slice (2.1 s) of what was before. */
		CHECK(window->from_ns <= f.from_ns &&
		      window->from_ns > f.from_ns - 3 * SECOND);
		e = compute(window->from_ns - start, INT64_MAX);
		CHECK(e.count >= EVENTS);
		check_row(rows, &e);
	}
	tare_view_close(view);
	free(spans);
	free(counted);
}

TEST(ten_million_events_in_a_minute_have_exact_statistics)
{
	scene_play(play_minute);
}
