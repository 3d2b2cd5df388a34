/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The leak check: over programs drawn at random, and over shapes by hand.
 *
 * LEAK_PROGRAMS and LEAK_SEED choose how many programs are drawn, and which:
 *	LEAK_PROGRAMS=10000 LEAK_SEED=$RANDOM leak_test --only campaign
 */
#include "check.h"
#include "leak_shapes.h"

#include <tare/step.h>

#include <stdio.h>
#include <stdlib.h>

#define MIB 1048576.0

static unsigned long number_in(const char *name, unsigned long preset)
{
	const char *text = getenv(name);

	return text ? strtoul(text, NULL, 10) : preset;
}

/* Its memory from `base` bytes on, in pages as the kernel has it. */
static bool is_leak(struct program *p, struct dice *dice, double base)
{
	tare_leak_series *series = tare_leak_series_new("test");
	tare_leak leak = { .is_leak = false };

	for (unsigned i = 0; i < p->steps; i++)
		tare_leak_series_add(series, floor(shape_next(p, dice) * base /
						   4096) *
						     4096);
	CHECK_INT(tare_leak_series_look(series, &leak), 0);
	CHECK_INT(leak.samples, p->steps);
	tare_leak_series_free(series);
	return leak.is_leak;
}

struct tally {
	unsigned drawn[SHAPES], wrong[SHAPES];
	unsigned missed, false_alarms, leaks;
};

static struct tally draw_programs(uint64_t seed, unsigned n)
{
	struct dice dice = { seed * 7919 + 1 };
	struct tally tally = { .leaks = 0 };

	for (unsigned i = 0; i < n; i++) {
		enum shape shape = (enum shape)(dice_next(&dice) % SHAPES);
		struct program p = shape_draw(shape, &dice, 200, 3000);
		double base = shape_scale(&dice, 10 * MIB, 10240 * MIB);
		bool leaks = shape >= SHAPE_LEAK;
		bool wrong = is_leak(&p, &dice, base) != leaks;

		tally.drawn[shape]++;
		tally.wrong[shape] += wrong;
		tally.leaks += leaks;
		tally.missed += wrong && leaks;
		tally.false_alarms += wrong && !leaks;
	}
	return tally;
}

static void show(const struct tally *tally)
{
	static const char *const names[] = { SHAPE_NAMES };

	for (unsigned i = 0; i < SHAPES; i++)
		printf("# %-22s %6u drawn, %3u wrong\n", names[i],
		       tally->drawn[i], tally->wrong[i]);
	printf("# missed %u of %u, false alarms %u\n", tally->missed,
	       tally->leaks, tally->false_alarms);
}

/* Of 10,000 programs: a wrong one in 500 would be too many of a hundred. */
TEST(campaign_of_random_programs_has_few_wrong)
{
	unsigned n = (unsigned)number_in("LEAK_PROGRAMS", 3000);
	struct tally tally = draw_programs(number_in("LEAK_SEED", 1), n);

	show(&tally);
	CHECK(tally.missed * 500 <= n);
	CHECK(tally.false_alarms * 500 <= n);
}

TEST(a_hundred_programs_have_at_most_one_false_alarm_and_no_miss)
{
	for (uint64_t seed = 101; seed <= 105; seed++) {
		struct tally tally = draw_programs(seed, 100);

		CHECK_INT(tally.missed, 0);
		CHECK(tally.false_alarms <= 1);
	}
}

/* ---- by hand ----------------------------------------------------------- */

static tare_leak look_at(double (*shape)(unsigned i), unsigned n)
{
	tare_leak_series *series = tare_leak_series_new("mine");
	tare_leak leak = { .samples = 0 };

	for (unsigned i = 0; i < n; i++)
		tare_leak_series_add(series, shape(i));
	CHECK_INT(tare_leak_series_look(series, &leak), 0);
	CHECK_STR(leak.what, "mine");
	leak.what = NULL; /* goes with the series */
	tare_leak_series_free(series);
	return leak;
}

static double line(unsigned i)
{
	return 50 * MIB + 4096.0 * i;
}

static double flat(unsigned i)
{
	(void)i;
	return 100 * MIB;
}

static double falling(unsigned i)
{
	return 100 * MIB - 4096.0 * i;
}

/* A tooth of 64 MiB in 100 steps, and 8 KiB a step that stay. */
static double teeth(unsigned i)
{
	return 100 * MIB + i % 100 * (64 * MIB / 100) + 8192.0 * i;
}

TEST(growth_is_bytes_a_step_however_long_the_run)
{
	static const unsigned lengths[] = { 300, 511, 512, 513, 5000, 300000 };

	for (unsigned i = 0; i < 6; i++) {
		tare_leak leak = look_at(line, lengths[i]);

		CHECK(leak.is_leak);
		CHECK_NEAR(leak.growth, 4096, 1);
		CHECK(leak.growth_low <= leak.growth &&
		      leak.growth <= leak.growth_high);
		CHECK_NEAR(leak.growth_low, 4096, 8);
		CHECK(leak.confidence > 0.999);
		CHECK_INT(leak.samples, lengths[i]);
	}
}

TEST(what_stays_and_what_falls_does_not_leak)
{
	tare_leak leak = look_at(flat, 1000);

	CHECK(!leak.is_leak);
	CHECK_NEAR(leak.growth, 0, 0);
	leak = look_at(falling, 1000);
	CHECK(!leak.is_leak);
	CHECK(leak.confidence < 0.001);
}

TEST(leak_under_teeth_is_found_at_their_feet)
{
	tare_leak leak = look_at(teeth, 3000);

	CHECK(leak.is_leak);
	CHECK_NEAR(leak.growth, 8192, 800);
}

TEST(few_samples_say_nothing)
{
	CHECK(!look_at(line, 31).is_leak);
	CHECK_NEAR(look_at(line, 31).growth, 0, 0);
	CHECK(!look_at(line, 0).is_leak);
}

static double broken(unsigned i)
{
	return i % 7 == 3 ? NAN : i % 7 == 5 ? INFINITY : line(i);
}

TEST(what_is_no_number_is_passed_over)
{
	tare_leak leak = look_at(broken, 2000);

	CHECK(leak.is_leak);
	CHECK_NEAR(leak.growth, 4096, 4);
}

TEST(wrong_arguments_are_refused)
{
	tare_leak leak;

	CHECK_INT(tare_leak_series_look(NULL, &leak), TARE_EINVAL);
	tare_leak_series_add(NULL, 1);
	tare_leak_series_free(NULL);
}
