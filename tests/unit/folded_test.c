/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions as a report shows them first: inlined code and runtime code folded
 * into the function that pays for it, with bounds that are true.
 */
#include "check.h"
#include "scene.h"

#include "profile_rows.h"
#include "base/text.h"
#include "read/profile.h"

#include <tare/control.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

/* 0x1f00: function f of the program; 0x20f00: of libc; 0x30f00: of libm. */
static size_t namer(void *arg, const tare_module *module, uint64_t address,
		    tare_place *places, size_t most)
{
	static const char *const own[] = { "_start", "main", "app::guard",
					   "void std::sort<int>(int*)", "less",
					   "outer" };
	static const char *const libc[] = { "__libc_start_main_impl",
					    "qsort", "msort", "__libc_write",
					    "malloc", "_int_malloc" };
	uint32_t f = (uint32_t)(address >> 8 & 15) % 6;

	(void)arg;
	CHECK(most >= 2);
	if (strcmp(module->name, "libm.so.6") == 0)
		places[0] = (tare_place){ "__sin_fma", "", 0, 0, false };
	else if (strcmp(module->name, "libc.so.6") == 0)
		places[0] = (tare_place){ libc[f], "", 0, 0, false };
	else if (f != 5)
		places[0] = (tare_place){ own[f], "file.cc", 1, 1, false };
	else
		places[0] = (tare_place){ "_M_data()", "string.h", 9, 9, true };
	if (f != 5 || strcmp(module->name, "program") != 0)
		return 1;
	places[1] = (tare_place){ "outer", "file.cc", 5, 5, false };
	return 2;
}

static uint32_t program, libc, libm;

static uint32_t own(uint32_t parent, unsigned function)
{
	return rows_stack(parent, 0x1000 + function * 256, program, true);
}

static uint32_t of_libc(uint32_t parent, unsigned function)
{
	return rows_stack(parent, 0x20000 + function * 256, libc, true);
}

static uint32_t begin(void)
{
	CHECK_INT(tare_option_set(ROWS_ROOM), 0);
	scene_start(NULL);
	rows_alone();
	rows_begin(TR_SAMPLING_CPU, 100);
	program = rows_module("/bin/program", 0x1000, 0x9000, 0);
	libc = rows_module("/lib/libc.so.6", 0x20000, 0x29000, 0);
	libm = rows_module("/lib/libm.so.6", 0x30000, 0x39000, 0);
	return of_libc(own(TR_STACK_WHOLE, 0), 0);
}

static tare_view *named_view(void)
{
	tare_view *view = scene_view();

	tare_view_name_with(view, namer, NULL);
	return view;
}

/* The row of a function, or of what it called; NULL: there is none. */
static const struct tr_paid *find(const struct tr_paid *rows, size_t n,
				  const char *payer, const char *called)
{
	bool is_inside = false;

	for (size_t i = 0; i < n; i++) {
		const char *name = rows[i].function.function;

		if (!rows[i].is_called)
			is_inside = strcmp(name, payer) == 0;
		if (is_inside && !called && !rows[i].is_called)
			return &rows[i];
		if (is_inside && called && rows[i].is_called &&
		    strcmp(name, called) == 0)
			return &rows[i];
	}
	return NULL;
}

static void check_paid(const struct tr_paid *rows, size_t n, const char *payer,
		       const char *called, uint64_t ms)
{
	const struct tr_paid *row = find(rows, n, payer, called);

	if (CHECK(row))
		CHECK_NEAR(row->function.weight_ns, (double)(ms * MS), 1e-3);
	else
		printf("# no row '%s' of '%s'\n", called ? called : "", payer);
}

/*
 * main > guard (1) > malloc > _int_malloc (20), guard > write > kernel (7),
 * main > sin (30), main > qsort > msort (4) > less (8) > std::sort (3),
 * main > outer/_M_data (9), _start (2): only runtime code
 */
static void write_stacks(void)
{
	uint32_t start = begin(), main_at = own(start, 1), at;

	rows_count(at = own(main_at, 2), 1, MS);
	rows_count(of_libc(of_libc(at, 4), 5), 20, 20 * MS);
	rows_count(rows_stack(of_libc(at, 3), TR_STACK_KERNEL, UINT32_MAX,
			      true),
		   7, 7 * MS);
	rows_count(rows_stack(main_at, 0x30100, libm, true), 30, 30 * MS);
	rows_count(at = of_libc(of_libc(main_at, 1), 2), 4, 4 * MS);
	rows_count(at = own(at, 4), 8, 8 * MS);
	rows_count(own(at, 3), 3, 3 * MS);
	rows_count(own(main_at, 5), 9, 9 * MS);
	rows_count(start, 2, 2 * MS);
}

static void play_paid(void)
{
	struct tr_frames frames = { 0 };
	struct tr_paid *rows = NULL;
	double sum = 0;
	size_t n = 0;
	tare_view *view;

	write_stacks();
	view = named_view();
	CHECK_INT(tr_functions_paid(view, &frames, &rows, &n), 0);
	check_paid(rows, n, "main", NULL, 34);
	check_paid(rows, n, "main", "sin", 30);
	check_paid(rows, n, "main", "qsort", 4);
	check_paid(rows, n, "app::guard", NULL, 28);
	check_paid(rows, n, "app::guard", "malloc", 20);
	check_paid(rows, n, "app::guard", "write [kernel]", 7);
	check_paid(rows, n, "less", NULL, 11);
	check_paid(rows, n, "less", "void std::sort<int>(int*)", 3);
	check_paid(rows, n, "outer", NULL, 9);
	check_paid(rows, n, "_start", NULL, 2);
	CHECK(!find(rows, n, "_M_data()", NULL));
	for (size_t i = 0; i < n; i++)
		sum += rows[i].is_called ? 0 : rows[i].function.weight_ns;
	CHECK_NEAR(sum, 84.0 * MS, 1e-3);
	if (CHECK(find(rows, n, "main", NULL)))
		CHECK_NEAR(find(rows, n, "main", NULL)->function.all_weight_ns,
			   82.0 * MS, 1e-3);
	free(rows);
	tr_frames_release(&frames);
	tare_view_close(view);
}

TEST(runtime_code_is_paid_for_by_the_function_that_calls_it)
{
	scene_play(play_paid);
}

static void play_folded(void)
{
	const tare_function *rows;
	bool is_found = false;
	tare_view *view;
	size_t n;

	write_stacks();
	view = named_view();
	CHECK_INT(tr_functions_folded(view, &rows, &n), 0);
	for (size_t i = 0; i < n; i++) {
		CHECK(strcmp(rows[i].function, "_M_data()") != 0);
		if (strcmp(rows[i].function, "outer") != 0)
			continue;
		is_found = true;
		CHECK_NEAR(rows[i].weight_ns, 9.0 * MS, 1e-3);
		CHECK_STR(rows[i].file, "file.cc");
	}
	CHECK(is_found);
	tare_view_close(view);
}

TEST(inlined_functions_are_the_function_that_contains_them)
{
	scene_play(play_folded);
}

/* ---- the answer -------------------------------------------------------- */

static int append(void *arg, const char *text, size_t len)
{
	tr_buf_add(arg, text, len);
	return 0;
}

/* Lines of a text, and whether all fit in that many columns. */
static size_t lines_within(const char *text, size_t width)
{
	size_t n = 0;

	while (*text) {
		char line[1024];
		size_t len = strcspn(text, "\n");

		(void)snprintf(line, sizeof(line), "%.*s", (int)len, text);
		CHECK(tr_text_columns(line) <= width);
		text += len + (text[len] == '\n');
		n++;
	}
	return n;
}

static void play_answer(void)
{
	static const char *const words[] = {
		"tare  ", " wall", "hottest paths", "main", "sin", "app::guard",
		"functions", "main", "sin", "app::guard", "malloc",
		"write [kernel]", "measuring", "more       tare report", NULL
	};
	tare_report_options how = { .struct_size = sizeof(how), .width = 90 };
	struct tr_buf buf = TR_BUF_INIT;
	tare_view *view;
	const char *at;

	write_stacks();
	view = named_view();
	CHECK_INT(tare_view_report(view, &how, append, &buf), 0);
	at = buf.data;
	for (size_t i = 0; words[i] && at; i++) {
		at = strstr(at, words[i]);
		if (!CHECK(at))
			printf("# no '%s' in\n%s\n", words[i], buf.data);
	}
	CHECK(lines_within(buf.data, 110) <= 45);
	CHECK(!strstr(buf.data, "_M_data"));
	CHECK(!strstr(buf.data, "\033"));
	buf.len = 0;
	how.color = true;
	how.width = 120;
	CHECK_INT(tare_view_report(view, &how, append, &buf), 0);
	CHECK(strstr(buf.data, "\u2588"));
	tr_buf_release(&buf);
	tare_view_close(view);
}

TEST(the_answer_is_short_and_has_what_the_program_pays_for)
{
	scene_play(play_answer);
}

/*
 * cut > malloc > kernel (40), main > write > kernel (20), main (10), cut (30):
 * no function pays for the first, and 100 ms are the whole.
 */
static void play_cut(void)
{
	tare_report_options how = { .struct_size = sizeof(how), .width = 90 };
	struct tr_buf buf = TR_BUF_INIT;
	struct tr_frames frames = { 0 };
	struct tr_paid *rows = NULL;
	uint32_t main_at = own(begin(), 1);
	const char *table;
	tare_view *view;
	size_t n = 0;

	rows_count(rows_stack(of_libc(TR_STACK_CUT, 4), TR_STACK_KERNEL,
			      UINT32_MAX, true),
		   40, 40 * MS);
	rows_count(rows_stack(of_libc(main_at, 3), TR_STACK_KERNEL, UINT32_MAX,
			      true),
		   20, 20 * MS);
	rows_count(main_at, 10, 10 * MS);
	rows_count(TR_STACK_CUT, 30, 30 * MS);
	view = named_view();
	CHECK_INT(tr_functions_paid(view, &frames, &rows, &n), 0);
	check_paid(rows, n, "malloc [kernel]", NULL, 40);
	check_paid(rows, n, "main", NULL, 30);
	check_paid(rows, n, "main", "write [kernel]", 20);
	CHECK_INT(n, 3);
	CHECK_INT(tare_view_report(view, &how, append, &buf), 0);
	table = strstr(buf.data, "\nfunctions\n");
	if (!CHECK(table && strstr(table, "\n  40.0 % ") &&
		   strstr(table, "\n  30.0 % ") &&
		   strstr(table, "\n  20.0 % ")))
		printf("# %s\n", buf.data);
	tr_buf_release(&buf);
	free(rows);
	tr_frames_release(&frames);
	tare_view_close(view);
}

TEST(shares_are_of_all_samples_also_those_of_stacks_cut_short)
{
	scene_play(play_cut);
}

/* ---- uncertainty ------------------------------------------------------- */

/* Two samples of 1 ms, and one that stands for 34 ms. */
static void play_weights(void)
{
	uint32_t start = begin(), at;
	tare_view *view;
	double n;

	rows_count(at = own(start, 1), 1, 34 * MS);
	rows_stack_at(at)->square_us2 = UINT64_C(34000) * 34000;
	rows_count(at = own(start, 2), 2, 2 * MS);
	rows_stack_at(at)->square_us2 = UINT64_C(1000) * 1000 * 2;
	view = named_view();
	n = tr_samples_effective(view);
	CHECK_NEAR(n, 36. * 36 / (34 * 34 + 2), 1e-9);
	CHECK(tr_share_interval(34. / 36, n).low < .3);
	tare_view_close(view);
}

TEST(a_sample_that_weighs_much_makes_shares_uncertain)
{
	scene_play(play_weights);
}

TEST(bounds_of_shares_hold_for_few_samples)
{
	struct tr_interval one = tr_share_interval(1, 1);
	struct tr_interval half = tr_share_interval(.5, 100);

	CHECK_NEAR(one.low, 0.2065, 1e-3);
	CHECK_NEAR(one.high, 1, 1e-9);
	CHECK_NEAR(half.low, 0.4038, 1e-3);
	CHECK_NEAR(half.high, 0.5962, 1e-3);
	CHECK_NEAR(tr_share_interval(0, 10).high, 0.2775, 1e-3);
	CHECK_NEAR(tr_share_interval(.3, 0).high, 1, 1e-9);
	CHECK(tr_share_error(1, 1) > .2);
	CHECK_NEAR(tr_share_error(.5, 1e6), 5e-4, 1e-6);
}

/* Of 2,000 polls of 12 samples, at most 8 % are outside of their bounds. */
TEST(bounds_of_shares_hold_95_percent_of_the_time)
{
	static const double shares[] = { .1, .3, .5, .8 };

	for (size_t k = 0; k < sizeof(shares) / sizeof(shares[0]); k++) {
		unsigned outside = 0, seed = 12345 + (unsigned)k;

		for (int i = 0; i < 2000; i++) {
			struct tr_interval b;
			int hits = 0;

			for (int s = 0; s < 12; s++) {
				seed = seed * 1664525u + 1013904223u;
				hits += (double)(seed >> 8) / (1 << 24) <
					shares[k];
			}
			b = tr_share_interval(hits / 12., 12);
			outside += shares[k] < b.low || shares[k] > b.high;
		}
		CHECK(outside <= 160);
	}
}
