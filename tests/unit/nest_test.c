/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of a thread lie inside each other or apart, whatever clocks did.
 */
#include "check.h"
#include "scene.h"
#include "read/timeline/nest.h"

#include <stdlib.h>
#include <string.h>

#define MOST 512

/* A clock of 1 GHz. */
static struct tr_header header = { .sec_per_tick = 1e-9 };
static tare_view view = { .image = { .base = (const char *)&header } };
static tare_event event[MOST];
static struct tr_ticks ticks[MOST];
static size_t n;

static void add(uint32_t depth, uint64_t from, uint64_t to)
{
	ticks[n] = (struct tr_ticks){ from, to };
	event[n++] = (tare_event){ .depth = depth,
				   .start_ns = (int64_t)from,
				   .duration_ns = to - from };
}

static int64_t end_of(size_t i)
{
	return event[i].start_ns + (int64_t)event[i].duration_ns;
}

static void nest(void)
{
	tr_events_nest(&view, event, ticks, n);
}

/* Every two of them, but those that are marked. */
static bool are_nested(void)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			int64_t a = event[i].start_ns, b = end_of(i);
			int64_t c = event[k].start_ns, d = end_of(k);

			if (event[i].overlaps || event[k].overlaps)
				continue;
			if (!(b <= c || d <= a || (a <= c && d <= b) ||
			      (c <= a && b <= d)))
				return false;
		}
	return true;
}

TEST(what_nests_stays_as_it_is)
{
	n = 0;
	add(2, 120, 130);
	add(1, 110, 140);
	add(1, 150, 190);
	add(0, 100, 200);
	add(0, 200, 300);
	nest();
	CHECK(are_nested());
	for (size_t i = 0; i < n; i++) {
		CHECK_INT(event[i].start_ns, ticks[i].start);
		CHECK_INT(end_of(i), ticks[i].end);
		CHECK(!event[i].overlaps);
	}
}

TEST(an_inner_end_after_the_outer_one_is_moved)
{
	n = 0;
	add(1, 110, 203);
	add(0, 100, 200);
	add(0, 198, 300);
	nest();
	CHECK(are_nested());
	CHECK_INT(end_of(1), 198);
	CHECK_INT(end_of(0), 198);
	CHECK_INT(event[0].start_ns, 110);
	CHECK(!event[0].overlaps && !event[1].overlaps);
}

TEST(an_inner_beginning_before_the_outer_one_is_moved)
{
	n = 0;
	add(1, 98, 103);
	add(0, 100, 200);
	nest();
	CHECK(are_nested());
	CHECK_INT(event[0].start_ns, 100);
	CHECK_INT(end_of(0), 103);
	CHECK_INT(end_of(1), 200);
}

TEST(fibers_that_overlap_are_marked_and_keep_their_times)
{
	n = 0;
	add(0, 100000, 300000);
	add(0, 200000, 400000);
	add(0, 400000, 500000);
	nest();
	CHECK(event[0].overlaps && !event[1].overlaps && !event[2].overlaps);
	CHECK_INT(event[0].start_ns, 100000);
	CHECK_INT(end_of(0), 300000);
	CHECK_INT(end_of(1), 400000);
}

TEST(an_outer_one_that_is_missing_takes_nothing_along)
{
	n = 0;
	/* Its parent has no entry; the next scope of depth 0 has. */
	add(2, 1000, 2000);
	add(0, 50000, 60000);
	nest();
	CHECK(are_nested());
	CHECK_INT(event[0].start_ns, 1000);
	CHECK_INT(end_of(0), 2000);
}

/* A scope of random children, in the order of their ends. */
static uint64_t grow(struct dice *dice, uint32_t depth, uint64_t now)
{
	uint64_t from = now;

	while (n < MOST - 8 && depth < 6 && dice_unit(dice) < 0.6)
		now = grow(dice, depth + 1, now + dice_next(dice) % 900);
	now += dice_next(dice) % 900;
	if (n < MOST)
		add(depth, from, now);
	return now;
}

TEST(with_clocks_that_differ_all_still_nest)
{
	struct dice dice = { 7 };

	for (int round = 0; round < 200; round++) {
		uint64_t now = 1000000;

		n = 0;
		while (n < MOST / 2)
			now = grow(&dice, 0, now);
		/* Every reading is off by up to 400 ns, as is the anchor. */
		for (size_t i = 0; i < n; i++) {
			ticks[i].start += dice_next(&dice) % 400;
			ticks[i].end += dice_next(&dice) % 400;
			if (ticks[i].end < ticks[i].start)
				ticks[i].end = ticks[i].start;
			event[i].start_ns = (int64_t)ticks[i].start +
					    (int64_t)(dice_next(&dice) % 300);
			event[i].duration_ns = ticks[i].end - ticks[i].start;
		}
		nest();
		if (!CHECK(are_nested()))
			return;
		for (size_t i = 0; i < n; i++)
			CHECK(!event[i].overlaps);
	}
}
