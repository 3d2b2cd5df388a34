/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles as a view has them: modules, stacks, samples, names; and what a
 * damaged one may say.
 */
#include "check.h"
#include "scene.h"

#include "profile_rows.h"
#include "read/view.h"

#include <tare/control.h>
#include <tare/read/profile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MS UINT64_C(1000000)

/* ---- a profile --------------------------------------------------------- */

enum { MAIN_AT = 0x401000, WORK_AT = 0x401100, LEAF_AT = 0x401200 };

static uint32_t program, library;
static uint32_t main_node, work_node, leaf_node, other_node;

static void start_rows(const char *const *options)
{
	CHECK_INT(tare_option_set(ROWS_ROOM), 0);
	scene_start(options);
	rows_alone();
}

/*
 *	whole > main > work  (30 ms, 3) > leaf (50 ms, 5)
 *		     > other (10 ms, 1)
 *	cut > work (9 ms, 1)
 *	lost (1 ms, 1)
 */
static void write_profile(void)
{
	rows_begin(TR_SAMPLING_CPU, 100);
	program = rows_module("/opt/bin/program", 0x401000, 0x402000, 0);
	library = rows_module("/usr/lib/lib.so.1", 0x7f0000001000,
			      0x7f0000002000, 0x7f0000000000);
	main_node = rows_stack(TR_STACK_WHOLE, MAIN_AT + 5, program, false);
	other_node = rows_stack(main_node, 0x7f0000001234, library, true);
	work_node = rows_stack(main_node, WORK_AT + 5, program, false);
	leaf_node = rows_stack(work_node, LEAF_AT, program, true);
	rows_count(work_node, 3, 30 * MS);
	rows_count(leaf_node, 5, 50 * MS);
	rows_count(other_node, 1, 10 * MS);
	rows_count(rows_stack(TR_STACK_CUT, WORK_AT + 9, program, true), 1,
		   9 * MS);
	rows_count(TR_STACK_LOST, 1, MS);
}

static size_t stacks_of(tare_view *view, const tare_stack **ret)
{
	size_t n = 0;

	CHECK_INT(tare_view_stacks(view, ret, &n), 0);
	return n;
}

static const tare_stack *by_id(const tare_stack *stacks, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (stacks[i].id == id)
			return &stacks[i];
	return NULL;
}

/* ---- reading it -------------------------------------------------------- */

static void check_node(const tare_stack *s, uint32_t id, uint32_t depth,
		       uint64_t samples, uint64_t all)
{
	if (!CHECK(s != NULL))
		return;
	CHECK_INT(s->id, id);
	CHECK_INT(s->depth, depth);
	CHECK_INT(s->samples, samples);
	CHECK_INT(s->all_samples, all);
}

static void play_stacks(void)
{
	const tare_stack *s;
	tare_view *view;
	size_t n;

	start_rows(NULL);
	write_profile();
	view = scene_view();
	n = stacks_of(view, &s);
	if (!CHECK_INT(n, 8))
		return;
	check_node(&s[0], TR_STACK_WHOLE, 0, 0, 9);
	CHECK_INT(s[0].kind, TARE_STACK_WHOLE);
	CHECK_INT(s[0].parent, UINT32_MAX);
	CHECK_NEAR(s[0].all_weight_ns, 90e6, 1e-6);
	check_node(&s[1], main_node, 1, 0, 9);
	CHECK_INT(s[1].address, MAIN_AT + 4);
	/* The heavier child first, though it was made later. */
	check_node(&s[2], work_node, 2, 3, 8);
	CHECK_INT(s[2].parent, 1);
	CHECK_NEAR(s[2].weight_ns, 30e6, 1e-6);
	CHECK_NEAR(s[2].all_weight_ns, 80e6, 1e-6);
	check_node(&s[3], leaf_node, 3, 5, 5);
	CHECK_INT(s[3].parent, 2);
	CHECK_INT(s[3].address, LEAF_AT);
	check_node(&s[4], other_node, 2, 1, 1);
	CHECK_INT(s[4].parent, 1);
	CHECK_INT(s[4].module, 1);
	CHECK_INT(s[5].kind, TARE_STACK_CUT);
	CHECK_INT(s[6].module, 0);
	CHECK_INT(s[7].kind, TARE_STACK_LOST);
	CHECK_INT(s[7].samples, 1);
	CHECK_INT(tare_view_health(view)->damaged, 0);
	tare_view_close(view);
}

TEST(stacks_come_depth_first_with_the_heaviest_first)
{
	scene_play(play_stacks);
}

static void play_modules(void)
{
	static const uint8_t id[] = { 0x0f, 0xa0, 0x12 };
	const tare_module *m;
	tare_view *view;
	size_t n = 0;

	start_rows(NULL);
	write_profile();
	memcpy(rows_module_at(library)->id, id, sizeof(id));
	rows_module_at(library)->id_bytes = sizeof(id);
	rows_module_at(library)->gone = tr_ledger_ticks();
	(void)rows_module("", 0x7f0000001000, 0x7f0000002000, 0);
	view = scene_view();
	CHECK_INT(tare_view_modules(view, &m, &n), 0);
	if (!CHECK_INT(n, 3))
		return;
	CHECK_STR(m[0].path, "/opt/bin/program");
	CHECK_STR(m[0].name, "program");
	CHECK_STR(m[0].build_id, "");
	CHECK_INT(m[0].gone_ns, 0);
	CHECK_STR(m[1].build_id, "0fa012");
	CHECK_INT(m[1].bias, 0x7f0000000000);
	CHECK(m[1].gone_ns >= m[1].came_ns && m[1].came_ns > 0);
	CHECK_INT(tare_view_module_at(view, 0x401fff), 0);
	CHECK_INT(tare_view_module_at(view, 0x402000), TARE_NO_MODULE);
	CHECK_INT(tare_view_module_at(view, 0x7f0000001fff), 2);
	tare_view_close(view);
}

TEST(modules_have_their_names_and_build_ids)
{
	scene_play(play_modules);
}

static void play_sampling(void)
{
	const tare_sampling *s;
	tare_view *view;

	start_rows(NULL);
	view = scene_view();
	CHECK(!tare_view_sampling(view)->was_on);
	CHECK_STR(tare_view_sampling(view)->method, "");
	tare_view_close(view);
	write_profile();
	tr_ledger->header->cpu_user_ns = 70 * MS;
	tr_ledger->header->cpu_system_ns = 30 * MS;
	tr_ledger->header->sampling.unfollowed = 2;
	view = scene_view();
	s = tare_view_sampling(view);
	CHECK(s->was_on && !s->is_wall);
	CHECK_STR(s->method, "cpu timer");
	CHECK_INT(s->samples, 11);
	CHECK_NEAR(s->weight_ns, 100e6, 1e-6);
	CHECK_NEAR(s->got_hz, 110, 1e-6);
	CHECK_NEAR(s->asked_hz, 100, 1e-6);
	CHECK_NEAR(s->whole_share, 9 / 11., 1e-9);
	CHECK_NEAR(s->cpu_ns, 100e6, 1e-6);
	CHECK_INT(s->unfollowed, 2);
	tare_view_close(view);
	tr_ledger->header->sampling.asked_hz = __builtin_nan("");
	tr_ledger->header->sampling.clock = 77;
	view = scene_view();
	CHECK_NEAR(tare_view_sampling(view)->asked_hz, 0, 0);
	CHECK_STR(tare_view_sampling(view)->method, "");
	tare_view_close(view);
}

TEST(how_the_sampling_went_is_told)
{
	scene_play(play_sampling);
}

static void play_samples(void)
{
	const tare_sample *samples;
	const tare_stack *stacks;
	tare_view *view;
	size_t n = 0, n_stacks;

	scene_clock();
	start_rows(NULL);
	write_profile();
	TARE_SCOPE("around");
	rows_sample(7, leaf_node, tr_this_thread()->own_track->current, 4000);
	scene_pass_ns(1000);
	rows_sample(8, work_node, 0, 5000);
	rows_sample(9, 0x7fffffff, 0, 1);	/* no such stack */
	rows_sample(9, leaf_node, 0xfffffff0, 1); /* no such node */
	view = scene_view();
	n_stacks = stacks_of(view, &stacks);
	CHECK_INT(tare_view_samples(view, &samples, &n), 0);
	if (!CHECK_INT(n, 3))
		return;
	CHECK_INT(samples[0].thread, 7);
	CHECK_STR(samples[0].scope, "around");
	CHECK_NEAR(samples[0].weight_ns, 4e6, 1e-6);
	CHECK(samples[0].stack < n_stacks);
	CHECK_INT(stacks[samples[0].stack].id, leaf_node);
	CHECK_INT(samples[1].at_ns - samples[0].at_ns, 1000);
	CHECK_INT(stacks[samples[1].stack].id, work_node);
	CHECK_STR(samples[1].scope, "");
	CHECK_STR(samples[2].scope, "");
	tare_view_close(view);
}

TEST(samples_lie_on_the_timeline_of_scopes)
{
	scene_play(play_samples);
}

/* ---- names ------------------------------------------------------------- */

static int asked;

static size_t namer(void *arg, const tare_module *module, uint64_t address,
		    tare_place *places, size_t most)
{
	(void)most;
	asked++;
	CHECK_STR(arg, "arg");
	if (strcmp(module->name, "program") != 0)
		return 0;
	places[0] = (tare_place){ "inner", "in.h", 3, 2, true };
	places[1] = (tare_place){ address < WORK_AT ? "main" : "work",
				  "main.c", 10, 9, false };
	return 2;
}

static void play_names(void)
{
	char arg[] = "arg";
	tare_place place[4];
	tare_view *view;

	start_rows(NULL);
	write_profile();
	view = scene_view();
	CHECK_INT(tare_view_places(view, 1, 0x7f0000001234, place, 4), 1);
	CHECK_STR(place[0].function, "lib.so.1");
	CHECK_STR(place[0].file, "");
	CHECK_INT(tare_view_places(view, TARE_NO_MODULE, 0x1234, place, 4), 1);
	CHECK_STR(place[0].function, "[unknown]");
	CHECK_INT(tare_view_places(view, 77, 0x1234, place, 4), 1);
	CHECK_STR(place[0].function, "[unknown]");
	tare_view_name_with(view, namer, arg);
	for (int i = 0; i < 3; i++) {
		CHECK_INT(tare_view_places(view, 0, WORK_AT, place, 4), 2);
		CHECK_STR(place[1].function, "work");
		CHECK(place[0].is_inlined);
		/* The function itself, where there is room for one only. */
		CHECK_INT(tare_view_places(view, 0, WORK_AT, place, 1), 1);
		CHECK_STR(place[0].function, "work");
	}
	CHECK_INT(asked, 1);
	CHECK_INT(tare_view_places(view, 1, 0x7f0000001234, place, 4), 1);
	CHECK_STR(place[0].function, "lib.so.1");
	for (uint64_t i = 0; i < 5000; i++)
		CHECK_INT(tare_view_places(view, 0, MAIN_AT + i % 1000, place,
					   4), 2);
	CHECK_INT(asked, 1 + 1 + 999 + (MAIN_AT + 1000 <= WORK_AT));
	tare_view_name_with(view, NULL, NULL);
	CHECK_INT(tare_view_places(view, 0, WORK_AT, place, 4), 1);
	CHECK_STR(place[0].function, "program");
	tare_view_close(view);
}

TEST(a_namer_is_asked_once_an_address)
{
	scene_play(play_names);
}

/* ---- a clear ----------------------------------------------------------- */

static void play_clear(void)
{
	const tare_stack *s;
	tare_view *view;
	size_t n;

	start_rows(NULL);
	write_profile();
	CHECK_INT(tare_remote_clear((int64_t)getpid()), 0);
	view = scene_view();
	CHECK_INT(stacks_of(view, &s), 0);
	CHECK_INT(tare_view_sampling(view)->samples, 0);
	tare_view_close(view);
	rows_count(leaf_node, 2, 7 * MS);
	view = scene_view();
	n = stacks_of(view, &s);
	CHECK_INT(n, 4);
	check_node(by_id(s, n, leaf_node), leaf_node, 3, 2, 2);
	check_node(by_id(s, n, work_node), work_node, 2, 0, 2);
	CHECK_NEAR(s[0].all_weight_ns, 7e6, 1e-6);
	CHECK_NEAR(tare_view_sampling(view)->weight_ns, 7e6, 1e-6);
	CHECK_INT(tare_view_health(view)->damaged, 0);
	tare_view_close(view);
}

TEST(a_clear_takes_off_what_was_there)
{
	scene_play(play_clear);
}

/* ---- damage ------------------------------------------------------------ */

/* The view as of a finished run: nothing in it may be excused. */
static tare_view *finished_view(void)
{
	tare_view *view;

	tr_ledger->header->state = TR_STATE_FINISHED;
	tr_anchor_take(&tr_ledger->header->end, tr_ledger->counter_clock);
	view = scene_view();
	tr_ledger->header->state = TR_STATE_LIVE;
	memset(&tr_ledger->header->end, 0, sizeof(tr_ledger->header->end));
	return view;
}

static void check_damaged(uint64_t damaged, uint64_t samples)
{
	tare_view *view = finished_view();
	const tare_stack *s;
	uint64_t sum = 0;
	size_t n = stacks_of(view, &s);

	for (size_t i = 0; i < n; i++) {
		sum += s[i].samples;
		CHECK(s[i].parent == UINT32_MAX || s[i].parent < i);
	}
	CHECK_INT(sum, samples);
	CHECK_INT(tare_view_health(view)->damaged, damaged);
	tare_view_close(view);
}

static void play_damage(void)
{
	struct tr_stack *work, *leaf;

	start_rows(NULL);
	write_profile();
	work = rows_stack_at(work_node);
	leaf = rows_stack_at(leaf_node);
	check_damaged(0, 11);
	work->parent = leaf_node; /* a circle, and a parent after its child */
	check_damaged(1, 11);
	work->parent = work_node;
	check_damaged(1, 11);
	work->parent = 0xffffffff;
	check_damaged(1, 11);
	work->parent = 0;
	check_damaged(1, 11);
	work->parent = main_node;
	leaf->module = 4000;
	check_damaged(1, 11);
	leaf->module = 1;
	leaf->samples = UINT64_MAX - 3;
	check_damaged(1, 6);
	leaf->samples = 5;
	leaf->weight_ns = UINT64_MAX;
	check_damaged(1, 6);
	leaf->weight_ns = 50 * MS;
	work->flags = 0; /* its caller's row was never complete */
	check_damaged(1, 8);
	work->flags = TR_STACK_READY;
	rows_module_at(program)->id_bytes = 21;
	check_damaged(5, 11); /* it, and four stacks in it */
	rows_module_at(program)->id_bytes = 0;
	rows_module_at(program)->path = 0xfffffff8;
	check_damaged(0, 11);
	tr_ledger->header->region[TR_REGION_STACKS].used = 3;
	check_damaged(0, 0);
}

TEST(damage_is_passed_over_and_counted)
{
	scene_play(play_damage);
}

/* ---- many -------------------------------------------------------------- */

static void play_many(void)
{
	static const char *const options[] = { "max_stacks", "1100000",
					       "ledger_limit", "256M", NULL };
	enum { MANY = 1000000 };
	struct dice dice = { 0 };
	const tare_stack *s;
	tare_view *view;
	double sum = 0;
	size_t n;

	start_rows(options);
	rows_begin(TR_SAMPLING_CPU, 100);
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t below = TR_STACK_WHOLE;

		if (i >= 1000)
			below = TR_STACK_FIRST +
				(uint32_t)(dice_next(&dice) % (i / 2));
		rows_stack_at(rows_stack(below, i + 1, UINT32_MAX, true))
			->samples = 1;
	}
	view = scene_view();
	n = stacks_of(view, &s);
	CHECK_INT(n, MANY + 1);
	for (size_t i = 0; i < n; i++)
		sum += (double)s[i].samples;
	CHECK_NEAR(sum, MANY, 0);
	CHECK_INT(s[0].all_samples, MANY);
	tare_view_close(view);
}

TEST(a_million_stacks_are_read)
{
	scene_play(play_many);
}

/* One stack of a thousand frames, and a hundred thousand of one. */
static void play_shapes(void)
{
	const tare_stack *s;
	uint32_t at = TR_STACK_WHOLE;
	tare_view *view;
	size_t n;

	start_rows(NULL);
	rows_begin(TR_SAMPLING_CPU, 100);
	for (int i = 0; i < 30000; i++)
		at = rows_stack(at, 1, UINT32_MAX, true);
	rows_count(at, 1, MS);
	for (uint64_t i = 0; i < 100000; i++)
		rows_count(rows_stack(TR_STACK_CUT, i, UINT32_MAX, true), 1,
			   i + 1);
	view = scene_view();
	n = stacks_of(view, &s);
	if (CHECK_INT(n, 130002)) {
		CHECK_INT(s[0].kind, TARE_STACK_CUT);
		CHECK_NEAR(s[1].weight_ns, 100000, 0);
		CHECK_NEAR(s[2].weight_ns, 99999, 0);
		CHECK_INT(s[n - 1].depth, 30000);
	}
	tare_view_close(view);
}

TEST(deep_and_wide_trees_are_read)
{
	scene_play(play_shapes);
}
