/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Governor: the plan, and what becomes of scopes that are only counted.
 */
#include "check.h"
#include "scene.h"

#include <tare/control.h>
#include <tare/probe.h>

#include <setjmp.h>
#include <signal.h>
#include <string.h>

#include "record/governor/pause.h"
#include "record/governor/plan.h"
#include "record/probe.h"
#include "read/view.h"

/* ---- plan -------------------------------------------------------------- */

#define NS 1e-9
#define SITE(id, scope, calls) \
	{ .site = id, .is_scope = scope, .rate = calls }

static struct tr_plan plan_of(struct tr_plan_site *sites, size_t n,
			      double limit)
{
	struct tr_plan plan = {
		.site = sites,
		.n = n,
		.limit = limit,
		.scope_s = 25 * NS,
		.untimed_s = 5 * NS,
		.value_s = 4 * NS,
	};

	tr_plan_make(&plan);
	return plan;
}

TEST(what_is_cheap_is_measured_in_full)
{
	struct tr_plan_site sites[] = { SITE(6, true, 1e5),
					SITE(7, false, 1e6) };
	struct tr_plan plan = plan_of(sites, 2, 0.05);

	CHECK_INT(plan.level, TR_LEVEL_FULL);
	CHECK(plan.is_enough);
	CHECK_NEAR(plan.full, 1e5 * 25 * NS + 1e6 * 4 * NS, 1e-9);
	CHECK_NEAR(plan.on, 1, 0);
}

TEST(the_hottest_site_gives_up_its_times_first)
{
	struct tr_plan_site sites[] = { SITE(6, true, 1e5),
					SITE(7, true, 6e6),
					SITE(8, true, 2e5) };
	struct tr_plan plan = plan_of(sites, 3, 0.05);

	CHECK_INT(plan.site[0].site, 7);
	CHECK(plan.site[0].level > 0 && plan.site[0].level < 63);
	CHECK_INT(plan.site[1].level, 0);
	CHECK_INT(plan.site[2].level, 0);
	CHECK(plan.is_enough && plan.share <= 0.05);
}

TEST(counts_are_given_up_last_and_no_more_than_needed)
{
	struct tr_plan_site sites[] = { SITE(6, true, 4e7),
					SITE(7, true, 1e5) };
	struct tr_plan plan = plan_of(sites, 2, 0.05);

	/* Counting alone is 20 %: on for a fifth to a quarter of the time. */
	CHECK_INT(plan.site[0].level, TR_LEVEL_PAUSED | TR_LEVEL_COUNTED);
	CHECK_INT(plan.site[1].level & TR_LEVEL_PAUSED, 0);
	CHECK(plan.on > 0.2 && plan.on < 0.26);
	CHECK(plan.is_enough && plan.share <= 0.05 + 1e-12);
}

TEST(values_can_only_be_paused)
{
	struct tr_plan_site sites[] = { SITE(6, false, 5e7) };
	struct tr_plan plan = plan_of(sites, 1, 0.05);

	CHECK_INT(plan.site[0].level, TR_LEVEL_PAUSED);
	CHECK_NEAR(plan.on, 0.25, 0.001);
}

TEST(what_cannot_be_changed_counts_against_the_limit)
{
	struct tr_plan_site sites[] = { SITE(6, true, 1e6) };
	struct tr_plan plan = {
		.site = sites, .n = 1, .limit = 0.05, .fixed = 0.2,
		.scope_s = 25 * NS, .untimed_s = 5 * NS, .value_s = 4 * NS,
	};

	tr_plan_make(&plan);
	CHECK(!plan.is_enough);
	CHECK(plan.site[0].level & TR_LEVEL_PAUSED);
}

TEST(plans_keep_the_limit_whatever_the_rates)
{
	struct dice dice = { 4711 };

	for (int round = 0; round < 20000; round++) {
		struct tr_plan_site sites[8];
		size_t n = 1 + dice_next(&dice) % 8;
		double limit = 0.001 + dice_unit(&dice) * 0.2;
		struct tr_plan plan;

		for (size_t i = 0; i < n; i++)
			sites[i] = (struct tr_plan_site){
				.site = (uint32_t)(6 + i),
				.is_scope = dice_next(&dice) % 4 != 0,
				.rate = dice_unit(&dice) * 1e7,
			};
		plan = plan_of(sites, n, limit);
		if (plan.is_enough)
			CHECK(plan.share <= limit * (1 + 1e-9));
		else
			CHECK_NEAR(plan.on, 1.0 / 256, 1e-12);
		if (plan.full <= limit)
			CHECK_INT(plan.level, 0);
		for (size_t i = 1; i < n; i++)
			CHECK(plan.site[i - 1].rate *
				      (plan.site[i - 1].is_scope ? 25 : 4) >=
			      plan.site[i].rate *
				      (plan.site[i].is_scope ? 25 : 4));
	}
}

/* ---- scopes that are only counted -------------------------------------- */

static uint8_t levels[8192];

/* From now on sites ask for their level; those of this name get it. */
static void set_level(tare_site *site, uint8_t level)
{
	tr_site_levels = levels;
	levels[site->id] = level;
	tr_control_bump(tr_ledger->control);
}

TARE_SITE(hot, TARE_KIND_SCOPE, TARE_TYPE_TIME, "hot", NULL);
TARE_OPERATION_SITE_DEFINE(task, "task");

static void call_hot(void)
{
	TARE_SCOPE_SITE(&hot);
	TARE_SCOPE("inner");
	TARE_ITEMS(2);
}

static void start_counted(uint8_t level)
{
	scene_start(NULL);
	call_hot();
	set_level(&hot, level);
}

static const tare_node *node_named(tare_view *view, const char *name)
{
	const tare_node *nodes;
	size_t n;

	if (tare_view_tree(view, &nodes, &n))
		return NULL;
	for (size_t i = 0; i < n; i++)
		if (strcmp(nodes[i].name, name) == 0)
			return &nodes[i];
	return NULL;
}

static void play_counted(void)
{
	const tare_stats *rows, *row;
	const tare_node *node;
	tare_view *view;
	size_t n;

	start_counted(TR_LEVEL_COUNTED);
	for (int i = 0; i < 1000; i++)
		call_hot();
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "hot");
	if (CHECK(row)) {
		CHECK_INT(row->count, 1001);
		CHECK_INT(row->timed, 1);
	}
	row = scene_row(rows, n, "inner");
	if (CHECK(row)) {
		CHECK_INT(row->timed, 1001);
		CHECK_INT(row->items, 2002);
	}
	/* The tree keeps its form: the inner ones are below the hot ones. */
	node = node_named(view, "inner");
	CHECK(node && node->depth == 1 && node->calls == 1001);
	CHECK_INT(tare_view_health(view)->stray_ends, 0);
	CHECK_INT(tare_view_health(view)->repairs, 0);
	CHECK_INT(tare_view_health(view)->damaged, 0);
	tare_view_close(view);
}

TEST(calls_without_a_time_are_counted_in_their_place)
{
	scene_play(play_counted);
}

static void play_sampled(void)
{
	const tare_stats *rows, *row;
	tare_view *view;
	size_t n;

	start_counted(4);
	for (int i = 0; i < 160000; i++)
		call_hot();
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "hot");
	if (CHECK(row)) {
		CHECK_INT(row->count, 160001);
		/* One of 16: 10,000 of them, with a deviation of about 60. */
		CHECK(row->timed > 9500 && row->timed < 10500);
	}
	tare_view_close(view);
}

TEST(one_call_of_sixteen_is_timed_and_all_are_counted)
{
	scene_play(play_sampled);
}

static void fail_task(int i)
{
	TARE_SCOPE_SITE(&task);
	TARE_ATTR("number", i);
	if (i % 10 == 3)
		TARE_FAIL("three");
}

static void play_failures(void)
{
	const tare_record *records;
	const tare_stats *rows, *row;
	tare_view *view;
	size_t n, failed = 0;

	scene_start(NULL);
	fail_task(0);
	set_level(&task, TR_LEVEL_COUNTED);
	for (int i = 0; i < 100; i++)
		fail_task(i);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "task");
	if (CHECK(row)) {
		CHECK_INT(row->count, 101);
		CHECK_INT(row->failures, 10);
	}
	CHECK_INT(tare_view_records(view, NULL, &records, &n), 0);
	for (size_t i = 0; i < n; i++) {
		if (records[i].ok)
			continue;
		CHECK_STR(records[i].error, "three");
		CHECK_INT(records[i].n_attrs, 1);
		CHECK_INT(records[i].attrs[0].i % 10, 3);
		failed++;
	}
	CHECK_INT(failed, 10);
	/* The one before, and the failed ones: the others left no trace. */
	CHECK_INT(n, 11);
	tare_view_close(view);
}

TEST(failures_of_counted_calls_are_told_with_what_was_noted)
{
	scene_play(play_failures);
}

static jmp_buf home;

static void leave_by_jump(void)
{
	tare_scope scope = tare_scope_begin(&hot);

	(void)scope;
	longjmp(home, 1);
}

static void on_signal(int signal)
{
	(void)signal;
	call_hot();
}

static void play_odd(void)
{
	const tare_stats *rows, *row;
	tare_fiber fiber;
	tare_view *view;
	size_t n;
	tare_scope a, b;

	start_counted(TR_LEVEL_COUNTED);
	(void)signal(SIGUSR1, on_signal);
	{
		TARE_SCOPE("around");
		if (!setjmp(home))
			leave_by_jump();
	}
	/* Ends in the wrong order. */
	a = tare_scope_begin(&hot);
	b = tare_scope_begin(&hot);
	tare_scope_end(a);
	tare_scope_end(b);
	a = tare_scope_begin(&hot);
	(void)raise(SIGUSR1);
	tare_fiber_save(&fiber);
	call_hot();
	tare_fiber_restore(&fiber);
	tare_scope_fail(a, "late");
	tare_scope_end(a);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "hot");
	if (CHECK(row)) {
		CHECK_INT(row->count, 1 + 1 + 2 + 3);
		CHECK_INT(row->failures, 1);
	}
	CHECK_INT(tare_view_health(view)->repairs, 2);
	CHECK_INT(tare_view_health(view)->stray_ends, 1);
	CHECK_INT(tare_view_health(view)->damaged, 0);
	tare_view_close(view);
}

TEST(counted_scopes_survive_jumps_disorder_fibers_and_signals)
{
	scene_play(play_odd);
}

static void play_back(void)
{
	const tare_stats *rows, *row;
	tare_view *view;
	size_t n;

	start_counted(TR_LEVEL_COUNTED);
	call_hot();
	set_level(&hot, TR_LEVEL_FULL);
	call_hot();
	call_hot();
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "hot");
	if (CHECK(row)) {
		CHECK_INT(row->count, 4);
		CHECK_INT(row->timed, 3);
	}
	tare_view_close(view);
}

TEST(a_site_comes_back_to_full_measuring)
{
	scene_play(play_back);
}

/* ---- pauses ------------------------------------------------------------ */

TARE_SITE(amount, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "amount", "");

static void play_paused(void)
{
	const tare_stats *rows, *row;
	tare_view *view;
	size_t n;

	scene_start(NULL);
	call_hot();
	tare_value_observe(&amount, 1);
	levels[amount.id] = TR_LEVEL_PAUSED;
	set_level(&hot, TR_LEVEL_PAUSED | TR_LEVEL_COUNTED);
	TR_STORE(tr_ledger->control->pause,
		 TR_LOAD(tr_ledger->control->generation));
	for (int i = 0; i < 10; i++) {
		call_hot();
		tare_value_observe(&amount, 1);
	}
	TR_STORE(tr_ledger->control->pause, 0);
	for (int i = 0; i < 1000; i++) {
		call_hot();
		tare_value_observe(&amount, 1);
	}
	/* Another generation, as after any change of a switch. */
	tr_control_bump(tr_ledger->control);
	TR_STORE(tr_ledger->control->pause,
		 TR_LOAD(tr_ledger->control->generation));
	call_hot();
	tare_value_observe(&amount, 1);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "hot");
	CHECK(row && row->count == 12);
	row = scene_row(rows, n, "amount");
	CHECK(row && row->count == 12);
	tare_view_close(view);
}

/* Of 100 ns of CPU time. */
static void play_interval(struct tr_pause *pause, int64_t open_ns)
{
	pause->open_ns = open_ns;
	pause->shut_ns = 100 - open_ns;
	tr_pause_counted(pause);
	tr_pause_want(pause, 0.1);
}

TEST(a_gate_that_is_open_too_long_is_opened_for_less)
{
	struct tr_pause pause;

	tr_pause_init(&pause);
	pause.is_used = true;
	pause.want = 0.1;
	play_interval(&pause, 10);
	CHECK_NEAR(pause.gain, 1, 1e-9);
	play_interval(&pause, 30);
	CHECK_NEAR(pause.gain, 0.5, 1e-9);
	play_interval(&pause, 12);
	CHECK_NEAR(pause.gain, 0.5 * 10 / 12, 1e-9);
	play_interval(&pause, 5);
	CHECK_NEAR(pause.gain, 10. / 12, 1e-9);
}

TEST(paused_sites_are_off_until_their_gate_opens)
{
	scene_play(play_paused);
}

/* ---- estimates --------------------------------------------------------- */

/* Ten calls of 1 us, as if 30 more were counted only, and 60 were missed. */
static void measure_in_part(void)
{
	struct tr_site *site;

	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 10; i++) {
		TARE_SCOPE_SITE(&hot);
		scene_pass_ns(1000);
	}
	site = tr_site_at(hot.id);
	site->worst = site->level = TR_LEVEL_PAUSED | TR_LEVEL_COUNTED;
	site->missed = 60;
	tr_node_at(tr_this_thread(),
		   tr_this_thread()->own_track->nodes)->untimed = 30;
}

static void play_estimates(void)
{
	const tare_stats *rows, *row;
	tare_view *view;
	double total;
	size_t n;

	measure_in_part();
	scene_pass_ns(1000000);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "hot");
	if (CHECK(row)) {
		CHECK(row->is_estimate);
		CHECK_INT(row->count, 100);
		CHECK_INT(row->missed, 60);
		CHECK_INT(row->timed, 10);
		total = row->mean * 100;
		CHECK_NEAR(row->total / total, 1, 1e-9);
		CHECK_NEAR(row->own / total, 1, 1e-9);
	}
	CHECK_INT(node_named(view, "hot")->calls, 100);
	CHECK(node_named(view, "hot")->is_estimate);
	CHECK_INT(tare_view_health(view)->missed, 60);
	CHECK_INT(tare_view_health(view)->governed_ever, 1);
	tare_view_close(view);
}

TEST(totals_of_what_was_measured_in_part_are_of_all_calls)
{
	scene_play(play_estimates);
}

static void play_cap(void)
{
	const tare_run *run;
	tare_view *view;

	measure_in_part();
	view = scene_view();
	run = tare_view_run(view);
	/* A hundred times 1 us in a run of ten. */
	CHECK(node_named(view, "hot")->total_ns <=
	      (double)(run->end_ns - run->start_ns) + 1);
	tare_view_close(view);
}

TEST(an_estimate_is_no_longer_than_the_run)
{
	scene_play(play_cap);
}
