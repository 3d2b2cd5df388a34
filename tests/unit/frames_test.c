/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks by name: frames, functions, the report about them and the picture.
 */
#include "check.h"
#include "scene.h"

#include "profile_rows.h"
#include "base/text.h"
#include "read/view.h"

#include <tare/control.h>
#include <tare/read/export.h>
#include <tare/read/judge.h>
#include <tare/read/profile.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

/*
 * Addresses name themselves: 0x1fii is function f at line ii. Those of
 * function 9 are of 8, inlined into 9.
 */
static size_t namer(void *arg, const tare_module *module, uint64_t address,
		    tare_place *places, size_t most)
{
	static const char *const name[] = { "main", "work", "fib", "a<b>&\"c\"",
					    "main", "x",    "y",   "z",
					    "inner", "outer" };
	uint32_t function = (uint32_t)(address >> 8 & 15) % 10;
	uint32_t line = (uint32_t)(address & 255);
	size_t n = 0;

	(void)arg;
	(void)module;
	CHECK(most >= 2);
	if (function == 9)
		places[n++] = (tare_place){ name[8], "inner.h", line, 80,
					    true };
	places[n++] = (tare_place){ name[function], "file.c", line,
				    10 * function, false };
	return n;
}

static uint32_t module;

static uint32_t at(uint32_t parent, unsigned function, unsigned line)
{
	return rows_stack(parent, 0x1000 + function * 256 + line, module,
			  true);
}

static void start_rows(void)
{
	CHECK_INT(tare_option_set(ROWS_ROOM), 0);
	scene_start(NULL);
	rows_alone();
}

static void begin_program(enum tr_sampling_clock clock)
{
	rows_begin(clock, 100);
	module = rows_module("/bin/program", 0x1000, 0x9000, 0);
}

/*
 *	main:1 > work:1 (10)	main:2 > work:2 (20) > outer:3/inner (30)
 *	main:1 > fib:1 (1) > fib:2 (2) > fib:2 (4)
 */
static void write_stacks(void)
{
	uint32_t first, second, fib;

	begin_program(TR_SAMPLING_CPU);
	first = at(TR_STACK_WHOLE, 0, 1);
	second = at(TR_STACK_WHOLE, 0, 2);
	rows_count(at(first, 1, 1), 10, 10 * MS);
	rows_count(second = at(second, 1, 2), 20, 20 * MS);
	rows_count(at(second, 9, 3), 30, 30 * MS);
	rows_count(fib = at(first, 2, 1), 1, MS);
	rows_count(fib = at(fib, 2, 2), 2, 2 * MS);
	rows_count(at(fib, 2, 2), 4, 4 * MS);
}

static tare_view *named_view(void)
{
	tare_view *view = scene_view();

	tare_view_name_with(view, namer, NULL);
	return view;
}

static tare_view *view_of_stacks(void)
{
	start_rows();
	write_stacks();
	return named_view();
}

/* NULL: they are not that many. */
static const tare_frame *frames_of(tare_view *view, size_t wanted)
{
	const tare_frame *frames = NULL;
	size_t n = 0;

	CHECK_INT(tare_view_frames(view, TARE_FRAMES_SAMPLES, &frames, &n), 0);
	return CHECK_INT(n, wanted) ? frames : NULL;
}

static void check_frame(const tare_frame *f, const char *name, uint32_t depth,
			uint64_t samples, uint64_t all)
{
	CHECK_STR(f->function, name);
	CHECK_INT(f->depth, depth);
	CHECK_INT(f->samples, samples);
	CHECK_INT(f->all_samples, all);
	CHECK_NEAR(f->all_weight, (double)(all * MS), 1e-3);
}

/* ---- tare's own frames ------------------------------------------------- */

/*
 *	main:1 > (ours) > work:1 (10) > (ours) (2) > (ours) > (ours) (3)
 *	main:1 > (ours) (5)
 */
static void write_own_stacks(void)
{
	uint32_t own, first, second, at_work;

	begin_program(TR_SAMPLING_CPU);
	own = rows_module("/usr/lib/tare/libtare-preload.so", 0x10000, 0x20000,
			  0);
	first = at(TR_STACK_WHOLE, 0, 1);
	rows_count(rows_stack(first, 0x10010, own, true), 5, 5 * MS);
	second = rows_stack(first, 0x10020, own, true);
	second = at(second, 1, 1);
	rows_count(second, 10, 10 * MS);
	at_work = rows_stack(second, 0x10030, own, true);
	rows_count(at_work, 2, 2 * MS);
	at_work = rows_stack(at_work, 0x10040, own, true);
	rows_count(rows_stack(at_work, 0x10050, own, true), 3, 3 * MS);
}

/* Half of the samples are in tare's code, and no call says so. */
static void check_own_cost(tare_view *view)
{
	const tare_health *h = tare_view_health(view);
	double cpu = tare_view_sampling(view)->cpu_ns;

	CHECK_NEAR(h->measuring_samples_ns, cpu / 2, 1e-3);
	CHECK_NEAR(h->measuring_calls_ns, 0, 1e-3);
	CHECK_STR(h->measuring_by, "samples");
	CHECK_NEAR(h->measuring_ns, h->monitor_ns + h->sampling_ns + cpu / 2,
		   1e-3);
	CHECK(h->measuring_low_ns < h->measuring_ns * 0.8 &&
	      h->measuring_low_ns > 0 &&
	      h->measuring_high_ns > h->measuring_ns * 1.2);
}

static void play_own(void)
{
	tare_amdahl_options samples = { .struct_size = sizeof(samples),
					.of = TARE_PARTS_SAMPLES };
	tare_amdahl *amdahl;
	const tare_function *functions;
	const tare_frame *f;
	tare_view *view;
	size_t n = 0;

	start_rows();
	write_own_stacks();
	tr_ledger->header->cpu_user_ns = 20 * MS;
	view = named_view();
	check_own_cost(view);
	f = frames_of(view, 5);
	if (f) {
		check_frame(&f[1], "main", 1, 0, 20);
		check_frame(&f[2], "work", 2, 10, 15);
		check_frame(&f[3], "[measuring]", 3, 5, 5);
		check_frame(&f[4], "[measuring]", 2, 5, 5);
	}
	CHECK_INT(tare_view_functions(view, &functions, &n), 0);
	if (CHECK_INT(n, 3))
		CHECK_STR(functions[1].function, "[measuring]");
	if (CHECK_INT(tare_amdahl_open(view, &samples, &amdahl), 0)) {
		CHECK_INT(amdahl->n_parts, 2);
		CHECK_NEAR(amdahl->whole_ns, 10.0 * MS, 1e-3);
		tare_amdahl_close(amdahl);
	}
	tare_view_close(view);
}

TEST(frames_of_tare_are_passed_over_or_one_cost)
{
	scene_play(play_own);
}

/* ---- frames ------------------------------------------------------------ */

static void play_frames(void)
{
	const tare_frame *f;
	tare_view *view;

	view = view_of_stacks();
	f = frames_of(view, 8);
	if (!f)
		return;
	check_frame(&f[0], "all", 0, 0, 67);
	CHECK_INT(f[0].parent, UINT32_MAX);
	check_frame(&f[1], "main", 1, 0, 67);
	check_frame(&f[2], "work", 2, 30, 60);
	CHECK_INT(f[2].parent, 1);
	check_frame(&f[3], "outer", 3, 0, 30);
	check_frame(&f[4], "inner", 4, 30, 30);
	CHECK(f[4].is_inlined && !f[3].is_inlined);
	CHECK_INT(f[4].first_line, 80);
	check_frame(&f[5], "fib", 2, 1, 7);
	check_frame(&f[6], "fib", 3, 2, 6);
	check_frame(&f[7], "fib", 4, 4, 4);
	CHECK_INT(f[7].parent, 6);
	CHECK_STR(f[7].module, "program");
	tare_view_close(view);
}

TEST(addresses_of_a_function_below_a_caller_are_one_frame)
{
	scene_play(play_frames);
}

static void play_kinds(void)
{
	const tare_frame *f;
	tare_view *view;

	start_rows();
	begin_program(TR_SAMPLING_CPU);
	rows_count(at(TR_STACK_CUT, 1, 1), 5, 5 * MS);
	rows_count(TR_STACK_LOST, 2, 2 * MS);
	/* The same name at another place is another function. */
	rows_count(at(TR_STACK_WHOLE, 0, 1), 4, 4 * MS);
	rows_count(at(TR_STACK_WHOLE, 4, 1), 3, 3 * MS);
	view = named_view();
	f = frames_of(view, 6);
	if (!f)
		return;
	CHECK_INT(f[1].kind, TARE_STACK_CUT);
	check_frame(&f[1], "[stacks cut short]", 1, 0, 5);
	check_frame(&f[2], "work", 2, 5, 5);
	check_frame(&f[3], "main", 1, 4, 4);
	check_frame(&f[4], "main", 1, 3, 3);
	CHECK_INT(f[5].kind, TARE_STACK_LOST);
	check_frame(&f[5], "[stacks lost]", 1, 2, 2);
	tare_view_close(view);
}

TEST(stacks_that_are_cut_or_lost_are_told_apart)
{
	scene_play(play_kinds);
}

static void play_calls(void)
{
	const tare_frame *f;
	tare_view *view;
	size_t n = 0;

	scene_clock();
	start_rows();
	for (int i = 0; i < 3; i++) {
		TARE_SCOPE("above");
		scene_pass_ns(1000000);
		TARE_SCOPE("below");
		scene_pass_ns(3000000);
	}
	view = scene_view();
	CHECK_INT(tare_view_frames(view, TARE_FRAMES_CALLS, &f, &n), 0);
	if (!CHECK_INT(n, 3))
		return;
	CHECK_STR(f[1].function, "above");
	CHECK_STR(f[2].function, "below");
	CHECK_INT(f[2].samples, 3);
	CHECK_NEAR(f[2].weight, 9e6, 1e4);
	CHECK_NEAR(f[0].all_weight, 12e6, 1e4);
	CHECK_INT(tare_view_frames(view, (enum tare_frames_from)77, &f, &n),
		  TARE_EINVAL);
	tare_view_close(view);
}

TEST(the_call_tree_makes_frames_too)
{
	scene_play(play_calls);
}

/* ---- functions --------------------------------------------------------- */

static void play_functions(void)
{
	const tare_function *f;
	tare_view *view;
	size_t n = 0;

	view = view_of_stacks();
	CHECK_INT(tare_view_functions(view, &f, &n), 0);
	if (!CHECK_INT(n, 5))
		return;
	/* Own 30 both; work has more in all. */
	CHECK_STR(f[0].function, "work");
	CHECK_INT(f[0].samples, 30);
	CHECK_INT(f[0].all_samples, 60);
	CHECK_INT(f[0].line, 2); /* 20 there, 10 in line 1 */
	CHECK_INT(f[0].first_line, 10);
	CHECK_STR(f[1].function, "inner");
	CHECK_STR(f[1].file, "inner.h");
	CHECK_INT(f[1].line, 3);
	CHECK_STR(f[2].function, "fib");
	CHECK_INT(f[2].samples, 7);
	CHECK_INT(f[2].all_samples, 7); /* recursion counts once */
	CHECK_INT(f[2].line, 2);
	CHECK_STR(f[3].function, "main");
	CHECK_INT(f[3].all_samples, 67);
	CHECK_STR(f[4].function, "outer");
	CHECK_INT(f[4].all_samples, 30);
	tare_view_close(view);
}

TEST(functions_have_own_and_total_and_recursion_counts_once)
{
	scene_play(play_functions);
}

/* ---- the report -------------------------------------------------------- */

static int append(void *arg, const char *text, size_t len)
{
	tr_buf_add(arg, text, len);
	return 0;
}

static bool in_order(const char *text, const char *const *words)
{
	for (; *words; words++) {
		text = strstr(text, *words);
		if (!text)
			return false;
	}
	return true;
}

static void check_options(tare_view *view, tare_report_options how,
			  const char *const *words)
{
	struct tr_buf buf = TR_BUF_INIT;

	CHECK_INT(tare_view_report(view, &how, append, &buf), 0);
	if (!CHECK(buf.data && in_order(buf.data, words)))
		printf("# %s:\n%s\n", how.sort ? how.sort : "", buf.data);
	tr_buf_release(&buf);
}

static void check_report(tare_view *view, const char *sort, size_t top,
			 const char *const *words)
{
	tare_report_options how = { .struct_size = sizeof(how),
				    .parts = TARE_REPORT_PROFILE,
				    .sort = sort, .top = top, .width = 120 };

	check_options(view, how, words);
}

static void play_tree(void)
{
	static const char *const words[] = {
		"sampled call tree", " 100.0 %", "67 ms", "0.0 %", "67",
		"  main  file.c", "  89.6 %", "60 ms", "44.8 %", "60",
		"   work  file.c:10", "    outer", "     inner", "   fib",
		"    fib", "... and 1 more paths: recursion", NULL
	};
	tare_report_options how = { .struct_size = sizeof(how),
				    .parts = TARE_REPORT_FRAMES };
	struct tr_buf buf = TR_BUF_INIT;
	tare_view *view;

	view = view_of_stacks();
	CHECK_INT(tare_view_report(view, &how, append, &buf), 0);
	if (!CHECK(buf.data && in_order(buf.data, words)))
		printf("# %s\n", buf.data);
	buf.len = 0;
	CHECK_INT(tare_view_json(view, &how, append, &buf), 0);
	CHECK(strstr(buf.data, "\"frames\":[{\"depth\":0,"
			       "\"function\":\"main\""));
	CHECK(strstr(buf.data, "{\"depth\":3,\"function\":\"fib\""));
	tr_buf_release(&buf);
	tare_view_close(view);
}

TEST(sampled_stacks_are_a_tree)
{
	scene_play(play_tree);
}

static void play_report(void)
{
	static const char *const own[] = {
		"sampling  cpu timer, asked 100.0 Hz, got 1000.0 Hz, "
		"67 samples of 1 thread, 100.0 % of stacks complete, 67 ms "
		"of 70 ms CPU; sampling took 2 ms",
		"few samples: a share of 50 % is uncertain",
		"\xc2\xb1 12 points", "functions", " 44.8 %   33-57", "30 ms",
		" 89.6 %", "60 ms", "30", "work", "file.c:2", "program",
		"outer", "file.c:3", "fib",
		"... and 1 more that only called others", NULL
	};
	static const char *const inlined[] = {
		"work", "file.c:2", "inner", "inner.h:3", "(inlined)", "fib",
		"... and 2 more that only called others", NULL
	};
	static const char *const total[] = { "  main", "  work", "  outer",
					     "  fib", NULL };
	static const char *const two[] = { "  work", "  outer",
					   "... and 2 more with  10.4 %",
					   NULL };
	static const char *const other[] = {
		"functions\n",
		"by own time: sampled functions have no order by calls\n",
		"  work", "  outer", "  fib", NULL
	};
	const tare_report_options unfolded = {
		.struct_size = sizeof(unfolded),
		.parts = TARE_REPORT_PROFILE,
		.inlined = true,
		.width = 120,
	};
	tare_view *view;

	start_rows();
	write_stacks();
	tr_ledger->header->cpu_user_ns = 70 * MS;
	tr_ledger->header->sampling.cost_ns = 2 * MS;
	view = named_view();
	CHECK_NEAR(tare_view_health(view)->measuring_ns, 2.0 * MS, 1e-3);
	CHECK_NEAR(tare_view_health(view)->measuring_share, 2. / 70, 1e-9);
	CHECK_STR(tare_view_health(view)->measuring_by, "calibration");
	check_options(view, unfolded, inlined);
	check_report(view, NULL, 0, own);
	check_report(view, "own", 0, own);
	check_report(view, "samples", 0, own);
	check_report(view, "total", 0, total);
	check_report(view, "calls", 0, other);
	check_report(view, NULL, 2, two);
	tare_view_close(view);
}

static void play_no_sample(void)
{
	static const char *const words[] = {
		"sampling  cpu timer, asked 100.0 Hz, no sample in 3 ms CPU\n",
		NULL
	};
	tare_view *view;

	start_rows();
	rows_begin(TR_SAMPLING_CPU, 100);
	tr_ledger->header->cpu_user_ns = 3 * MS;
	view = named_view();
	check_report(view, NULL, 0, words);
	tare_view_close(view);
}

TEST(a_program_too_short_for_a_sample_is_told_so)
{
	scene_play(play_no_sample);
}

TEST(the_report_has_a_table_of_functions)
{
	scene_play(play_report);
}

static void play_warnings(void)
{
	static const char *const words[] = {
		"wall timer", "36.4 % of stacks complete",
		"63.6 % of stacks are incomplete",
		"3 samples had no room in the table of stacks (max_stacks)",
		"2 threads could not be sampled", NULL
	};
	tare_view *view;

	start_rows();
	begin_program(TR_SAMPLING_WALL);
	rows_count(at(TR_STACK_WHOLE, 0, 1), 4, 4 * MS);
	rows_count(at(TR_STACK_CUT, 0, 1), 7, 4 * MS);
	tr_ledger->header->sampling.lost = 3;
	tr_ledger->header->sampling.unfollowed = 2;
	view = named_view();
	check_report(view, NULL, 0, words);
	tare_view_close(view);
}

TEST(what_makes_a_profile_uncertain_is_told)
{
	scene_play(play_warnings);
}

/* ---- the picture ------------------------------------------------------- */

static int picture(tare_view *view, const tare_flame_options *how,
		   struct tr_buf *buf)
{
	buf->len = 0;
	return tare_export_flame(view, how, append, buf);
}

static void play_flame(void)
{
	tare_flame_options how = { .struct_size = sizeof(how) };
	struct tr_buf buf = TR_BUF_INIT;
	tare_view *view;

	start_rows();
	view = scene_view();
	CHECK_INT(picture(view, &how, &buf), TARE_ENOENT);
	tare_view_close(view);
	write_stacks();
	rows_count(at(TR_STACK_WHOLE, 3, 1), 33, 33 * MS);
	view = named_view();
	CHECK_INT(picture(view, NULL, &buf), 0);
	CHECK(strstr(buf.data, "<title>work\n60 %, 60 ms, 60 samples\n"
			       "own 30 %, 30 ms, 30 samples\nfile.c:10\n"
			       "program</title><rect x=\"0%\" y=\"36\" "
			       "width=\"60%\""));
	CHECK(strstr(buf.data, "<title>a&lt;b&gt;&amp;&quot;c&quot;\n"));
	CHECK(!strstr(buf.data, "a<b>"));
	how.is_icicle = true;
	CHECK_INT(picture(view, &how, &buf), 0);
	CHECK(strstr(buf.data, "<rect x=\"0%\" y=\"0\" width=\"100%\""));
	how.least = .5;
	CHECK_INT(picture(view, &how, &buf), 0);
	CHECK(strstr(buf.data, "<title>work\n"));
	CHECK(!strstr(buf.data, "<title>fib\n"));
	how.least = 1;
	CHECK_INT(picture(view, &how, &buf), TARE_EINVAL);
	how.least = 0;
	how.struct_size--;
	CHECK_INT(picture(view, &how, &buf), TARE_EINVAL);
	tr_buf_release(&buf);
	tare_view_close(view);
}

TEST(a_flame_graph_has_a_box_a_frame)
{
	scene_play(play_flame);
}

/* The class of the first box with this title. */
static const char *class_of(const char *svg, const char *title)
{
	static char text[8];
	const char *at = strstr(svg, title);

	at = at ? strstr(at, "class=\"") : NULL;
	(void)snprintf(text, sizeof(text), "%.2s", at ? at + 7 : "");
	return text;
}

static unsigned count_of(const char *text, const char *what)
{
	unsigned n = 0;

	while ((text = strstr(text, what))) {
		text++;
		n++;
	}
	return n;
}

/* Only x is slower: the rest has the colour of what is the same. */
static void play_slower(void)
{
	tare_flame_options how = { .struct_size = sizeof(how) };
	struct tr_buf buf = TR_BUF_INIT;
	tare_view *now;
	uint32_t rest;

	start_rows();
	write_stacks();
	rest = at(TR_STACK_WHOLE, 5, 1);
	rows_count(rest, 40, 40 * MS);
	how.before = named_view();
	rows_count(rest, 80, 80 * MS);
	now = named_view();
	CHECK_INT(picture(now, &how, &buf), 0);
	CHECK(strstr(buf.data, "<title>x\n64.17 %, 120 ms, 120 samples\n"));
	CHECK(strstr(buf.data, "\nbefore 37.38 %, 40 ms, 40 samples\n"
			       "+80 ms\n"));
	CHECK_STR(class_of(buf.data, "<title>x\n"), "r8");
	CHECK_INT(count_of(buf.data, "class=\"b8"), 1); /* the key */
	CHECK_INT(count_of(buf.data, "class=\"r8\""), 2); /* and the key */
	tr_buf_release(&buf);
	tare_view_close(now);
	tare_view_close(how.before);
}

TEST(what_takes_the_same_time_in_two_runs_is_grey)
{
	scene_play(play_slower);
}

/* Twice the work and the same fib: shares, not times, are compared. */
static void play_diff(void)
{
	tare_flame_options how = { .struct_size = sizeof(how) };
	struct tr_buf buf = TR_BUF_INIT;
	tare_view *now;

	start_rows();
	write_stacks();
	how.before = named_view();
	rows_count(at(TR_STACK_WHOLE, 5, 1), 67, 67 * MS);
	now = named_view();
	how.is_by_share = true;
	CHECK_INT(picture(now, &how, &buf), 0);
	CHECK(strstr(buf.data, "<title>x\n50 %, 67 ms, 67 samples\n"
			       "own 50 %, 67 ms, 67 samples\n"
			       "before 0 %, 0 ns, 0 samples\n+50 points\n"));
	CHECK(strstr(buf.data, "before 100 %, 67 ms, 67 samples\n"
			       "-50 points"));
	CHECK(strstr(buf.data, "class=\"r8\"") &&
	      strstr(buf.data, "class=\"b8\""));
	tr_buf_release(&buf);
	tare_view_close(now);
	tare_view_close(how.before);
}

TEST(two_runs_are_compared_by_their_shares)
{
	scene_play(play_diff);
}

/* Wide, deep, and small however many stacks there are. */
static void play_large(void)
{
	struct tr_buf buf = TR_BUF_INIT;
	uint32_t deep = TR_STACK_WHOLE;
	tare_view *view;

	start_rows();
	rows_begin(TR_SAMPLING_CPU, 100);
	module = rows_module("/bin/program", 0x1000, 0x10000000, 0);
	for (unsigned i = 0; i < 3000; i++)
		deep = rows_stack(deep, 0x1000 + i, module, true);
	rows_count(deep, 1000000, MS);
	for (unsigned i = 0; i < 60000; i++)
		rows_count(rows_stack(i % 3 ? deep - i % 2000 :
					      (uint32_t)TR_STACK_WHOLE,
				      0x10000 + i * 16, module, true),
			   i, i * 100);
	view = scene_view();
	CHECK_INT(picture(view, NULL, &buf), 0);
	CHECK(buf.len > 10000 && buf.len < 1500000);
	CHECK(strstr(buf.data, "</svg>\n"));
	tr_buf_release(&buf);
	tare_view_close(view);
}

TEST(a_large_profile_makes_a_moderate_picture)
{
	scene_play(play_large);
}
