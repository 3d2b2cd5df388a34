/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Figures of series: the order of the slowest, and what came in between two
 * views.
 */
#include "check.h"
#include "scene.h"

#include <tare/control.h>
#include <tare/probe.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read/stats.h"

/* ---- orders ------------------------------------------------------------ */

TEST(the_slowest_have_the_highest_net_mean)
{
	/* By raw maximum, mean or total, the order would be another one. */
	tare_stats row[] = {
		{ .name = "b", .labels = "", .source = "", .unit = "",
		  .net_mean = 5, .mean = 5, .max = 5, .total = 50 },
		{ .name = "untimed", .labels = "", .source = "", .unit = "",
		  .net_mean = NAN, .mean = NAN, .max = NAN },
		{ .name = "peak", .labels = "", .source = "", .unit = "",
		  .net_mean = 1, .mean = 90, .max = 900, .total = 900 },
		{ .name = "a", .labels = "", .source = "", .unit = "",
		  .net_mean = 5, .mean = 4, .max = 4, .total = 4 },
		{ .name = "slow", .labels = "", .source = "", .unit = "",
		  .net_mean = 7, .mean = 7, .max = 7, .total = 7 },
	};

	qsort(row, 5, sizeof(row[0]), tr_stats_order_slowest);
	CHECK_STR(row[0].name, "slow");
	CHECK_STR(row[1].name, "a");
	CHECK_STR(row[2].name, "b");
	CHECK_STR(row[3].name, "peak");
	CHECK_STR(row[4].name, "untimed");
}

/* ---- between two views ------------------------------------------------- */

static const tare_stats *row_named(tare_view *view, const char *wanted)
{
	const tare_stats *rows;
	size_t n;

	if (tare_view_stats(view, NULL, &rows, &n) != 0)
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strcmp(rows[i].name, wanted) == 0)
			return &rows[i];
	return NULL;
}

/* "fresh" has only what "all" has since the first view. */
static void play_between(void)
{
	tare_site *all, *fresh;
	const tare_stats *then, *only;
	tare_view *before, *now;
	tare_stats row;

	scene_clock();
	scene_start(NULL);
	all = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "all", "", "");
	fresh = tare_site_get(TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "fresh", "",
			      "");
	for (int i = 0; i < 1000; i++)
		tare_value_observe(all, i % 3 ? 1e6 : -5);
	before = scene_view();
	for (int i = 0; i < 101; i++) {
		tare_value_observe(all, i - 10);
		tare_value_observe(fresh, i - 10);
	}
	now = scene_view();
	then = row_named(before, "all");
	only = row_named(now, "fresh");
	CHECK(then && only && row_named(now, "all"));
	row = *row_named(now, "all");
	only = row_named(now, "fresh");
	CHECK_INT(tr_stats_between(before, then, now, &row), 0);
	CHECK_INT(row.timed, 101);
	CHECK_NEAR(row.p50, only->p50, 0);
	CHECK_NEAR(row.p99, only->p99, 0);
	CHECK_NEAR(row.max, only->max, 1.1); /* known by its bucket */
	row = *row_named(now, "fresh");
	CHECK_INT(tr_stats_between(now, row_named(now, "fresh"), now, &row),
		  0);
	CHECK(row.timed == 0 && isnan(row.p50) && isnan(row.max));
	tare_view_close(before);
	tare_view_close(now);
}

TEST(what_came_between_two_views_has_the_quantiles_of_a_report)
{
	scene_play(play_between);
}
