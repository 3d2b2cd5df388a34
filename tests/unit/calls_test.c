/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions in the call tree: paths, depth, times, exits that never come,
 * scopes.
 */
#include "letters.h"

/* ---- counts and paths -------------------------------------------------- */

static void play_paths(void)
{
	start("counts");
	run("m(abab(c)a(b)b(c(c)))");
	check_tree("m1(a3(b1)b3(c2(c1)))");
	CHECK_INT(call_of_letter('b').calls, 4);
	CHECK_INT(call_of_letter('b').timed, 0);
	CHECK_INT(health().repairs + health().stray_ends, 0);
}

TEST(calls_are_counted_on_their_paths)
{
	scene_play(play_paths);
}

static void play_many(void)
{
	start("counts");
	begin('m');
	for (int i = 0; i < 100000; i++)
		run("a(b)c");
	CHECK_INT(call_of_letter('a').calls, 100000);
	end();
	CHECK_INT(call_of_letter('b').calls, 100000);
	CHECK_INT(call_of_letter('c').calls, 100000);
	CHECK_INT(call_of_letter('m').calls, 1);
}

TEST(counts_stay_exact_when_a_node_is_judged_anew)
{
	scene_play(play_many);
}

static void play_timed(void)
{
	tare_call a, m;

	start("timed");
	run("m(a(b)a(b)a)");
	a = call_of_letter('a');
	m = call_of_letter('m');
	CHECK_INT(a.calls, 3);
	CHECK_INT(a.timed, 3);
	CHECK(a.total_ns > 0 && a.own_ns <= a.total_ns);
	CHECK(m.total_ns >= a.total_ns);
	CHECK(!a.is_estimate);
}

TEST(all_calls_have_a_time_in_mode_timed)
{
	scene_play(play_timed);
}

static void play_sparse(void)
{
	tare_call a;

	start("sparse");
	begin('m');
	for (int i = 0; i < 200000; i++)
		run("a");
	end();
	a = call_of_letter('a');
	CHECK_INT(a.calls, 200000);
	CHECK_INT(call_of_letter('m').timed, 1);
	/* One of 64 and a half, give or take five deviations. */
	CHECK(a.timed > 200000 / 64.5 * .9 && a.timed < 200000 / 64.5 * 1.1);
	CHECK(a.is_estimate);
}

TEST(short_functions_are_timed_at_one_call_of_64)
{
	scene_play(play_sparse);
}

static void play_slow(void)
{
	scene_clock();
	start("sparse");
	begin('m');
	for (int i = 0; i < 1000; i++) {
		begin('a');
		scene_pass_ns(5000);
		begin('b');
		scene_pass_ns(1000);
		end();
		end();
	}
	end();
	CHECK_INT(call_of_letter('a').timed, 1000);
	CHECK_NEAR(call_of_letter('a').own_ns, 5e6, 1);
	CHECK_NEAR(call_of_letter('a').total_ns, 6e6, 1);
	CHECK_NEAR(call_of_letter('b').own_ns, 1e6, 1);
	CHECK_NEAR(call_of_letter('m').own_ns, 0, 1);
}

TEST(long_functions_are_timed_at_each_call_and_times_add_up)
{
	scene_play(play_slow);
}

/* Each call of `b` is timed; of `a`, around it, one call in 64. */
static void play_child_of_rare(void)
{
	const tare_node *node;
	tare_view *view;
	double a = 0, b = 0;
	size_t n;

	scene_clock();
	start("sparse");
	tr_ledger->header->outside_ticks = 50;
	begin('m');
	for (int i = 0; i < 2000; i++) {
		begin('a');
		begin('b');
		scene_pass_ns(i == 1000 ? 100000000 : 5000);
		end();
		end();
	}
	end();
	view = scene_view();
	if (!view || !CHECK_INT(tare_view_tree(view, &node, &n), 0))
		return;
	for (size_t i = 0; i < n; i++) {
		if (node[i].address == (uintptr_t)code('m'))
			CHECK(!node[i].is_estimate && node[i].own_is_estimate);
		if (node[i].address == (uintptr_t)code('a'))
			a = node[i].total_ns;
		if (node[i].address == (uintptr_t)code('b'))
			b = node[i].total_ns;
	}
	CHECK(b > 1e8 && a >= b);
	tare_view_close(view);
}

TEST(an_estimate_is_not_less_than_what_was_timed_below_it)
{
	scene_play(play_child_of_rare);
}

static void play_recursion_time(void)
{
	tare_call r;

	scene_clock();
	start("timed");
	for (int i = 0; i < 5; i++)
		begin('r');
	scene_pass_ns(1000);
	for (int i = 0; i < 5; i++)
		end();
	r = call_of_letter('r');
	CHECK_INT(r.calls, 5);
	CHECK_NEAR(r.total_ns, 1000, .5);
	CHECK_NEAR(r.own_ns, 1000, .5);
}

TEST(recursion_counts_once_in_a_total)
{
	scene_play(play_recursion_time);
}

/* ---- too deep ---------------------------------------------------------- */

static void play_deep(void)
{
	const char *const options[] = { "calls", "counts", "max_depth", "8",
					NULL };

	scene_start(options);
	begin('m');
	for (int turn = 0; turn < 3; turn++) {
		for (int i = 0; i < 20; i++)
			begin('r');
		run("ab");
		for (int i = 0; i < 20; i++)
			end();
	}
	run("a");
	end();
	CHECK_INT(call_of_letter('r').calls, 60);
	CHECK_INT(call_of_letter('a').calls, 4);
	CHECK_INT(call_of_letter('b').calls, 3);
	check_tree("*0(a3b3r39)m1(a1r3(r3(r3(r3(r3(r3(r3)))))))");
	CHECK_INT(health().overflow_nodes, 3 * 15);
	CHECK_INT(health().repairs + health().stray_ends, 0);
}

TEST(calls_beyond_max_depth_are_counted_by_function)
{
	scene_play(play_deep);
}

static void play_deep_jump(void)
{
	const char *const options[] = { "calls", "counts", "max_depth", "8",
					NULL };

	scene_start(options);
	begin('m');
	for (int i = 0; i < 20; i++)
		begin('r');
	jump(1);
	run("a");
	end();
	CHECK_INT(health().repairs, 20);
	check_tree("*0(r13)m1(a1r1(r1(r1(r1(r1(r1(r1)))))))");
}

TEST(a_jump_out_of_the_depth_is_found)
{
	scene_play(play_deep_jump);
}

static void play_many_paths(void)
{
	const char *const options[] = { "calls", "counts", "max_nodes", "16",
					NULL };
	uint64_t n = 0;

	scene_start(options);
	for (char f = 'A'; f <= 'Z'; f++)
		for (char g = 'a'; g <= 'z'; g++) {
			begin(f);
			begin(g);
			end();
			end();
		}
	for (char f = 'a'; f <= 'z'; f++)
		n += CHECK_INT(call_of_letter(f).calls, 26);
	CHECK_INT(n, 26);
	CHECK_INT(health().lost, 0);
}

TEST(calls_beyond_max_nodes_are_counted_by_function)
{
	scene_play(play_many_paths);
}

/* ---- exits that never come --------------------------------------------- */

static void play_missing(void)
{
	start("timed");
	begin('m');
	begin('a');
	begin('b');
	begin('c');
	jump(2); /* to a */
	end();	 /* a's exit */
	run("d");
	end();
	check_tree("m1(a1(b1(c1))d1)");
	CHECK_INT(health().repairs, 2);
	CHECK_INT(health().stray_ends, 0);
}

TEST(an_exit_further_out_ends_what_is_inside)
{
	scene_play(play_missing);
}

static void play_left_behind(void)
{
	start("counts");
	begin('m');
	for (int i = 0; i < 100; i++) {
		begin('a');
		begin('b');
		jump(1);
		run("c");
	}
	end();
	check_tree("m1(a100(b100)c100)");
	CHECK_INT(health().repairs, 200);
}

TEST(a_call_further_out_ends_what_was_left_behind)
{
	scene_play(play_left_behind);
}

/* As after setjmp in a loop: the same function at the same place. */
static void play_again(void)
{
	start("counts");
	begin('m');
	for (int i = 0; i < 100; i++) {
		begin('a');
		jump(1);
	}
	end();
	check_tree("m1(a100)");
	CHECK_INT(health().repairs, 100);
}

TEST(the_same_call_at_the_same_place_is_not_inside_itself)
{
	scene_play(play_again);
}

static void play_other_function(void)
{
	start("counts");
	begin('m');
	for (int i = 0; i < 100; i++) {
		begin(i % 2 ? 'a' : 'b');
		jump(1);
	}
	end();
	check_tree("m1(a50b50)");
}

TEST(another_function_at_the_same_place_is_not_inside)
{
	scene_play(play_other_function);
}

static void play_inlined(void)
{
	uint64_t stack = STACK - 1024;

	start("counts");
	for (int i = 0; i < 3; i++) {
		enter_at('m', STACK - 64, '_', 20);
		/* b, c and b again in a's machine code: one frame. */
		tr_calls_enter(code('a'), code('x'), (void *)(uintptr_t)stack,
			       (char *)code('a') + 20);
		tr_calls_enter(code('b'), code('x'), (void *)(uintptr_t)stack,
			       (char *)code('a') + 90);
		tr_calls_enter(code('b'), code('x'), (void *)(uintptr_t)stack,
			       (char *)code('a') + 140);
		tr_calls_exit(code('b'), code('x'), (void *)(uintptr_t)stack);
		tr_calls_exit(code('b'), code('x'), (void *)(uintptr_t)stack);
		tr_calls_enter(code('c'), code('x'), (void *)(uintptr_t)stack,
			       (char *)code('a') + 190);
		tr_calls_exit(code('c'), code('x'), (void *)(uintptr_t)stack);
		tr_calls_exit(code('a'), code('x'), (void *)(uintptr_t)stack);
		exit_at('m', STACK - 64, '_');
	}
	check_tree("m3(a3(b3(b3)c3))");
	CHECK_INT(health().repairs + health().stray_ends, 0);
}

TEST(inlined_functions_are_inside_although_the_stack_is_the_same)
{
	scene_play(play_inlined);
}

/* Inner activations of a recursion are left by a jump to an outer one. */
static void play_recursive_jump(void)
{
	start("counts");
	begin('m');
	for (int i = 0; i < 10; i++)
		begin('r');
	jump(5);
	for (int i = 0; i < 4; i++)
		end();
	run("a");
	end();
	run("z");
	CHECK_INT(call_of_letter('r').calls, 10);
	CHECK_INT(call_of_letter('a').calls, 1);
	CHECK_INT(health().stray_ends, 0);
	/* z is outside of all. */
	check_tree("m1(a1r1(r1(r1(r1(r1(r1(r1(r1(r1(r1))))))))))z1");
}

TEST(a_jump_inside_a_recursion_leaves_the_rest_in_order)
{
	scene_play(play_recursive_jump);
}

static void play_stray(void)
{
	start("counts");
	begin('m');
	exit_at('x', STACK - 640, 'm');
	run("a");
	end();
	exit_at('y', STACK, '_');
	check_tree("m1(a1)");
	CHECK_INT(health().stray_ends, 2);
}

TEST(exits_without_an_enter_are_counted)
{
	scene_play(play_stray);
}

/* ---- with scopes ------------------------------------------------------- */

TARE_SCOPE_SITE_DEFINE(upper, "S");
TARE_SCOPE_SITE_DEFINE(lower, "T");

static void play_scopes(void)
{
	tare_scope s, t;

	start("timed");
	begin('m');
	for (int i = 0; i < 10; i++) {
		s = tare_scope_begin(&upper);
		begin('a');
		t = tare_scope_begin(&lower);
		run("b");
		tare_scope_end(t);
		end();
		run("c");
		tare_scope_end(s);
	}
	end();
	check_tree("m1(S10(a10(T10(b10))c10))");
	CHECK_INT(health().repairs + health().stray_ends, 0);
}

TEST(scopes_and_functions_are_in_one_tree)
{
	scene_play(play_scopes);
}

static void play_outlived(void)
{
	tare_scope s;

	start("timed");
	begin('m');
	for (int i = 0; i < 10; i++) {
		begin('a'); /* begins a scope for its caller */
		begin('b');
		s = tare_scope_begin(&upper);
		end();
		end();
		run("c");
		begin('e');
		tare_scope_end(s);
		end();
		run("d");
	}
	end();
	CHECK_INT(call_of_letter('a').calls, 10);
	CHECK_INT(call_of_letter('d').calls, 10);
	check_tree("m1(a10(b10(S10(c10e10)))d10)");
	CHECK_INT(health().stray_ends, 0);
	CHECK_INT(health().repairs, 0);
}

TEST(a_scope_may_outlive_the_function_that_began_it)
{
	scene_play(play_outlived);
}

static void play_scope_repairs(void)
{
	tare_scope s;

	start("counts");
	begin('m');
	s = tare_scope_begin(&upper);
	begin('a');
	begin('b');
	jump(1);
	tare_scope_end(s);
	run("c");
	end();
	check_tree("m1(S1(a1(b1))c1)");
	CHECK_INT(health().repairs, 2);
}

TEST(the_end_of_a_scope_ends_the_functions_in_it)
{
	scene_play(play_scope_repairs);
}

static void play_fiber(void)
{
	tare_fiber fiber;

	start("timed");
	begin('m');
	begin('a');
	tare_fiber_save(&fiber);
	enter_at('x', STACK - (1 << 20), '_', 20);
	exit_at('x', STACK - (1 << 20), '_');
	tare_fiber_restore(&fiber);
	run("b");
	end();
	end();
	check_tree("m1(a1(b1))x1");
	CHECK_INT(health().repairs + health().stray_ends, 0);
}

TEST(fibers_keep_their_functions)
{
	scene_play(play_fiber);
}
