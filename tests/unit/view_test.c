/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views of programs whose structure is known: call tree, own and net time,
 * filters, health. Time is the test's own, so every number is exact.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"
#include "read/stats.h"
#include "read/view.h"

#include <tare/control.h>

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static void begin(const char *const *options)
{
	scene_clock();
	scene_start(options);
}

static void work(int64_t seconds)
{
	scene_pass_ns(seconds * SECOND);
}

/* The tree's node with this path, such as "main/parse/read". */
static const tare_node *node_at(const tare_node *nodes, size_t n,
				const char *path)
{
	const char *part = path;
	uint32_t depth = 0;

	for (size_t i = 0; i < n; i++) {
		size_t len = strcspn(part, "/");

		if (nodes[i].depth < depth)
			return NULL;
		if (nodes[i].depth > depth ||
		    strncmp(nodes[i].name, part, len) != 0 ||
		    nodes[i].name[len])
			continue;
		if (!part[len])
			return &nodes[i];
		part += len + 1;
		depth++;
	}
	return NULL;
}

struct wanted {
	const char *path;
	uint64_t calls, failures, open;
	double total, own; /* seconds */
};

static void check_tree(const struct wanted *wanted, size_t n_wanted)
{
	const tare_node *nodes = NULL;
	tare_view *view = scene_view();
	size_t n = 0;

	CHECK_INT(tare_view_tree(view, &nodes, &n), 0);
	CHECK_INT(n, n_wanted);
	for (size_t i = 0; i < n_wanted; i++) {
		const tare_node *node = node_at(nodes, n, wanted[i].path);

		if (!CHECK(node)) {
			printf("# no '%s'\n", wanted[i].path);
			continue;
		}
		CHECK_INT(node->calls, wanted[i].calls);
		CHECK_INT(node->failures, wanted[i].failures);
		CHECK_INT(node->open, wanted[i].open);
		CHECK_NEAR(node->total_ns, wanted[i].total * 1e9, 1);
		CHECK_NEAR(node->own_ns, wanted[i].own * 1e9, 1);
		CHECK(node->share >= 0 && node->share <= 1);
	}
	tare_view_close(view);
}

#define CHECK_TREE(wanted) \
	check_tree((wanted), sizeof(wanted) / sizeof((wanted)[0]))

static const tare_stats *stats_of(tare_view *view, const char *name)
{
	const tare_stats *rows = NULL;
	size_t n = scene_rows(view, NULL, &rows);

	return scene_row(rows, n, name);
}

static void check_site(const char *name, uint64_t count, double total,
		       double own)
{
	tare_view *view = scene_view();
	const tare_stats *row = stats_of(view, name);

	if (CHECK(row)) {
		CHECK_INT(row->count, count);
		CHECK_NEAR(row->total, total * 1e9, 1);
		CHECK_NEAR(row->own, own * 1e9, 1);
	}
	tare_view_close(view);
}

/* ---- call tree --------------------------------------------------------- */

static void parse(void)
{
	TARE_SCOPE("parse");
	work(1);
	for (int i = 0; i < 3; i++) {
		TARE_SCOPE("read");
		work(2);
	}
}

static void play_plain_tree(void)
{
	static const struct wanted wanted[] = {
		{ "main", 2, 0, 0, 32, 4 },
		{ "main/parse", 4, 0, 0, 28, 4 },
		{ "main/parse/read", 12, 0, 0, 24, 24 },
		{ "parse", 1, 0, 0, 7, 1 },
		{ "parse/read", 3, 0, 0, 6, 6 },
	};

	begin(NULL);
	for (int i = 0; i < 2; i++) {
		TARE_SCOPE("main");
		work(2);
		parse();
		parse();
	}
	parse();
	CHECK_TREE(wanted);
	check_site("read", 15, 30, 30);
	check_site("parse", 5, 35, 5);
	check_site("main", 2, 32, 4);
}

TEST(own_time_is_what_inner_scopes_leave)
{
	scene_play(play_plain_tree);
}

static void recurse(int depth)
{
	TARE_SCOPE("recurse");
	work(1);
	if (depth > 1)
		recurse(depth - 1);
}

static void play_recursion(void)
{
	static const struct wanted wanted[] = {
		{ "recurse", 2, 0, 0, 8, 2 },
		{ "recurse/recurse", 2, 0, 0, 6, 2 },
		{ "recurse/recurse/recurse", 2, 0, 0, 4, 2 },
		{ "recurse/recurse/recurse/recurse", 2, 0, 0, 2, 2 },
	};

	begin(NULL);
	recurse(4);
	recurse(4);
	CHECK_TREE(wanted);
	/* Cumulative time once: 8 s, not 8 + 6 + 4 + 2. */
	check_site("recurse", 8, 8, 8);
}

TEST(recursion_counts_once_in_cumulative_time)
{
	scene_play(play_recursion);
}

static void ping(int depth);

static void pong(int depth)
{
	TARE_SCOPE("pong");
	work(10);
	if (depth)
		ping(depth - 1);
}

static void ping(int depth)
{
	TARE_SCOPE("ping");
	work(1);
	pong(depth);
}

static void play_mutual_recursion(void)
{
	begin(NULL);
	ping(2);
	check_site("ping", 3, 33, 3);
	check_site("pong", 3, 32, 30);
}

TEST(mutual_recursion_counts_once_in_cumulative_time)
{
	scene_play(play_mutual_recursion);
}

static void play_open_scopes(void)
{
	static const struct wanted wanted[] = {
		{ "outer", 1, 0, 1, 16, 4 },
		{ "outer/inner", 2, 0, 1, 12, 7 },
		{ "outer/inner/leaf", 1, 0, 0, 5, 5 },
	};

	begin(NULL);
	for (int i = 0; i < 2; i++) {
		TARE_SCOPE("outer");
		work(2);
		for (int k = 0; k < 2 - i; k++) {
			TARE_SCOPE("inner");
			work(1);
			if (i == 0 && k == 1) {
				TARE_SCOPE("leaf");
				work(5);
			}
			if (i == 1) {
				work(4);
				CHECK_TREE(wanted);
			}
		}
	}
}

TEST(an_open_scope_counts_with_the_time_it_has_run)
{
	scene_play(play_open_scopes);
}

static void play_failures(void)
{
	static const struct wanted wanted[] = {
		{ "load", 10, 3, 0, 10, 10 },
		{ "unmarked", 1, 0, 0, 5, 5 },
	};
	tare_view *view;
	const tare_stats *row;

	begin(NULL);
	for (int i = 0; i < 10; i++) {
		TARE_SCOPE("load");
		TARE_ITEMS(7);
		work(1);
		if (i % 4 == 1) /* 1, 5, 9 */
			TARE_FAIL("disk");
	}
	{
		TARE_SCOPE("unmarked");
		work(5);
	}
	CHECK_TREE(wanted);
	view = scene_view();
	row = stats_of(view, "load");
	if (CHECK(row)) {
		CHECK_INT(row->failures, 3);
		CHECK_INT(row->items, 70);
		CHECK_NEAR(row->items_per_s, 7, 1e-9);
	}
	row = stats_of(view, "unmarked");
	CHECK(row && row->items == 0 && row->items_per_s == 0);
	tare_view_close(view);
}

TEST(failures_and_items_belong_to_their_scope)
{
	scene_play(play_failures);
}

static void *thread_work(void *arg)
{
	(void)arg;
	parse();
	return NULL;
}

static void play_threads(void)
{
	static const struct wanted wanted[] = {
		{ "parse", 6, 0, 0, 42, 6 },
		{ "parse/read", 18, 0, 0, 36, 36 },
	};

	begin(NULL);
	parse();
	for (int i = 0; i < 5; i++) {
		pthread_t thread;

		CHECK_INT(pthread_create(&thread, NULL, thread_work, NULL),
			  0);
		CHECK_INT(pthread_join(thread, NULL), 0);
	}
	CHECK_TREE(wanted);
}

TEST(the_same_path_of_several_threads_is_one_node)
{
	scene_play(play_threads);
}

/* ---- random programs --------------------------------------------------- */

#define N_NAMES 6
#define MAX_PATHS 4096

/* What the test knows of a path; parents come before their children. */
struct path {
	unsigned site, parent;
	uint64_t calls;
	double total, inner;
};

static struct path path[MAX_PATHS];
static unsigned n_paths;
static tare_site *name[N_NAMES];

static unsigned find_path(unsigned parent, unsigned site)
{
	for (unsigned i = 1; i < n_paths; i++)
		if (path[i].parent == parent && path[i].site == site)
			return i;
	path[n_paths] = (struct path){ .site = site, .parent = parent };
	return n_paths++;
}

static void run_random(unsigned parent, int depth, struct dice *dice)
{
	unsigned site = (unsigned)(dice_next(dice) % N_NAMES);
	unsigned mine = find_path(parent, site);
	int64_t start = scene_monotonic_ns();
	tare_scope scope = tare_scope_begin(name[site]);

	scene_pass_ns((int64_t)(dice_next(dice) % 1000000));
	while (depth > 0 && dice_next(dice) % 3)
		run_random(mine, depth - 1, dice);
	tare_scope_end(scope);
	path[mine].calls++;
	path[mine].total += (double)(scene_monotonic_ns() - start);
	path[parent].inner += (double)(scene_monotonic_ns() - start);
}

static bool has_ancestor(unsigned index)
{
	for (unsigned i = path[index].parent; i; i = path[i].parent)
		if (path[i].site == path[index].site)
			return true;
	return false;
}

static void check_random_sites(tare_view *view)
{
	for (unsigned site = 0; site < N_NAMES; site++) {
		const tare_stats *row = stats_of(view, name[site]->name);
		double total = 0, own = 0;
		uint64_t calls = 0;

		for (unsigned i = 1; i < n_paths; i++) {
			if (path[i].site != site)
				continue;
			calls += path[i].calls;
			own += path[i].total - path[i].inner;
			total += has_ancestor(i) ? 0 : path[i].total;
		}
		if (!CHECK(row))
			continue;
		CHECK_INT(row->count, calls);
		CHECK_NEAR(row->total, total, 1 + total * 1e-9);
		CHECK_NEAR(row->own, own, 1 + total * 1e-9);
		CHECK(row->net_total >= 0 && row->net_total <= row->total);
		CHECK(row->net_own >= 0 && row->net_own <= row->own);
		CHECK(row->net_mean >= 0 && row->net_mean <= row->mean);
		CHECK(row->min <= row->p50 && row->p50 <= row->p90 &&
		      row->p90 <= row->p99 && row->p99 <= row->p999 &&
		      row->p999 <= row->max);
	}
}

/* Index of the model's path for each depth while going through the tree. */
static void check_random_tree(tare_view *view)
{
	const tare_node *nodes = NULL;
	unsigned at[64] = { 0 };
	size_t n = 0;

	CHECK_INT(tare_view_tree(view, &nodes, &n), 0);
	CHECK_INT(n, n_paths - 1);
	for (size_t i = 0; i < n; i++) {
		const tare_node *node = &nodes[i];
		const struct path *p;
		unsigned site = (unsigned)(node->name[0] - 'a');

		if (!CHECK(node->depth < 63 && site < N_NAMES))
			return;
		at[node->depth + 1] = find_path(at[node->depth], site);
		p = &path[at[node->depth + 1]];
		CHECK_INT(node->calls, p->calls);
		CHECK_NEAR(node->total_ns, p->total, 1 + p->total * 1e-9);
		CHECK_NEAR(node->own_ns, p->total - p->inner,
			   1 + p->total * 1e-9);
		CHECK(node->net_total_ns >= 0 &&
		      node->net_total_ns <= node->total_ns);
		CHECK(node->net_own_ns >= 0 &&
		      node->net_own_ns <= node->own_ns);
		/* Siblings by time, most first. */
		if (i > 0 && nodes[i - 1].depth == node->depth)
			CHECK(nodes[i - 1].net_total_ns >=
			      node->net_total_ns);
	}
}

static unsigned seed;
static double inside, outside;

static void play_random_program(void)
{
	struct dice dice = { seed };
	static char names[N_NAMES][2];
	tare_view *view;

	begin(NULL);
	tr_ledger->header->inside_ticks = inside;
	tr_ledger->header->outside_ticks = outside;
	n_paths = 1;
	for (unsigned i = 0; i < N_NAMES; i++) {
		names[i][0] = (char)('a' + i);
		name[i] = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME,
					names[i], NULL, NULL);
	}
	while (n_paths < 300)
		run_random(0, 7, &dice);
	view = scene_view();
	check_random_tree(view);
	check_random_sites(view);
	CHECK_INT(tare_view_health(view)->lost, 0);
	CHECK_INT(tare_view_health(view)->damaged, 0);
	tare_view_close(view);
}

TEST(random_programs_are_seen_as_they_are)
{
	for (seed = 1; seed <= 10; seed++)
		scene_play(play_random_program);
}

TEST(net_times_are_between_zero_and_raw_at_any_cost_of_a_probe)
{
	static const double cost[] = { 1, 1000, 1e5, 5e5, 1e7, 1e12 };

	for (size_t i = 0; i < sizeof(cost) / sizeof(cost[0]); i++) {
		seed = 100 + (unsigned)i;
		inside = cost[i];
		outside = cost[i] / 3;
		scene_play(play_random_program);
	}
	inside = outside = 0;
}

/* ---- filters ----------------------------------------------------------- */

static void play_filters(void)
{
	static const char *const names[] = { "read.*", "write.?" };
	static const char *const all[] = { "*" }, *const none[] = { "x" };
	static const char *const db[] = { "db", "net*" };
	static const char *const odd[] = { "[", "\\", "", "[!a-" };
	tare_filter f = { .struct_size = sizeof(f) };
	const tare_stats *rows = NULL;
	tare_view *view;

	begin(NULL);
	{
		TARE_SCOPE("read.a");
		TARE_SCOPE("read.b");
		TARE_SCOPE_IN("db", "read.c");
		TARE_SCOPE_IN("network", "write.c");
		TARE_SCOPE("write.cc");
		work(1);
	}
	TARE_COUNT("read.count", 3);
	TARE_BYTES("write.d", 100);
	TARE_PERCENT("percent", 50);
	view = scene_view();
	CHECK_INT(scene_rows(view, NULL, &rows), 8);
	CHECK_INT(scene_rows(view, &f, &rows), 8);
	f.names = names;
	f.n_names = 2;
	CHECK_INT(scene_rows(view, &f, &rows), 6);
	f.types = 1u << TARE_TYPE_TIME;
	CHECK_INT(scene_rows(view, &f, &rows), 4);
	f.types |= 1u << TARE_TYPE_MEMORY;
	CHECK_INT(scene_rows(view, &f, &rows), 5);
	f.sources = db;
	f.n_sources = 2;
	CHECK_INT(scene_rows(view, &f, &rows), 2);
	f.n_sources = 1;
	CHECK_INT(scene_rows(view, &f, &rows), 1);
	CHECK_STR(rows[0].name, "read.c");
	CHECK_STR(rows[0].source, "db");
	f.types = 1u << TARE_TYPE_COUNTER;
	CHECK_INT(scene_rows(view, &f, &rows), 0);
	f = (tare_filter){ .struct_size = sizeof(f), .names = all,
			   .n_names = 1 };
	CHECK_INT(scene_rows(view, &f, &rows), 8);
	f.names = none;
	CHECK_INT(scene_rows(view, &f, &rows), 0);
	f.names = odd;
	f.n_names = 4;
	CHECK_INT(scene_rows(view, &f, &rows), 0);
	f = (tare_filter){ .struct_size = sizeof(f),
			   .types = 1u << TARE_TYPE_PERCENTAGE };
	CHECK_INT(scene_rows(view, &f, &rows), 1);
	tare_view_close(view);
}

TEST(patterns_of_a_kind_are_alternatives_and_kinds_must_all_match)
{
	scene_play(play_filters);
}

/* ---- health ------------------------------------------------------------ */

static tare_health health_now(void)
{
	tare_view *view = scene_view();
	tare_health health = *tare_view_health(view);

	tare_view_close(view);
	return health;
}

static void nest(int depth)
{
	TARE_SCOPE("nest");
	work(1);
	if (depth > 1)
		nest(depth - 1);
}

static void play_limits(void)
{
	static const char *const options[] = { "max_nodes", "16",
					       "max_depth", "8", NULL };
	tare_health h;

	begin(options);
	nest(12);
	h = health_now();
	CHECK_INT(h.overflow_nodes, 4);
	CHECK_INT(h.overflow_calls, 4);
	CHECK_INT(h.events, 12);
	CHECK_INT(h.lost, 0);
	/* Time of what is too deep stays with the scope around it. */
	check_site("nest", 8, 12, 12);
	check_site("(overflow)", 4, 0, 0);
}

TEST(paths_beyond_the_limits_are_counted)
{
	scene_play(play_limits);
}

static jmp_buf jump;

static void leap(void)
{
	TARE_SCOPE_SITE_DEFINE(site, "left open");

	(void)tare_scope_begin(&site);
	(void)tare_scope_begin(&site);
	longjmp(jump, 1);
}

static void play_imbalance(void)
{
	TARE_SCOPE_SITE_DEFINE(site, "outer");
	const tare_node *nodes = NULL;
	tare_scope scope;
	tare_view *view;
	tare_health h;
	size_t n = 0;

	begin(NULL);
	scope = tare_scope_begin(&site);
	if (!setjmp(jump))
		leap();
	work(1);
	tare_scope_end(scope);
	tare_scope_end(scope); /* twice */
	h = health_now();
	CHECK_INT(h.repairs, 2);
	CHECK_INT(h.stray_ends, 1);
	CHECK_INT(h.events, 3);
	view = scene_view();
	CHECK_INT(tare_view_tree(view, &nodes, &n), 0);
	for (size_t i = 0; i < n; i++)
		CHECK_INT(nodes[i].repaired, nodes[i].depth > 0);
	CHECK_INT(n, 3);
	tare_view_close(view);
	check_site("outer", 1, 1, 1);
}

TEST(scopes_left_without_an_end_are_repaired_and_counted)
{
	scene_play(play_imbalance);
}

static void play_measuring_cost(void)
{
	tare_health h;

	begin(NULL);
	tr_ledger->header->inside_ticks = 30;
	tr_ledger->header->outside_ticks = 20;
	tr_ledger->header->value_ticks = 7;
	for (int i = 0; i < 1000; i++) {
		TARE_SCOPE("loop");
		scene_pass_ns(1000);
	}
	TARE_VALUE("value", "1", 5);
	h = health_now();
	CHECK_NEAR(h.measuring_ns, 50000 + 7, 1);
	CHECK_NEAR(h.measuring_share, .05, .001);
	CHECK_INT(h.events, 1001);
	CHECK_INT(h.threads, 1);
}

TEST(the_cost_of_measuring_is_calls_times_their_cost)
{
	scene_play(play_measuring_cost);
}

#define ADDS 1000000u

/* The scope is nearly all of the program's life, its counters all it does. */
static void play_counters(void)
{
	const tare_health *health;
	const tare_stats *rows, *row;
	tare_view *view;
	double cost;
	size_t n;

	scene_start(NULL);
	{
		TARE_SCOPE("all adds");
		for (unsigned i = 0; i < ADDS; i++)
			TARE_COUNT("adds", 1);
	}
	view = scene_view();
	if (!view)
		return;
	health = tare_view_health(view);
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "all adds");
	CHECK(row != NULL);
	/* On a busy machine the scope may be a small part of the life. */
	cost = tr_view_ns(view, view->all.counting) *
	       fmin(1, 2 * row->total / tr_view_ns(view, view->all.lifetime));
	CHECK(cost > 0 && health->measuring_ns >= 0.99 * cost);
	CHECK(row->total - row->net_total >= fmin(0.99 * cost, row->total));
	tare_view_close(view);
}

TEST(what_counters_cost_is_not_in_net_times)
{
	CHECK(scene_play(play_counters));
}

/* ---- wrong use --------------------------------------------------------- */

static void play_wrong_use(void)
{
	tare_view *view = NULL;
	const tare_stats *rows;
	size_t n;

	CHECK_INT(tare_view_open("self", &view), TARE_EOFF);
	begin(NULL);
	CHECK_INT(tare_view_open(NULL, &view), TARE_EINVAL);
	CHECK_INT(tare_view_open("self", NULL), TARE_EINVAL);
	CHECK_INT(tare_view_open("/nonexistent/x.tare", &view), TARE_ENOENT);
	CHECK_INT(tare_view_open("/dev/null", &view), TARE_EFORMAT);
	CHECK_INT(tare_view_open("/", &view), TARE_EFORMAT);
	CHECK_INT(tare_view_open(scene_dir, &view), TARE_EFORMAT);
	CHECK_INT(tare_view_open("no such run", &view), TARE_ENOENT);
	CHECK_INT(tare_view_open("", &view), TARE_ENOENT);
	CHECK(view == NULL);
	tare_view_close(NULL);
	view = scene_view();
	CHECK_INT(tare_view_stats(NULL, NULL, &rows, &n), TARE_EINVAL);
	CHECK_INT(tare_view_stats(view, NULL, NULL, &n), TARE_EINVAL);
	CHECK_INT(tare_view_stats(view, NULL, &rows, NULL), TARE_EINVAL);
	CHECK_INT(tare_view_report(view, NULL, NULL, NULL), TARE_EINVAL);
	CHECK_INT(tare_view_buckets(view, 99, NULL, 0), 0);
	tare_view_close(view);
}

TEST(wrong_arguments_are_refused)
{
	scene_play(play_wrong_use);
}

/* ---- extremes after a clear --------------------------------------------- */

static void check_extremes(tare_view *view, const tare_filter *filter,
			   const char *which, double min, double max)
{
	const tare_stats *rows = NULL, *row;
	size_t n = scene_rows(view, filter, &rows);

	row = scene_row(rows, n, which);
	if (!CHECK(row))
		return;
	CHECK_NEAR(row->min, min, .001);
	CHECK_NEAR(row->max, max, .001);
}

/* In the slice of the clear, none lies outside of what was measured. */
static void play_clear_slice(void)
{
	static const char *const options[] = { "keep_values", "100",
					       "keep_kinds", "all", NULL };
	tare_filter last = { .struct_size = sizeof(last), .last_values = 5 };
	tare_view *view;

	scene_clock();
	scene_start(options);
	scene_pass_ns(1000000000);
	for (int i = 0; i < 200; i++) {
		TARE_VALUE("number", "1", i % 100);
		TARE_DURATION("time", 1000 + 10 * (uint64_t)(i % 100));
		if (i == 99)
			CHECK_INT(tare_clear(), 0);
	}
	view = scene_view();
	check_extremes(view, NULL, "number", 0, 99);
	check_extremes(view, NULL, "time", 1000, 1990);
	check_extremes(view, &last, "time", 1950, 1990);
	tare_view_close(view);
}

TEST(extremes_in_the_slice_of_a_clear_were_measured)
{
	scene_play(play_clear_slice);
}
