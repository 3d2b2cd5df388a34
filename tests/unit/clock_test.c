/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clocks: anchors, conversions between ticks and wall time, and the
 * processor's counter against the kernel's clock.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"
#include "read/view.h"

#include <tare/control.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

/* ---- replaced clock ---------------------------------------------------- */

static int64_t fixed(int64_t *ret_real)
{
	*ret_real = 222;
	return 111;
}

TEST(a_replaced_clock_is_what_everybody_reads)
{
	tr_clock_replace(fixed);
	CHECK(tr_clock_is_fake());
	CHECK_INT(tr_monotonic_ns(), 111);
	CHECK_INT(tr_realtime_ns(), 222);
	CHECK(!tr_counter_is_trusted());
	tr_clock_replace(NULL);
	CHECK(!tr_clock_is_fake());
	CHECK(tr_monotonic_ns() > 111);
	CHECK(tr_realtime_ns() > INT64_C(1600000000) * SECOND);
}

/* ---- conversions ------------------------------------------------------- */

static struct tr_header header;

static struct tr_image image = { .base = (const char *)&header,
				 .size = sizeof(header) };

static void start_at(uint64_t ticks, int64_t real, double sec_per_tick)
{
	memset(&header, 0, sizeof(header));
	header.sec_per_tick = sec_per_tick;
	header.start = (struct tr_anchor){ ticks, 1000, real, 0 };
	header.clock = TR_CLOCK_KIND_TSC;
}

static void anchor_at(uint64_t ticks, int64_t mono, int64_t real)
{
	uint32_t n = header.anchor_count++;

	header.anchor[n % TR_ANCHORS] =
		(struct tr_anchor){ ticks, mono, real, 0 };
}

TEST(ticks_become_wall_time_and_back)
{
	struct dice dice = { 1 };

	start_at(5000000, INT64_C(1700000000) * SECOND, 1 / 2.5e9);
	for (int64_t i = 1; i <= 200; i++)
		anchor_at(5000000 + (uint64_t)i * 2500000000,
			  1000 + i * SECOND,
			  (INT64_C(1700000000) + i) * SECOND);
	for (int i = 0; i < 100000; i++) {
		uint64_t ticks = 5000000 + dice_next(&dice) % 500000000000;
		int64_t real = tr_time_real(&image, ticks);
		double wanted = (double)(ticks - 5000000) / 2.5;

		if (!CHECK_NEAR((double)(real - INT64_C(1700000000) * SECOND),
				wanted, 2) ||
		    !CHECK_NEAR((double)tr_time_ticks(&image, real),
				(double)ticks, 8))
			return;
	}
}

TEST(times_before_the_start_and_after_the_last_anchor_go_on)
{
	start_at(1000000000, 50 * SECOND, 1e-9);
	anchor_at(2000000000, 1000 + SECOND, 51 * SECOND);
	CHECK_INT(tr_time_real(&image, 0), 49 * SECOND);
	CHECK_INT(tr_time_real(&image, 12000000000), 61 * SECOND);
	CHECK_INT(tr_time_ticks(&image, 61 * SECOND), 12000000000);
	CHECK_INT(tr_time_ticks(&image, 49 * SECOND), 0);
	CHECK_INT(tr_time_ticks(&image, 40 * SECOND), 0);
}

TEST(a_step_of_the_wall_clock_moves_later_times_only)
{
	start_at(0, 100 * SECOND, 1e-9);
	header.start.mono_ns = 0;
	anchor_at(10 * SECOND, 10 * SECOND, 110 * SECOND);
	anchor_at(20 * SECOND, 20 * SECOND, 3720 * SECOND);
	anchor_at(30 * SECOND, 30 * SECOND, 3730 * SECOND);
	CHECK_INT(tr_time_real(&image, 5 * SECOND), 105 * SECOND);
	CHECK_INT(tr_time_real(&image, 15 * SECOND), 115 * SECOND);
	CHECK_INT(tr_time_real(&image, 25 * SECOND), 3725 * SECOND);
	CHECK_INT(tr_time_real(&image, 40 * SECOND), 3740 * SECOND);
	CHECK_INT(tr_time_ticks(&image, 3725 * SECOND), 25 * SECOND);
}

/* Any bytes may stand there: numbers, no undefined behaviour. */
TEST(anchors_with_any_content_convert_to_something)
{
	struct dice dice = { 2 };
	uint64_t sum = 0;

	for (int i = 0; i < 20000; i++) {
		uint64_t *word = (uint64_t *)(void *)header.anchor;

		start_at(dice_next(&dice), (int64_t)dice_next(&dice),
			 dice_unit(&dice) * 1e-6 + 1e-300);
		header.start.mono_ns = (int64_t)dice_next(&dice);
		header.anchor_count = (uint32_t)dice_next(&dice);
		for (size_t k = 0; k < sizeof(header.anchor) / 8; k++)
			word[k] = dice_next(&dice) >> (dice_next(&dice) % 64);
		if (i % 3 == 0)
			header.end = header.anchor[0];
		sum += (uint64_t)tr_time_real(&image, dice_next(&dice));
		sum += tr_time_ticks(&image, (int64_t)dice_next(&dice));
	}
	CHECK(sum != 1);
}

/* ---- anchors ----------------------------------------------------------- */

TEST(an_anchor_is_taken_between_two_readings_of_the_counter)
{
	if (!TR_HAS_COUNTER)
		SKIP("no counter on this processor");
	for (int i = 0; i < 100; i++) {
		uint64_t before = tr_counter(), after;
		int64_t mono = tr_monotonic_ns();
		struct tr_anchor anchor = { 0 };

		tr_anchor_take(&anchor, true);
		after = tr_counter();
		CHECK(anchor.ticks >= before && anchor.ticks <= after);
		CHECK(anchor.mono_ns >= mono &&
		      anchor.mono_ns <= tr_monotonic_ns());
		CHECK(anchor.width <= after - before);
	}
}

static void play_anchors(void)
{
	scene_clock();
	scene_start(NULL);
	/* One a slice, and the newest 64 of them. */
	for (int i = 0; i < 300; i++) {
		TARE_SCOPE("turn");
		scene_pass_ns(INT64_C(1) << 31);
	}
	CHECK(tr_ledger->header->anchor_count >= 250 &&
	      tr_ledger->header->anchor_count <= 301);
	for (unsigned i = 0; i < TR_ANCHORS; i++) {
		const struct tr_anchor *a = &tr_ledger->header->anchor[i];

		CHECK_INT(a->ticks, a->mono_ns);
		CHECK(a->mono_ns > scene_monotonic_ns() -
					   (INT64_C(80) << 31));
	}
}

TEST(every_slice_takes_one_anchor)
{
	scene_play(play_anchors);
}

/* ---- the counter against the clock ------------------------------------- */

static void burn_ns(int64_t ns)
{
	int64_t end = tr_monotonic_ns() + ns;

	while (tr_monotonic_ns() < end)
		;
}

static const char *clock_option;

static void play_counter(void)
{
	const char *options[] = { "clock", clock_option, NULL };
	const tare_stats *rows = NULL, *row;
	double wanted;
	int64_t before;
	tare_view *view;
	size_t n;

	scene_start(options);
	before = tr_monotonic_ns();
	{
		TARE_SCOPE("burn");
		burn_ns(100000000);
	}
	wanted = (double)(tr_monotonic_ns() - before);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "burn");
	if (CHECK(row)) {
		/* Rate from the start alone: 0.5 %; registering: 1 ms. */
		CHECK_NEAR(row->total, wanted, wanted * .005 + 1e6);
		CHECK(row->min > 0 && row->min <= row->max);
	}
	CHECK(tare_view_run(view)->resolution_ns > 0 &&
	      tare_view_run(view)->resolution_ns < 1e6);
	CHECK(tare_view_run(view)->inside_ns >= 0 &&
	      tare_view_run(view)->outside_ns >= 0 &&
	      tare_view_run(view)->inside_ns < 1e6);
	tare_view_close(view);
}

TEST(the_counter_measures_what_the_clock_says)
{
	clock_option = "auto";
	scene_play(play_counter);
}

TEST(the_kernels_clock_measures_what_it_says)
{
	clock_option = "monotonic";
	scene_play(play_counter);
}
