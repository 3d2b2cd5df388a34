/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The clock of the phases. However long a thread is kept waiting, what the
 * watch says lies between two readings of the clock around it.
 */
#include "record/train/stopwatch.h"

#include "../check.h"

#define MS INT64_C(1000000)
/* More than two looks at both clocks may be apart over a watch's 20 ms. */
#define SLACK_NS 50000

/* An emulator may be too slow to read two clocks at one moment. */
static bool has_counter(void)
{
	int64_t least = MS;

	for (int i = 0; i < 1000; i++) {
		int64_t before = tr_monotonic_ns();
		int64_t ns = tr_monotonic_ns() - before;

		least = ns < least ? ns : least;
	}
	return TR_HAS_COUNTER && tr_counter_is_trusted() && least < 1000;
}

/* Readings that lie outside, of those of `ms` milliseconds. */
static int count_wrong(struct tr_stopwatch *watch, int64_t ms, int *ret_fast)
{
	int64_t end = tr_monotonic_ns() + ms * MS;
	int wrong = 0;

	while (tr_monotonic_ns() < end) {
		int64_t before = tr_monotonic_ns();
		int64_t said = tr_stopwatch_ns(watch);
		int64_t after = tr_monotonic_ns();

		wrong += said < before - SLACK_NS || said > after + SLACK_NS;
		*ret_fast += watch->duration != 0;
	}
	return wrong;
}

TEST(the_watch_says_what_the_clock_says)
{
	struct tr_stopwatch watch;
	int fast = 0;

	if (!has_counter())
		SKIP("no counter that the kernel trusts, or a slow clock");
	tr_stopwatch_init(&watch);
	CHECK(watch.is_trusted);
	CHECK_INT(count_wrong(&watch, 300, &fast), 0);
	CHECK(fast > 0);
}

TEST(a_counter_of_another_rate_is_compared_anew)
{
	struct tr_stopwatch watch;
	int fast = 0;

	if (!has_counter())
		SKIP("no counter that the kernel trusts, or a slow clock");
	tr_stopwatch_init(&watch);
	CHECK_INT(count_wrong(&watch, 50, &fast), 0);
	/* As after a sleep of the machine, in which one of them stood. */
	watch.duration = 0;
	watch.first_ns -= watch.first_ns / 2;
	fast = 0;
	CHECK_INT(count_wrong(&watch, 50, &fast), 0);
	CHECK(fast > 0);
}

TEST(without_a_counter_it_is_the_clock)
{
	struct tr_stopwatch watch = { .is_trusted = false };
	int fast = 0;

	CHECK_INT(count_wrong(&watch, 5, &fast), 0);
	CHECK_INT(fast, 0);
	CHECK_INT(watch.first_ns, 0);
}

static int64_t stands(int64_t *ret_real)
{
	*ret_real = 222;
	return 111;
}

TEST(a_replaced_clock_is_asked_each_time)
{
	struct tr_stopwatch watch;

	tr_clock_replace(stands);
	tr_stopwatch_init(&watch);
	CHECK_INT(tr_stopwatch_ns(&watch), 111);
	CHECK(!watch.is_trusted);
	tr_clock_replace(NULL);
}
