/* SPDX-License-Identifier: Apache-2.0 */
/* What explains a difference: functions, renamed and inlined ones, the rest. */
#include "check.h"
#include "scene.h"

#include "profile_rows.h"
#include "read/judge.h"

#include <tare/control.h>

#include <math.h>
#include <string.h>

#define MS UINT64_C(1000000)

static uint32_t module;

/* Addresses name themselves: 0x1f00 is function f. */
static size_t namer(void *arg, const tare_module *place_module,
		    uint64_t address, tare_place *places, size_t most)
{
	static const char *const names[2][8] = {
		{ "main", "work", "parse_row", "helper", "noise.part.0",
		  "leaf", "other", "last" },
		{ "main", "work", "parse_line", "helper", "noise", "leaf",
		  "other", "last" },
	};
	uint32_t function = (uint32_t)(address >> 8 & 15) % 8;

	(void)place_module;
	(void)most;
	places[0] = (tare_place){ names[*(bool *)arg][function], "file.c", 1,
				  1, false };
	return 1;
}

static uint32_t at(uint32_t parent, unsigned function)
{
	return rows_stack(parent, 0x1000 + function * 256, module, true);
}

static void start(void)
{
	CHECK_INT(tare_option_set(ROWS_ROOM), 0);
	scene_start(NULL);
	rows_alone();
	rows_begin(TR_SAMPLING_CPU, 100);
	module = rows_module("/bin/program", 0x1000, 0x9000, 0);
}

static tare_view *view(bool *new_names)
{
	tare_view *found = scene_view();

	tare_view_name_with(found, namer, new_names);
	return found;
}

static struct tr_explanation explain(tare_view *old, tare_view *now)
{
	struct tr_explanation e;
	const struct tr_side a = { &old, 1, 1 }, b = { &now, 1, 1 };

	CHECK_INT(tr_explain(&a, &b, TARE_FRAMES_SAMPLES, &e), 0);
	return e;
}

static double listed(const struct tr_explanation *e)
{
	double sum = e->rest;

	for (size_t i = 0; i < e->n; i++)
		sum += e->row[i].change;
	return sum;
}

static void play_change(void)
{
	bool old_names = false, new_names = true;
	uint32_t main_row, work, noise;
	struct tr_explanation e;
	tare_view *old, *now;

	start();
	main_row = at(TR_STACK_WHOLE, 0);
	rows_count(work = at(main_row, 1), 1000, 1000 * MS);
	rows_count(at(main_row, 2), 500, 500 * MS);
	rows_count(noise = at(main_row, 4), 300, 300 * MS);
	old = view(&old_names);
	rows_count(work, 1000, 1000 * MS);
	rows_count(noise, 12, 12 * MS);
	now = view(&new_names);
	e = explain(old, now);
	if (CHECK_INT(e.n, 1)) {
		CHECK_STR(e.row[0].name, "work");
		CHECK_STR(e.row[0].file, "file.c");
		CHECK_NEAR(e.row[0].change, 1e9, 1);
	}
	/* The renamed one and the noise; ".part.0" is no other function. */
	CHECK_INT(e.n_rest, 2);
	CHECK_NEAR(e.rest, 12e6, 1);
	CHECK_NEAR(listed(&e), e.now - e.old, 1);
	CHECK_NEAR(e.error, sqrt(4612.) * 1e6, 1e6);
	tr_explanation_release(&e);
	tare_view_close(old);
	tare_view_close(now);
}

TEST(the_function_that_changed_is_listed_and_all_adds_up)
{
	CHECK(scene_play(play_change));
}

static void play_rename(void)
{
	bool old_names = false, new_names = true;
	uint32_t parse;
	struct tr_explanation e;
	tare_view *old, *now;

	start();
	rows_count(parse = at(at(TR_STACK_WHOLE, 0), 2), 1000, 1000 * MS);
	old = view(&old_names);
	rows_count(parse, 500, 500 * MS);
	now = view(&new_names);
	e = explain(old, now);
	if (CHECK_INT(e.n, 1)) {
		CHECK_STR(e.row[0].name, "parse_row -> parse_line");
		CHECK_NEAR(e.row[0].change, 5e8, 1);
	}
	tr_explanation_release(&e);
	tare_view_close(old);
	tare_view_close(now);
}

TEST(a_renamed_function_that_got_slower_has_both_names)
{
	CHECK(scene_play(play_rename));
}

TEST(names_of_two_builds_are_alike_by_what_people_wrote)
{
	CHECK_INT(tr_name_stem("f.constprop.0"), 1);
	CHECK_INT(tr_name_stem("f.isra.0.cold"), 1);
	CHECK_INT(tr_name_stem("f [clone .part.2]"), 1);
	CHECK_INT(tr_name_stem(".cold"), 5);
	CHECK_INT(tr_name_stem("f.c"), 3);
	CHECK_NEAR(tr_names_alike("parse", "parse"), 1, 1e-9);
	CHECK_NEAR(tr_names_alike("f(int)", "f(long, char)"), 1, 1e-9);
	CHECK(tr_names_alike("parse_row", "parse_line") > 0.5);
	CHECK(tr_names_alike("parse", "draw") < 0.5);
	CHECK_NEAR(tr_names_alike("", ""), 0, 1e-9);
}

static void play_nothing(void)
{
	bool names = false;
	struct tr_explanation e;
	tare_view *old;

	start();
	old = view(&names);
	e = explain(old, old);
	CHECK_INT(e.n, 0);
	CHECK(e.now == 0);
	tr_explanation_release(&e);
	tare_view_close(old);
}

TEST(sides_without_samples_have_no_rows)
{
	CHECK(scene_play(play_nothing));
}
