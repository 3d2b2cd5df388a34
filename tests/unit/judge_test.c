/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Amdahl's arithmetic, by numbers that were worked out by hand, and the parts
 * of a run that it is about.
 */
#include "check.h"
#include "scene.h"
#include "read/view.h"

#include <tare/read/judge.h>
#include <tare/probe.h>

#include <math.h>

static tare_gain gain_of(double share, double factor)
{
	tare_gain gain = { 0 };

	CHECK_INT(tare_gain_of(share, factor, NULL, &gain), 0);
	return gain;
}

TEST(gains_of_5_10_and_85_percent_at_twice_the_speed)
{
	CHECK_NEAR(gain_of(.05, 2).faster, .025641, 1e-6);
	CHECK_NEAR(gain_of(.10, 2).faster, .052632, 1e-6);
	CHECK_NEAR(gain_of(.85, 2).faster, .739130, 1e-6);
	CHECK_NEAR(gain_of(.05, 2).saved, .025, 1e-12);
	CHECK_NEAR(gain_of(.10, 2).saved, .05, 1e-12);
	CHECK_NEAR(gain_of(.85, 2).saved, .425, 1e-12);
}

TEST(verdicts_of_5_10_and_85_percent)
{
	CHECK_INT(gain_of(.05, 2).worth, TARE_WORTH_NOTHING);
	CHECK_INT(gain_of(.10, 2).worth, TARE_WORTH_MODERATE);
	CHECK_INT(gain_of(.85, 2).worth, TARE_WORTH_MUCH);
}

TEST(limits_can_be_chosen)
{
	tare_worth_limits strict = { .7, .8 }, lax = { .01, .02 };
	tare_gain gain;

	CHECK_INT(tare_gain_of(.85, 2, &strict, &gain), 0);
	CHECK_INT(gain.worth, TARE_WORTH_MODERATE);
	CHECK_INT(tare_gain_of(.05, 2, &lax, &gain), 0);
	CHECK_INT(gain.worth, TARE_WORTH_MUCH);
}

TEST(the_edges_of_shares_and_factors)
{
	tare_gain gain;

	CHECK_NEAR(gain_of(0, 1000).faster, 0, 1e-12);
	CHECK_NEAR(gain_of(1, 4).faster, 3, 1e-12);
	CHECK_NEAR(gain_of(.5, INFINITY).faster, 1, 1e-12);
	CHECK_NEAR(gain_of(.5, INFINITY).most, 1, 1e-12);
	CHECK(isinf(gain_of(1, 2).most));
	CHECK_NEAR(gain_of(.5, 1).faster, 0, 1e-12);
	CHECK_NEAR(gain_of(.5, .5).faster, 1 / 1.5 - 1, 1e-12);
	CHECK_INT(tare_gain_of(1.1, 2, NULL, &gain), TARE_EINVAL);
	CHECK_INT(tare_gain_of(-.1, 2, NULL, &gain), TARE_EINVAL);
	CHECK_INT(tare_gain_of(NAN, 2, NULL, &gain), TARE_EINVAL);
	CHECK_INT(tare_gain_of(.5, 0, NULL, &gain), TARE_EINVAL);
	CHECK_INT(tare_gain_of(.5, NAN, NULL, &gain), TARE_EINVAL);
	CHECK_INT(tare_gain_of(.5, 2, NULL, NULL), TARE_EINVAL);
}

TARE_SCOPE_SITE_DEFINE(outer, "outer");
TARE_SCOPE_SITE_DEFINE(inner, "inner");

static void measure(void)
{
	tare_scope scope = tare_scope_begin(&outer), in;

	scene_pass_ns(15000000);
	in = tare_scope_begin(&inner);
	scene_pass_ns(85000000);
	tare_scope_end(in);
	tare_scope_end(scope);
}

static void play_scopes(void)
{
	const char *const none[] = { NULL };
	tare_amdahl_options total = { .struct_size = sizeof(total),
				      .factor = 4, .with_callees = true };
	tare_amdahl *amdahl;
	tare_view *view;

	scene_clock();
	scene_start(none);
	measure();
	view = scene_view();
	if (!view || !CHECK_INT(tare_amdahl_open(view, NULL, &amdahl), 0))
		return;
	CHECK_INT(amdahl->of, TARE_PARTS_SCOPES);
	CHECK_INT(amdahl->n_parts, 2);
	CHECK_NEAR(amdahl->whole_ns, 1e8, 1e4);
	CHECK_STR(amdahl->parts[0].name, "inner");
	CHECK_NEAR(amdahl->parts[0].share, .85, 1e-4);
	CHECK_NEAR(amdahl->parts[0].gain.faster, .7391, 1e-3);
	CHECK_NEAR(amdahl->parts[1].share, .15, 1e-4);
	tare_amdahl_close(amdahl);
	CHECK_INT(tare_amdahl_open(view, &total, &amdahl), 0);
	CHECK_STR(amdahl->parts[0].name, "outer");
	CHECK_NEAR(amdahl->parts[0].share, 1, 1e-3);
	CHECK_NEAR(amdahl->parts[0].gain.faster, 3, 1e-2);
	tare_amdahl_close(amdahl);
	tare_view_close(view);
}

TEST(parts_are_scopes_by_their_own_time)
{
	scene_play(play_scopes);
}

static void play_nothing(void)
{
	const char *const none[] = { NULL };
	tare_amdahl_options wrong = { .struct_size = 3 };
	tare_amdahl *amdahl;
	tare_view *view;

	scene_start(none);
	view = scene_view();
	if (!view)
		return;
	CHECK_INT(tare_amdahl_open(view, NULL, &amdahl), 0);
	CHECK_INT(amdahl->n_parts, 0);
	tare_amdahl_close(amdahl);
	CHECK_INT(tare_amdahl_open(view, &wrong, &amdahl), TARE_EINVAL);
	wrong = (tare_amdahl_options){ .struct_size = sizeof(wrong), .of = 9 };
	CHECK_INT(tare_amdahl_open(view, &wrong, &amdahl), TARE_EINVAL);
	CHECK_INT(tare_amdahl_open(NULL, NULL, &amdahl), TARE_EINVAL);
	tare_amdahl_close(NULL);
	tare_view_close(view);
}

TEST(a_run_without_times_has_no_parts)
{
	scene_play(play_nothing);
}
