/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Python functions as a view has them: names, modules, lines, and rows that
 * contradict themselves. The sampler's side is tests/cli/python_test.sh.
 */
#include "check.h"
#include "scene.h"

#include "profile_rows.h"
#include "read/profile.h"
#include "read/view.h"

#include <tare/control.h>
#include <tare/read/profile.h>

#include <string.h>

#define MS UINT64_C(1000000)

static void start_rows(void)
{
	CHECK_INT(tare_option_set(ROWS_ROOM), 0);
	scene_start(NULL);
	rows_alone();
	rows_begin(TR_SAMPLING_CPU, 100);
}

/* The place of a row's instruction. */
static tare_place place_of(tare_view *view, uint32_t code, uint32_t offset)
{
	tare_place place;

	CHECK_INT(tr_profile_modules(view), 0);
	CHECK_INT(tare_view_places(view, view->profile.python_module,
				   (uint64_t)code << 32 | offset, &place, 1),
		  1);
	return place;
}

static void check_name(const char *file, const char *wanted)
{
	tare_view *view;
	uint32_t code;

	start_rows();
	code = rows_code("C.f", file, 3, 0x30b, "", 0);
	view = scene_view();
	CHECK_STR(place_of(view, code, 0).function, wanted);
	CHECK_STR(place_of(view, code, 0).file, file);
	CHECK_INT(place_of(view, code, 0).first_line, 3);
	tare_view_close(view);
}

static void play_script(void)
{
	check_name("/home/me/train.py", "train.C.f");
}

TEST(a_script_is_its_module)
{
	scene_play(play_script);
}

static void play_package(void)
{
	check_name("/app/shop/__init__.py", "shop.C.f");
}

TEST(a_package_is_the_module_of_its_init_file)
{
	scene_play(play_package);
}

static void play_installed(void)
{
	check_name("/v/lib/python3.11/site-packages/torch/nn/linear.py",
		   "torch.nn.linear.C.f");
}

TEST(installed_packages_have_their_whole_path)
{
	scene_play(play_installed);
}

static void play_library(void)
{
	check_name("/usr/lib/python3.11/json/decoder.py", "json.decoder.C.f");
}

TEST(the_standard_library_has_its_whole_path)
{
	scene_play(play_library);
}

static void play_frozen(void)
{
	check_name("<frozen importlib._bootstrap>", "importlib._bootstrap.C.f");
}

TEST(frozen_modules_have_their_name)
{
	scene_play(play_frozen);
}

static void play_no_file(void)
{
	check_name("<string>", "<string>.C.f");
}

TEST(code_without_a_file_has_the_name_that_stands_for_one)
{
	scene_play(play_no_file);
}

/* ---- lines ------------------------------------------------------------- */

static void play_entries(void)
{
	/*
	 * From line 10: 4 bytes of the same line (short form), 2 bytes 1 line
	 * on, 4 bytes 5 lines back (no column), 2 bytes 300 lines on (long
	 * form), 2 bytes of none.
	 */
	static const uint8_t table[] = { 0x81, 0x00, 0xd8, 1, 2, 0xe9, 0x0b,
					 0xf0, 0x58, 0x09, 0, 1, 1, 0xf8 };
	static const uint32_t wanted[][2] = { { 0, 10 },  { 3, 10 },
					      { 4, 11 },  { 6, 6 },
					      { 9, 6 },	  { 10, 306 },
					      { 12, 10 }, { 500, 10 } };
	tare_view *view;
	uint32_t code;

	start_rows();
	code = rows_code("f", "/a.py", 10, 0x30b, table, sizeof(table));
	view = scene_view();
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		CHECK_INT(place_of(view, code, wanted[i][0]).line,
			  wanted[i][1]);
	tare_view_close(view);
}

TEST(lines_of_3_11_follow_every_kind_of_entry)
{
	scene_play(play_entries);
}

static void play_pairs(void)
{
	/* 4 bytes in line 20, 2 in line 22, 2 in none, 254 in line 21. */
	static const uint8_t table[] = { 4, 0, 2, 2, 2, 0x80, 254, 0xff };
	static const uint32_t wanted[][2] = { { 0, 20 }, { 3, 20 }, { 4, 22 },
					      { 6, 20 }, { 8, 21 },
					      { 261, 21 }, { 262, 20 } };
	tare_view *view;
	uint32_t code;

	start_rows();
	code = rows_code("f", "/a.py", 20, 0x30a, table, sizeof(table));
	view = scene_view();
	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		CHECK_INT(place_of(view, code, wanted[i][0]).line,
			  wanted[i][1]);
	tare_view_close(view);
}

TEST(lines_of_3_10_are_pairs)
{
	scene_play(play_pairs);
}

/* ---- stacks ------------------------------------------------------------ */

static void play_folded(void)
{
	const tare_function *functions;
	uint32_t code, own, node;
	tare_view *view;
	size_t n;

	start_rows();
	own = rows_module("/usr/bin/python3.11", 0x1000, 0x2000, 0);
	code = rows_code("f", "/a.py", 1, 0x30b, "", 0);
	node = rows_python(TR_STACK_WHOLE, code, 0);
	rows_count(node, 1, 10 * MS);
	rows_count(rows_stack(node, 0x1234, own, true), 3, 30 * MS);
	view = scene_view();
	CHECK_INT(tr_functions_folded(view, &functions, &n), 0);
	CHECK_INT(n, 1);
	CHECK_STR(functions[0].function, "a.f");
	CHECK_STR(functions[0].module, TR_PYTHON_MODULE);
	CHECK_INT(functions[0].samples, 4);
	tare_view_close(view);
}

TEST(the_interpreters_own_functions_count_for_the_python_function)
{
	scene_play(play_folded);
}

static void play_two_files(void)
{
	const tare_function *functions;
	uint32_t one, other;
	tare_view *view;
	size_t n;

	start_rows();
	one = rows_code("f", "/one/a.py", 1, 0x30b, "", 0);
	other = rows_code("f", "/other/a.py", 1, 0x30b, "", 0);
	rows_count(rows_python(TR_STACK_WHOLE, one, 0), 1, MS);
	rows_count(rows_python(TR_STACK_WHOLE, other, 0), 1, MS);
	view = scene_view();
	CHECK_INT(tare_view_functions(view, &functions, &n), 0);
	CHECK_INT(n, 2);
	tare_view_close(view);
}

TEST(functions_of_two_files_with_one_name_are_two)
{
	scene_play(play_two_files);
}

/* ---- damage ------------------------------------------------------------ */

static struct tr_code_row *row_of(uint32_t code)
{
	return (void *)(tr_ledger->base +
			tr_ledger->region[TR_REGION_CODE].off +
			(uint64_t)code * TR_CODE_UNIT);
}

static void check_unknown(uint32_t code)
{
	tare_view *view;

	view = scene_view();
	CHECK_STR(place_of(view, code, 0).function, TR_UNKNOWN_NAME);
	tare_view_close(view);
}

static void play_damage(void)
{
	uint32_t code;

	start_rows();
	code = rows_code("name", "/a.py", 1, 0x30b, "abc", 3);
	check_unknown(code + 1);
	check_unknown(1u << 30);
	row_of(code)->table_bytes = 1u << 30;
	check_unknown(code);
	row_of(code)->table_bytes = 3;
	row_of(code)->name_bytes = 3; /* no NUL there */
	check_unknown(code);
	row_of(code)->name_bytes = 0xffff;
	check_unknown(code);
	row_of(code)->name_bytes = 4;
	row_of(code)->ready = 0;
	check_unknown(code);
}

TEST(rows_that_contradict_themselves_have_no_name)
{
	scene_play(play_damage);
}

static void play_no_room(void)
{
	tare_view *view;

	start_rows();
	(void)rows_code("f", "/a.py", 1, 0x30b, "", 0);
	view = scene_view();
	CHECK_STR(place_of(view, TR_CODE_OTHER, 5).function,
		  "[other Python code]");
	tare_view_close(view);
}

TEST(code_without_room_says_so)
{
	scene_play(play_no_room);
}
