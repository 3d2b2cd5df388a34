/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trend: the last window against the one before, neither with an event of
 * the other.
 */
#include "check.h"
#include "scene.h"
#include "read/view.h"

#include <tare/control.h>
#include <tare/probe.h>

#include <math.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define MINUTE (60 * SECOND)

static const tare_trend *trend_of(const tare_trend *trends, size_t n,
				  const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(trends[i].now->name, name) == 0)
			return &trends[i];
	return NULL;
}

/* Ten steps a second for ten minutes; from the fifth on they are slower. */
static void play_slower(void)
{
	const tare_trend *trends, *t;
	tare_view *view;
	size_t n = 0;

	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 6000; i++) {
		TARE_DURATION("step", (uint64_t)(i < 3000 ? 1000 : 1500));
		if (i < 3000)
			TARE_DURATION("gone", 10);
		else
			TARE_DURATION_FAILED("new", 20, "");
		scene_pass_ns(SECOND / 10);
	}
	view = scene_view();
	if (!CHECK_INT(tare_view_trend(view, NULL, 5 * MINUTE, &trends, &n),
		       0))
		return;
	CHECK_INT(n, 3);
	t = trend_of(trends, n, "step");
	if (CHECK(t != NULL)) {
		/* Time slices and their tiers are as wide as they are. */
		CHECK(t->now->count >= 3000 && t->now->count <= 3300);
		CHECK(t->before->count >= 2500);
		CHECK(t->now->count + t->before->count <= 6000);
		CHECK_NEAR(t->change, t->now->mean / t->before->mean - 1, 1e-9);
		CHECK(t->change > 0.4 && t->change <= 0.5);
	}
	t = trend_of(trends, n, "gone");
	if (CHECK(t != NULL)) {
		CHECK(t->before->count > 2500);
		CHECK_NEAR(t->before->mean, 10, 1e-9);
	}
	t = trend_of(trends, n, "new");
	if (CHECK(t != NULL)) {
		CHECK_INT(t->now->count, 3000);
		CHECK_INT(t->before->count, 0);
		CHECK(isnan(t->before->mean) && isnan(t->change));
		CHECK(isnan(t->before->success_rate));
		CHECK(t->now->success_rate == 0);
	}
	tare_view_close(view);
}

TEST(a_series_that_became_slower_has_a_change)
{
	scene_play(play_slower);
}

/* Whatever the window: what one side has, the other has not. */
static void play_apart(void)
{
	static const char *const name[] = { "st*" };
	tare_filter f = { .struct_size = sizeof(f), .names = name,
			  .n_names = 1 };
	const tare_trend *trends;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 20000; i++) {
		TARE_DURATION("step", 100);
		TARE_DURATION("other", 100);
		scene_pass_ns(SECOND / 5);
	}
	view = scene_view();
	for (int64_t window = SECOND; window < 4 * 60 * MINUTE;
	     window = window * 7 / 5) {
		uint64_t both;

		if (!CHECK_INT(tare_view_trend(view, &f, window, &trends, &n),
			       0) ||
		    !CHECK_INT(n, 1))
			continue;
		both = trends[0].now->count + trends[0].before->count;
		CHECK(both <= 20000);
		CHECK(trends[0].now->count * SECOND / 5 >= (uint64_t)window ||
		      trends[0].now->count == 20000);
		CHECK(both == 20000 ||
		      both * SECOND / 5 >= 2 * (uint64_t)window - 2 * SECOND);
		CHECK_INT(tare_view_window(view)->to_ns,
			  tare_view_run(view)->end_ns);
	}
	tare_view_close(view);
}

TEST(the_two_windows_share_no_event)
{
	scene_play(play_apart);
}

static void play_filter(void)
{
	tare_filter f = { .struct_size = sizeof(f) };
	const tare_trend *trends;
	tare_view *view;
	size_t n;

	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 120; i++) {
		TARE_DURATION("good", 100);
		if (i < 50)
			TARE_DURATION_FAILED("bad", 100, "text");
		else
			TARE_DURATION("bad", 100);
		scene_pass_ns(SECOND);
	}
	view = scene_view();
	f.outcome = TARE_OUTCOME_FAILED;
	CHECK_INT(tare_view_trend(view, &f, MINUTE, &trends, &n), 0);
	if (CHECK_INT(n, 1))
		CHECK_STR(trends[0].now->name, "bad");
	f.outcome = TARE_OUTCOME_OK;
	CHECK_INT(tare_view_trend(view, &f, MINUTE, &trends, &n), 0);
	if (CHECK_INT(n, 1))
		CHECK_STR(trends[0].now->name, "good");
	CHECK_INT(tare_view_trend(view, NULL, 0, &trends, &n), TARE_EINVAL);
	CHECK_INT(tare_view_trend(view, NULL, -1, &trends, &n), TARE_EINVAL);
	CHECK_INT(tare_view_trend(view, NULL, INT64_MAX, &trends, &n), 0);
	if (CHECK_INT(n, 2))
		CHECK_INT(trends[0].now->count, 120);
	f.last_values = 3;
	CHECK_INT(tare_view_trend(view, &f, 1, &trends, &n), TARE_EINVAL);
	tare_view_close(view);
}

TEST(a_trend_knows_filters_and_its_limits)
{
	scene_play(play_filter);
}
