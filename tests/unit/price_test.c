/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Price: what timing a call costs, from trials in the program.
 */
#include "check.h"
#include "scene.h"

#include <tare/control.h>
#include <tare/probe.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

#include "ledger/layout.h"
#include "record/price/price.h"
#include "read/view.h"

/* ---- from sums to a cost ----------------------------------------------- */

static void add_batches(struct tr_price_sums *sums, unsigned n, double ticks)
{
	sums->batches += n;
	sums->samples += (uint64_t)n * TR_PRICE_BATCH;
	sums->sum += n * ticks;
	sums->squares += n * ticks * ticks;
}

TEST(without_trials_there_is_no_cost)
{
	struct tr_price row = { .site = 7 };
	struct tr_price_figures f;

	CHECK(!tr_price_figures(&row, 30, &f));
}

TEST(the_frame_and_the_rest_of_a_count_are_added)
{
	struct tr_price row = { .site = 7 };
	struct tr_price_figures f;

	add_batches(&row.counted, 10, 20);
	add_batches(&row.light, 10, 35);
	CHECK(tr_price_figures(&row, 30, &f));
	CHECK(f.counted > 15 && f.counted <= 30);
	CHECK_NEAR(f.timed, 20 + f.counted, 1e-9);
	CHECK_NEAR(f.timed - f.timed_error, 35, 1e-9);
	CHECK(f.counted_error >= f.timed_error);
}

TEST(in_code_that_waits_only_the_rest_costs)
{
	struct tr_price row = { .site = 7 };
	struct tr_price_figures f;

	add_batches(&row.counted, 10, 20);
	add_batches(&row.light, 10, 20.1);
	CHECK(tr_price_figures(&row, 30, &f));
	CHECK(f.counted > 0 && f.counted < 10);
	CHECK_NEAR(f.timed, 20 + f.counted, 1e-9);
}

static void add_twice(struct tr_price *row, unsigned n, double ticks)
{
	row->twice_batches += n;
	row->twice_sum += n * ticks;
	row->twice_squares += n * ticks * ticks;
}

TEST(doing_the_work_of_a_count_twice_shows_its_cost)
{
	struct tr_price row = { .site = 7 };
	struct tr_price_figures f;

	add_batches(&row.counted, 10, 20);
	add_batches(&row.light, 10, 35);
	add_twice(&row, 10, 33);
	CHECK(tr_price_figures(&row, 30, &f));
	CHECK_NEAR(f.timed, 37, 1e-9);
	CHECK_NEAR(f.counted, 17, 1e-9);
	CHECK(f.timed_error > 0 && f.timed_error <= 2);
}

TEST(that_cost_is_not_negative_nor_more_than_in_an_empty_loop)
{
	struct tr_price row = { .site = 7 }, other = { .site = 7 };
	struct tr_price_figures f;

	add_batches(&row.counted, 10, 20);
	add_batches(&row.light, 10, 35);
	add_twice(&row, 10, 36);
	CHECK(tr_price_figures(&row, 30, &f));
	CHECK_NEAR(f.timed, 35, 1e-9);
	other.counted = row.counted;
	other.light = row.light;
	add_twice(&other, 1, -100);
	CHECK(tr_price_figures(&other, 30, &f));
	CHECK_NEAR(f.timed, 65, 1e-9);
}

TEST(without_light_trials_the_cost_of_counting_is_a_range)
{
	struct tr_price row = { .site = 7 };
	struct tr_price_figures f;

	add_batches(&row.counted, 10, 20);
	CHECK(tr_price_figures(&row, 30, &f));
	CHECK_NEAR(f.counted - f.counted_error, 0, 1e-9);
	CHECK_NEAR(f.counted + f.counted_error, 30, 1e-9);
	CHECK_NEAR(f.timed - f.timed_error, 20, 1e-9);
}

TEST(a_cost_is_never_negative)
{
	struct tr_price row = { .site = 7 };
	struct tr_price_figures f;

	add_batches(&row.counted, 10, -3);
	add_batches(&row.light, 10, -4);
	CHECK(tr_price_figures(&row, 30, &f));
	CHECK(f.counted >= 0 && f.counted < 10);
	CHECK(f.timed >= 0 && f.timed < 10);
}

TEST(damaged_sums_have_no_cost)
{
	const double bad[] = { __builtin_nan(""), __builtin_inf(), 1e300 };
	struct tr_price_figures f;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tr_price row = { .site = 7 };

		row.counted.batches = 5;
		row.counted.sum = bad[i];
		CHECK(!tr_price_figures(&row, 30, &f));
		row.counted.sum = 0;
		add_batches(&row.light, 10, 35);
		row.twice_batches = 5;
		row.twice_sum = row.twice_squares = bad[i];
		CHECK(tr_price_figures(&row, 30, &f));
		CHECK(f.timed >= 35 && f.timed <= 65);
		CHECK(f.timed_error >= 0 && f.timed_error < 1e9);
	}
}

/* ---- in a program ------------------------------------------------------ */

#define CALLS 3000000u

static const char *const ungoverned[] = { "auto_disable_on_slow", "0", NULL };

static uint64_t work(uint64_t x)
{
	TARE_SCOPE("price work");
	for (unsigned i = 0; i < 12; i++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		__asm__ volatile("" : "+r"(x));
	}
	return x;
}

static void *many_calls(void *arg)
{
	uint64_t x = 1;

	(void)arg;
	for (unsigned i = 0; i < CALLS; i++)
		x = work(x);
	return (void *)(uintptr_t)x;
}

static void check_row(tare_view *view, const char *name, uint64_t calls)
{
	const tare_stats *rows, *row;
	size_t n = scene_rows(view, NULL, &rows);

	row = scene_row(rows, n, name);
	CHECK(row != NULL);
	if (!row)
		return;
	CHECK_INT(row->count, calls);
	CHECK(!row->is_estimate);
	/* Some calls of trials that were cut short may come on top. */
	CHECK(row->timed <= calls && calls - row->timed <= calls / 50);
	/* The total counts the others as if they took as long. */
	CHECK_NEAR(row->total, row->mean * (double)calls, 0.02 * row->total);
	CHECK(row->net_total >= 0 && row->net_total <= row->total);
}

static void play_trials(void)
{
	const tare_health *health;
	tare_view *view;

	scene_start(ungoverned);
	(void)many_calls(NULL);
	view = scene_view();
	if (!view)
		return;
	check_row(view, "price work", CALLS);
	health = tare_view_health(view);
	CHECK(health->tried > 0 && health->tried <= CALLS / 50);
	CHECK_INT(health->repairs, 0);
	CHECK(health->measuring_low_ns <= health->measuring_ns &&
	      health->measuring_ns <= health->measuring_high_ns);
	CHECK(health->measuring_ns < 1e4 * CALLS);
	tare_view_close(view);
}

TEST(trials_leave_counts_exact_and_take_few_times)
{
	CHECK(scene_play(play_trials));
}

/* Some trials do the work of counting twice, and have a result. */
static bool has_twice(const tare_view *view)
{
	const struct tr_price *row;
	uint64_t n = 0, damaged = 0, batches = 0;

	row = tr_image_rows(&view->image, TR_REGION_PRICES, sizeof(*row), &n,
			    &damaged);
	for (uint64_t i = 0; row && i < n; i++)
		batches += row[i].twice_batches;
	return batches > 0;
}

/* Disturbed trials have no result: on a busy machine it takes longer. */
static void play_twice(void)
{
	tare_view *view;
	bool is_found = false;
	unsigned rounds = 0;

	scene_start(ungoverned);
	while (!is_found && rounds < 40) {
		(void)many_calls(NULL);
		rounds++;
		view = scene_view();
		if (!view)
			return;
		is_found = has_twice(view);
		if (is_found || rounds == 40)
			check_row(view, "price work", (uint64_t)rounds * CALLS);
		tare_view_close(view);
	}
	CHECK(is_found);
}

TEST(trials_that_count_twice_leave_counts_exact)
{
	CHECK(scene_play(play_twice));
}

static void play_threads(void)
{
	pthread_t thread[3];
	tare_view *view;

	scene_start(ungoverned);
	for (unsigned i = 0; i < 3; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, many_calls, NULL),
			  0);
	for (unsigned i = 0; i < 3; i++)
		(void)pthread_join(thread[i], NULL);
	view = scene_view();
	if (!view)
		return;
	check_row(view, "price work", 3 * (uint64_t)CALLS);
	tare_view_close(view);
}

TEST(threads_share_a_site_in_a_trial)
{
	CHECK(scene_play(play_threads));
}

#define RESULTS 2000000u
#define SAME 100.

static uint32_t is_writing;

/* All results are the same, and so is their mean at any time. */
static void *add_results(void *site)
{
	struct tr_trial_result result = { .ticks = SAME, .is_usable = true };

	for (unsigned i = 0; i < RESULTS; i++)
		tr_price_add((uint32_t)(uintptr_t)site, &result);
	TR_PUBLISH(is_writing, 0);
	return NULL;
}

static void play_reading(void)
{
	struct tr_price_figures f = { 0 };
	pthread_t thread;
	uintptr_t site = 77; /* which has no calls: a row of its own */
	unsigned wrong = 0;
	uint32_t was_writing;
	uint64_t n = 0;

	scene_start(ungoverned);
	CHECK(tr_price_prepare((uint32_t)site));
	TR_STORE(is_writing, 1);
	CHECK_INT(pthread_create(&thread, NULL, add_results, (void *)site),
		  0);
	do { /* once more at the end: it may come before the first reading */
		was_writing = TR_ACQUIRE(is_writing);
		CHECK_INT(tr_price_at(0, &f), site);
		n += f.timed > 0; /* else not known now */
		wrong += f.timed > 0 &&
			 (f.timed - f.counted < SAME * 0.999999 ||
			  f.timed - f.counted > SAME * 1.000001);
	} while (was_writing);
	(void)pthread_join(thread, NULL);
	CHECK_INT(wrong, 0);
	CHECK(n > 0);
	CHECK_INT(tr_price_at(0, &f), site);
	CHECK_NEAR(f.samples, RESULTS, 0);
}

TEST(a_cost_is_read_while_trials_are_added)
{
	CHECK(scene_play(play_reading));
}

#define FEW 1500u

/* As many as a thread of little work makes. Long: a trial takes few calls. */
static void *few_calls(void *arg)
{
	uint64_t x = 1;

	(void)arg;
	for (unsigned i = 0; i < FEW; i++) {
		TARE_SCOPE("price few");
		for (unsigned k = 0; k < 200; k++) {
			x = x * UINT64_C(6364136223846793005) + 1;
			__asm__ volatile("" : "+r"(x));
		}
	}
	return NULL;
}

static void play_few(void)
{
	const tare_stats *rows, *row;
	pthread_t thread;
	tare_view *view;
	size_t n;

	scene_start(ungoverned);
	CHECK_INT(pthread_create(&thread, NULL, few_calls, NULL), 0);
	(void)pthread_join(thread, NULL);
	view = scene_view();
	if (!view)
		return;
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "price few");
	CHECK(row && row->count == FEW && row->timed == FEW);
	CHECK_INT(tare_view_health(view)->tried, 0);
	tare_view_close(view);
}

TEST(the_first_calls_of_a_thread_are_all_timed)
{
	CHECK(scene_play(play_few));
}

/* ---- a site's mark ----------------------------------------------------- */

TARE_SCOPE_SITE_DEFINE(marked, "price marked");

static void call_site(tare_site *site, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		tare_scope scope = tare_scope_begin(site);

		__asm__ volatile("" ::: "memory");
		tare_scope_end(scope);
	}
}

static void call_marked(unsigned n)
{
	call_site(&marked, n);
}

/* Of a trial that ended while its site's calls were timed. */
static void play_stale(void)
{
	tare_view *view;

	scene_start(ungoverned);
	call_marked(1);
	TR_STORE(marked.reserved[1],
		 UINT64_C(1000) << TR_SITE_TRIAL_SHIFT | TR_SITE_TRIAL);
	call_marked(CALLS);
	view = scene_view();
	if (!view)
		return;
	CHECK(tare_view_health(view)->tried > 0);
	check_row(view, "price marked", CALLS + 1);
	tare_view_close(view);
}

TEST(a_mark_without_a_trial_does_not_prevent_trials)
{
	CHECK(scene_play(play_stale));
}

static void play_level(void)
{
	const struct tare_light_ *light;
	unsigned i;

	scene_start(ungoverned);
	call_marked(1);
	light = &tr_this_thread()->self.light;
	for (i = 0; i < CALLS && light->site != &marked; i++)
		call_marked(1);
	if (!CHECK(i < CALLS))
		return;
	TR_STORE(marked.reserved[1], TR_LEVEL_COUNTED);
	for (i = 0; i < CALLS && light->site; i++)
		call_marked(1);
	CHECK(i < CALLS);
	CHECK_INT(marked.reserved[1], TR_LEVEL_COUNTED);
}

TEST(the_end_of_a_trial_keeps_the_level_of_the_governor)
{
	CHECK(scene_play(play_level));
}

#define PARENTS 400u

/* Its place in the hash of call paths is taken by another. */
static bool is_displaced(const tare_site *site)
{
	const struct tr_thread *thread = tr_this_thread();
	uint32_t parent = TR_LOAD(thread->own_track->current);
	uint32_t place = tr_tree_hash(parent, site->id) & thread->hash_mask;
	uint32_t node = thread->hash[place];

	return node & 1 || tr_node_at(thread, node)->site != site->id ||
	       tr_node_at(thread, node)->parent != parent;
}

/* Calls the site in many others; then often in one where it is displaced. */
static bool call_displaced(tare_site *site)
{
	bool is_found = false;
	char name[32];

	for (unsigned i = 0; i < 2 * PARENTS && !is_found; i++) {
		tare_scope scope;

		(void)snprintf(name, sizeof(name), "price %u", i % PARENTS);
		scope = tare_scope_begin(tare_site_get(
			TARE_KIND_SCOPE, TARE_TYPE_TIME, name, NULL, NULL));
		is_found = i >= PARENTS && is_displaced(site);
		call_site(site, is_found ? CALLS : 1);
		tare_scope_end(scope);
	}
	return is_found;
}

static void play_displaced(void)
{
	tare_view *view;

	scene_start(ungoverned);
	CHECK(call_displaced(&marked));
	view = scene_view();
	if (!view)
		return;
	CHECK(tare_view_health(view)->tried > 0);
	tare_view_close(view);
}

TEST(a_call_path_that_is_displaced_in_the_hash_has_trials)
{
	CHECK(scene_play(play_displaced));
}

static void operate(void)
{
	TARE_OPERATION("price operation");
	__asm__ volatile("" ::: "memory");
}

static void play_operations(void)
{
	const tare_stats *rows, *row;
	tare_view *view;
	size_t n;

	scene_start(ungoverned);
	for (unsigned i = 0; i < 300000; i++)
		operate();
	view = scene_view();
	if (!view)
		return;
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "price operation");
	CHECK(row && row->timed == 300000);
	CHECK_INT(tare_view_health(view)->tried, 0);
	tare_view_close(view);
}

TEST(operations_are_always_timed)
{
	CHECK(scene_play(play_operations));
}

static void play_traced(void)
{
	static const char *const options[] = { "auto_disable_on_slow", "0",
					       "trace", "1", NULL };
	tare_view *view;

	scene_start(options);
	(void)many_calls(NULL);
	view = scene_view();
	if (!view)
		return;
	CHECK_INT(tare_view_health(view)->tried, 0);
	tare_view_close(view);
}

TEST(traced_events_are_never_skipped)
{
	CHECK(scene_play(play_traced));
}

/* ---- calls without a frame --------------------------------------------- */

#define RARELY 1009u

static uint64_t n_inside, n_beside;

static void rare(uint64_t *n)
{
	TARE_SCOPE("price rare");
	__asm__ volatile("" ::: "memory");
	++*n;
}

static uint64_t mostly_leaf(uint64_t x, unsigned i)
{
	TARE_SCOPE("price leaf");
	for (unsigned k = 0; k < 6; k++) {
		x = x * UINT64_C(6364136223846793005) + 1;
		__asm__ volatile("" : "+r"(x));
	}
	/* Late: until then no scope was ever inside. */
	if (i > CALLS / 2 && i % RARELY == 0)
		rare(&n_inside);
	return x;
}

static uint64_t calls_at(tare_view *view, const char *name, uint32_t depth)
{
	const tare_node *nodes;
	size_t n;
	uint64_t sum = 0;

	if (!CHECK_INT(tare_view_tree(view, &nodes, &n), 0))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (!strcmp(nodes[i].name, name) && nodes[i].depth == depth)
			sum += nodes[i].calls;
	return sum;
}

static void play_inside(void)
{
	tare_view *view;
	uint64_t x = 1;

	scene_start(ungoverned);
	for (unsigned i = 0; i < CALLS; i++) {
		x = mostly_leaf(x, i);
		if (i % 3 == 0)
			rare(&n_beside);
	}
	view = scene_view();
	if (!view)
		return;
	CHECK_INT(calls_at(view, "price leaf", 0), CALLS);
	CHECK_INT(calls_at(view, "price rare", 0), n_beside);
	CHECK_INT(calls_at(view, "price rare", 1), n_inside);
	CHECK(tare_view_health(view)->tried > 0);
	CHECK_INT(tare_view_health(view)->repairs, 0);
	CHECK_INT(tare_view_health(view)->stray_ends, 0);
	tare_view_close(view);
}

TEST(a_scope_inside_a_call_of_a_trial_has_its_place)
{
	CHECK(scene_play(play_inside));
}

static void failing_leaf(unsigned i)
{
	TARE_SCOPE("price fails");
	if (i > CALLS / 2 && i % RARELY == 0)
		tare_fail("no");
	if (i > CALLS / 2 && i % RARELY == 7)
		tare_items(3);
}

static void play_failures(void)
{
	const tare_stats *rows, *row;
	uint64_t failed = 0, items = 0;
	tare_view *view;
	size_t n;

	scene_start(ungoverned);
	for (unsigned i = 0; i < CALLS; i++) {
		failing_leaf(i);
		failed += i > CALLS / 2 && i % RARELY == 0;
		items += i > CALLS / 2 && i % RARELY == 7 ? 3 : 0;
	}
	view = scene_view();
	if (!view)
		return;
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "price fails");
	if (CHECK(row != NULL)) {
		CHECK_INT(row->count, CALLS);
		CHECK_INT(row->failures, failed);
		CHECK_INT(row->items, items);
	}
	tare_view_close(view);
}

TEST(failures_and_items_in_trials_are_exact)
{
	CHECK(scene_play(play_failures));
}

static void with_attribute(unsigned i)
{
	TARE_SCOPE("price noted");
	tare_attr_int("i", i);
}

static void play_attributes(void)
{
	static const char *const options[] = { "auto_disable_on_slow", "0",
					       "max_history_size", "0", NULL };
	tare_view *view;

	scene_start(options);
	for (unsigned i = 0; i < 300000; i++)
		with_attribute(i);
	view = scene_view();
	if (!view)
		return;
	CHECK_INT(tare_view_health(view)->tried, 0);
	tare_view_close(view);
}

TEST(calls_with_attributes_are_always_timed)
{
	CHECK(scene_play(play_attributes));
}

static jmp_buf back;

static void leaves(unsigned i)
{
	TARE_SCOPE_SITE_DEFINE(site, "price leaves");
	tare_scope scope = tare_scope_begin(&site);

	if (i % RARELY == 0)
		longjmp(back, 1);
	tare_scope_end(scope);
}

static void around(unsigned i)
{
	TARE_SCOPE("price around");
	if (!setjmp(back))
		leaves(i);
}

static void play_leaving(void)
{
	const tare_stats *rows, *row;
	tare_view *view;
	size_t n;

	scene_start(ungoverned);
	for (volatile unsigned i = 0; i < CALLS; i++)
		around(i);
	view = scene_view();
	if (!view)
		return;
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "price around");
	CHECK(row && row->count == CALLS);
	row = scene_row(rows, n, "price leaves");
	CHECK(row && row->count == CALLS);
	CHECK(tare_view_health(view)->repairs > 0);
	tare_view_close(view);
}

TEST(a_call_of_a_trial_may_be_left_by_longjmp)
{
	CHECK(scene_play(play_leaving));
}

static void play_without(void)
{
	static const char *const options[] = { "auto_disable_on_slow", "0",
					       "cost_trials", "false", NULL };
	tare_view *view;

	scene_start(options);
	(void)many_calls(NULL);
	view = scene_view();
	if (!view)
		return;
	CHECK_INT(tare_view_health(view)->tried, 0);
	CHECK(tare_view_health(view)->measuring_ns > 0);
	tare_view_close(view);
}

TEST(an_option_switches_trials_off)
{
	CHECK(scene_play(play_without));
}

/* Of the shortest calls, those that are scaled may seem to take longer. */
static void play_within(void)
{
	const tare_node *nodes;
	tare_view *view;
	size_t n;

	scene_start(ungoverned);
	{
		TARE_SCOPE("price whole");
		for (unsigned i = 0; i < CALLS; i++)
			(void)work(i);
	}
	view = scene_view();
	if (!view)
		return;
	CHECK(tare_view_health(view)->tried > 0);
	if (CHECK_INT(tare_view_tree(view, &nodes, &n), 0) &&
	    CHECK_INT(n, 2)) {
		CHECK_STR(nodes[0].name, "price whole");
		CHECK(nodes[1].total_ns <= nodes[0].total_ns * (1 + 1e-9));
		CHECK(nodes[0].own_ns >= 0);
	}
	tare_view_close(view);
}

TEST(calls_of_trials_take_no_longer_than_their_parent)
{
	CHECK(scene_play(play_within));
}
