/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of two hosts, compared by questions and answers. */
#include "check.h"

#include "../../mpi/clocks.h"

#define SECOND INT64_C(1000000000)
#define NOW (INT64_C(1763193600) * SECOND) /* where a double is coarse */

/*
 * An exchange: asked at `at` on rank 0's clock; there and back take so long.
 * This clock is ahead by `ahead`.
 */
static void exchange(struct clocks *clocks, int64_t at, int64_t ahead,
		     int64_t there, int64_t back)
{
	clocks_add(clocks, at + ahead, at + there, at + ahead + there + back);
}

TEST(the_shortest_round_trip_tells)
{
	struct clocks clocks = { 0 };

	exchange(&clocks, NOW, 5 * SECOND, 80000, 20000);
	CHECK(clocks.is_known);
	CHECK_NEAR(clocks.error_ns, 50000, 0.5);
	CHECK_NEAR(clocks.offset_ns, 5e9 - 30000, 0.5);
	exchange(&clocks, NOW + SECOND, 5 * SECOND, 1000, 1000);
	exchange(&clocks, NOW + 2 * SECOND, 5 * SECOND, 900000, 10);
	CHECK_NEAR(clocks.offset_ns, 5e9, 0.5);
	CHECK_NEAR(clocks.error_ns, 1000, 0.5);
}

TEST(the_truth_is_never_farther_than_the_error)
{
	for (int64_t there = 0; there <= 10000; there += 100) {
		struct clocks clocks = { 0 };

		exchange(&clocks, NOW, -3 * SECOND, there, 10000 - there);
		CHECK(clocks.offset_ns - -3e9 <= clocks.error_ns + 0.5);
		CHECK(-3e9 - clocks.offset_ns <= clocks.error_ns + 0.5);
	}
}

TEST(a_clock_that_is_set_meanwhile_is_not_believed)
{
	struct clocks clocks = { 0 };

	clocks_add(&clocks, NOW, NOW, NOW - SECOND);
	CHECK(!clocks.is_known);
	exchange(&clocks, NOW, SECOND, 500, 500);
	clocks_add(&clocks, NOW, NOW, NOW - SECOND);
	CHECK_NEAR(clocks.offset_ns, 1e9, 0.5);
}

TEST(drift_between_begin_and_end_is_part_of_the_error)
{
	struct clocks begin = { 1000, 100, true }, end = { 3000, 50, true };
	struct clocks none = { 0, 0, false };
	struct clocks both = clocks_between(&begin, &end);

	CHECK_NEAR(both.offset_ns, 2000, 1e-9);
	CHECK_NEAR(both.error_ns, 1100, 1e-9);
	both = clocks_between(&begin, &none);
	CHECK_NEAR(both.offset_ns, 1000, 1e-9);
	CHECK_NEAR(both.error_ns, 100, 1e-9);
	both = clocks_between(&none, &end);
	CHECK_NEAR(both.offset_ns, 3000, 1e-9);
	CHECK(!clocks_between(&none, &none).is_known);
}
