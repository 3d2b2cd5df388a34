/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows of time, against a list of all events that the test keeps itself.
 * The clock is the test's own: hours and days pass at once.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"
#include "read/view.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define HOUR (3600 * SECOND)
#define DAY (24 * HOUR)
#define SHIFT 31 /* a slice of the monotonic clock: 2.1 s */

TARE_SCOPE_SITE_DEFINE(often, "often");
TARE_SCOPE_SITE_DEFINE(seldom, "seldom");
TARE_SCOPE_SITE_DEFINE(rare, "rare");
TARE_SITE(value, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "value", "1");

static tare_site *const sites[] = { &often, &seldom, &rare, &value };

#define N_SITES (sizeof(sites) / sizeof(sites[0]))

/* ---- what really happened ---------------------------------------------- */

struct event {
	int64_t end_ns; /* of the test's monotonic clock */
	double amount;	/* ns, or the value */
	unsigned site;
	bool failed;
};

static struct event *events;
static size_t n_events, cap_events;

static void note_event(unsigned site, double amount, bool failed)
{
	if (n_events == cap_events) {
		cap_events = cap_events ? cap_events * 2 : 4096;
		events = realloc(events, cap_events * sizeof(*events));
	}
	events[n_events++] = (struct event){ scene_monotonic_ns(), amount,
					     site, failed };
}

static void record(unsigned site, struct dice *dice)
{
	tare_scope scope;
	int64_t duration = 1 + (int64_t)exp(dice_unit(dice) * 20);
	bool failed = dice_next(dice) % 16 == 0;

	if (sites[site] == &value) {
		/* Values that follow fast share a reading of the clock. */
		scene_pass_ns(3000000);
		tare_value_observe(&value, (double)duration);
		note_event(site, (double)duration, false);
		return;
	}
	scope = tare_scope_begin(sites[site]);
	scene_pass_ns(duration);
	if (failed)
		tare_scope_fail(scope, "no");
	tare_scope_end(scope);
	note_event(site, (double)duration, failed);
}

struct sums {
	uint64_t count, failures;
	double total, min, max;
};

/* Over the slices first..last, both included. */
static struct sums sum_events(unsigned site, int64_t first, int64_t last)
{
	struct sums sums = { 0, 0, 0, INFINITY, -INFINITY };

	for (size_t i = 0; i < n_events; i++) {
		const struct event *e = &events[i];
		int64_t slice = e->end_ns >> SHIFT;

		if (e->site != site || slice < first || slice > last)
			continue;
		sums.count++;
		sums.failures += e->failed;
		sums.total += e->amount;
		sums.min = e->amount < sums.min ? e->amount : sums.min;
		sums.max = e->amount > sums.max ? e->amount : sums.max;
	}
	return sums;
}

static bool check_row(const tare_stats *row, const struct sums *sums)
{
	struct sums none = { 0 };
	bool right;

	if (!row) {
		right = CHECK_INT(sums->count, none.count);
	} else {
		right = CHECK_INT(row->count, sums->count);
		right &= CHECK_INT(row->failures, sums->failures);
		right &= CHECK_NEAR(row->total, sums->total,
				    sums->total * 1e-9);
		right &= CHECK_NEAR(row->min, sums->min, .5);
		right &= CHECK_NEAR(row->max, sums->max, .5);
	}
	return right;
}

/* ---- an answer against the list ---------------------------------------- */

/* Wall time less monotonic time; steps of the wall clock change it. */
static int64_t offset_ns;

/* Nearest slice edge: far from an anchor, wall times are some ns off. */
static int64_t slice_near(int64_t real_ns)
{
	int64_t half = INT64_C(1) << (SHIFT - 1);

	return (real_ns - offset_ns + half) >> SHIFT;
}

static bool check_window(tare_view *view, int64_t from, int64_t to)
{
	tare_filter filter = { .struct_size = sizeof(filter),
			       .from_ns = from ? from + offset_ns : 0,
			       .to_ns = to ? to + offset_ns : 0 };
	const tare_run *run = tare_view_run(view);
	const tare_stats *rows = NULL;
	size_t n = scene_rows(view, &filter, &rows);
	const tare_window *w = tare_view_window(view);
	int64_t first = w->from_ns == run->start_ns ? INT64_MIN :
						      slice_near(w->from_ns);
	int64_t last = w->to_ns == run->end_ns ? INT64_MAX :
						 slice_near(w->to_ns) - 1;
	bool right = true;

	/* It covers what was asked for. */
	right &= CHECK(!from || w->from_ns <= from + offset_ns + 8 ||
		       w->from_ns == run->start_ns);
	right &= CHECK(!to || w->to_ns >= to + offset_ns - 8 ||
		       w->to_ns == run->end_ns);
	right &= CHECK(w->from_ns <= w->to_ns);
	for (unsigned i = 0; i < N_SITES; i++) {
		struct sums sums = sum_events(i, first, last);

		right &= check_row(scene_row(rows, n, sites[i]->name), &sums);
	}
	if (!right)
		printf("# asked %.3f..%.3f, got %.3f..%.3f s, end %.3f\n",
		       (double)from / 1e9, (double)to / 1e9,
		       (double)(w->from_ns - offset_ns) / 1e9,
		       (double)(w->to_ns - offset_ns) / 1e9,
		       (double)scene_monotonic_ns() / 1e9);
	return right;
}

static void check_totals(tare_view *view)
{
	const tare_stats *rows = NULL;
	size_t n = scene_rows(view, NULL, &rows);

	for (unsigned i = 0; i < N_SITES; i++) {
		struct sums sums = sum_events(i, INT64_MIN, INT64_MAX);

		check_row(scene_row(rows, n, sites[i]->name), &sums);
	}
}

static void check_windows(int64_t start, struct dice *dice)
{
	tare_view *view = scene_view();
	int64_t now = scene_monotonic_ns();
	double length = (double)(now - start);
	bool right = true;

	check_totals(view);
	right &= check_window(view, now - 300 * SECOND, 0);
	right &= check_window(view, now - 10 * SECOND, 0);
	right &= check_window(view, 0, now - 60 * SECOND);
	for (int i = 0; i < 40 && right; i++) {
		/* Mostly near the end, where windows are narrow. */
		double a = pow(dice_unit(dice), 3), b = pow(dice_unit(dice), 3);
		int64_t from = now - (int64_t)(length * (a > b ? a : b));
		int64_t to = now - (int64_t)(length * (a > b ? b : a));

		right &= check_window(view, from, to);
	}
	tare_view_close(view);
}

/* ---- hours and days ---------------------------------------------------- */

static unsigned n_active; /* of the sites above */

static unsigned choose_site(struct dice *dice)
{
	uint64_t x = dice_next(dice) % 1000;

	if (n_active == 1 || x < 800)
		return 0;
	return x < 900 ? 3 : x < 990 ? 1 : 2;
}

/* Events for `length`, in bursts with pauses of up to 8 times `pause`. */
static void live(int64_t length, int64_t pause, struct dice *dice)
{
	int64_t end = scene_monotonic_ns() + length;

	while (scene_monotonic_ns() < end) {
		uint64_t n = 1 + dice_next(dice) % 6;

		while (n-- > 0)
			record(choose_site(dice), dice);
		scene_pass_ns((int64_t)((double)pause * 8 *
					pow(dice_unit(dice), 3)));
	}
}

static void begin(const char *const *options)
{
	scene_clock();
	scene_start(options);
	offset_ns = scene_real_ns() - scene_monotonic_ns();
	/* The value site's run of readings ends: then each reads the clock. */
	scene_pass_ns(SECOND);
}

static void play_one_site(void)
{
	struct dice dice = { 11 };
	int64_t start;

	n_active = 1;
	begin(NULL);
	start = scene_monotonic_ns();
	for (int i = 0; i < 8; i++) {
		live(2 * HOUR, SECOND, &dice);
		check_windows(start, &dice);
	}
}

TEST(a_window_over_hours_holds_just_the_events_between_its_edges)
{
	scene_play(play_one_site);
}

static void play_days(void)
{
	struct dice dice = { 12 };
	int64_t start;

	n_active = 1;
	begin(NULL);
	start = scene_monotonic_ns();
	for (int i = 0; i < 5; i++) {
		live(4 * DAY, 20 * SECOND, &dice);
		check_windows(start, &dice);
	}
}

TEST(a_window_over_days_holds_just_the_events_between_its_edges)
{
	scene_play(play_days);
}

static void play_year(void)
{
	struct dice dice = { 13 };
	int64_t start;

	n_active = 4;
	begin(NULL);
	start = scene_monotonic_ns();
	for (int i = 0; i < 8; i++) {
		tare_view *view;

		live(50 * DAY, 600 * SECOND, &dice);
		view = scene_view();
		check_totals(view);
		CHECK(tare_view_window(view)->horizon_ns >=
		      start + offset_ns - 2 * SECOND);
		tare_view_close(view);
	}
	CHECK(scene_monotonic_ns() - start >= 400 * DAY);
}

TEST(totals_are_exact_after_400_days)
{
	scene_play(play_year);
}

static void play_several_sites(void)
{
	struct dice dice = { 14 };
	int64_t start;

	n_active = 4;
	begin(NULL);
	start = scene_monotonic_ns();
	for (int i = 0; i < 8; i++) {
		live(2 * HOUR, 2 * SECOND, &dice);
		check_windows(start, &dice);
	}
}

TEST(a_window_has_the_same_edges_for_sites_of_different_rates)
{
	scene_play(play_several_sites);
}

/* ---- nothing there ----------------------------------------------------- */

static void play_empty_window(void)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	struct dice dice = { 15 };
	const tare_stats *rows = NULL;
	const tare_window *w;
	tare_view *view;
	int64_t quiet;

	begin(NULL);
	record(0, &dice);
	quiet = scene_real_ns() + 100 * SECOND;
	scene_pass_ns(1000 * SECOND);
	record(0, &dice);
	view = scene_view();
	filter.from_ns = quiet;
	filter.to_ns = quiet + 100 * SECOND;
	CHECK_INT(scene_rows(view, &filter, &rows), 0);
	w = tare_view_window(view);
	CHECK_NEAR((double)(w->from_ns - filter.from_ns), 0, 2.2e9);
	CHECK_NEAR((double)(w->to_ns - filter.to_ns), 0, 2.2e9);
	/* Backwards, and after the end: nothing, and no surprise. */
	filter.to_ns = quiet - 50 * SECOND;
	CHECK_INT(scene_rows(view, &filter, &rows), 0);
	filter.from_ns = scene_real_ns() + DAY;
	filter.to_ns = 0;
	CHECK_INT(scene_rows(view, &filter, &rows), 0);
	w = tare_view_window(view);
	CHECK(w->from_ns <= w->to_ns);
	filter.struct_size = 3;
	CHECK_INT(tare_view_stats(view, &filter, &rows, &(size_t){ 0 }),
		  TARE_EINVAL);
	tare_view_close(view);
}

TEST(a_window_without_events_states_the_edges_asked_for)
{
	scene_play(play_empty_window);
}

/* What has no time slices does not pretend to. */
static void play_no_slices(void)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	const tare_stats *rows = NULL, *row;
	tare_view *view;
	tare_scope scope;
	size_t n;

	begin(NULL);
	TARE_COUNT("counter", 5);
	TARE_RATIO("ratio", 1, 2);
	tare_value_observe(&value, NAN);
	scope = tare_scope_begin(&often);
	tare_scope_items(scope, 100);
	scene_pass_ns(SECOND);
	tare_scope_end(scope);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "often");
	CHECK(row && row->items == 100 && row->items_per_s == 100);
	CHECK(scene_row(rows, n, "counter") && scene_row(rows, n, "ratio"));
	filter.from_ns = scene_real_ns() - 60 * SECOND;
	n = scene_rows(view, &filter, &rows);
	row = scene_row(rows, n, "often");
	CHECK(row && row->count == 1 && row->items == 0 &&
	      isnan(row->items_per_s) && isnan(row->own));
	CHECK(!scene_row(rows, n, "counter") && !scene_row(rows, n, "ratio"));
	tare_view_close(view);
}

TEST(counters_and_items_are_not_shown_for_a_window)
{
	scene_play(play_no_slices);
}

/* ---- little memory ----------------------------------------------------- */

static void play_tiny_windows(void)
{
	static const char *const options[] = { "window_bytes", "65536", NULL };
	struct dice dice = { 16 };

	n_active = 4;
	begin(options);
	for (int i = 0; i < 10; i++) {
		tare_view *view;

		live(HOUR, SECOND / 4, &dice);
		view = scene_view();
		check_totals(view);
		/* All time, asked for as a window. */
		check_window(view, 1, 0);
		tare_view_close(view);
	}
	CHECK(tr_ledger->header->window_used <= 65536);
}

TEST(totals_are_exact_with_hardly_any_memory_for_slices)
{
	scene_play(play_tiny_windows);
}

/* ---- the last values --------------------------------------------------- */

#define KEPT 100

static void check_last(tare_view *view, const char *name, uint64_t n_last,
		       double min, double max)
{
	tare_filter filter = { .struct_size = sizeof(filter),
			       .last_values = n_last };
	const tare_stats *rows = NULL, *row;
	size_t n = scene_rows(view, &filter, &rows);

	row = scene_row(rows, n, name);
	if (!CHECK(row))
		return;
	CHECK_INT(row->count, n_last < KEPT ? n_last : KEPT);
	CHECK_INT(row->timed, row->count);
	CHECK_NEAR(row->min, min, .5);
	CHECK_NEAR(row->max, max, .5);
}

static void play_last_values(void)
{
	static const char *const options[] = { "keep_values", "100",
					       "keep_kinds", "all", NULL };
	tare_view *view;

	begin(options);
	for (int i = 1; i <= 1003; i++) {
		tare_scope scope = tare_scope_begin(&often);

		scene_pass_ns(i * 1000);
		tare_scope_end(scope);
		scene_pass_ns(SECOND);
		tare_value_observe(&value, -i);
	}
	view = scene_view();
	check_last(view, "often", 1, 1003000, 1003000);
	check_last(view, "often", 10, 994000, 1003000);
	check_last(view, "often", 100, 904000, 1003000);
	check_last(view, "value", 1, -1003, -1003);
	check_last(view, "value", 10, -1003, -994);
	check_last(view, "value", 100, -1003, -904);
	tare_view_close(view);
}

TEST(the_last_values_are_the_newest_ones)
{
	scene_play(play_last_values);
}

static void *record_scopes(void *arg)
{
	int64_t first = *(const int64_t *)arg;

	for (int64_t i = first; i < first + 30; i++) {
		tare_scope scope = tare_scope_begin(&often);

		scene_pass_ns(i * 1000);
		tare_scope_end(scope);
	}
	return NULL;
}

/* One thread after the other, so that it is known which came last. */
static void play_last_of_threads(void)
{
	static const char *const options[] = { "keep_values", "100",
					       "keep_kinds", "all", NULL };
	tare_view *view;

	begin(options);
	for (int64_t i = 0; i < 5; i++) {
		int64_t first = 1 + i * 30;
		pthread_t thread;

		CHECK_INT(pthread_create(&thread, NULL, record_scopes,
					 &first), 0);
		CHECK_INT(pthread_join(thread, NULL), 0);
	}
	view = scene_view();
	check_last(view, "often", 10, 141000, 150000);
	check_last(view, "often", 40, 111000, 150000);
	check_last(view, "often", 100, 51000, 150000);
	tare_view_close(view);
}

TEST(the_last_values_are_those_of_all_threads_together)
{
	scene_play(play_last_of_threads);
}

/* ---- clear ------------------------------------------------------------- */

static void check_since_clear(size_t from)
{
	const tare_stats *rows = NULL;
	tare_view *view = scene_view();
	struct sums sums = { 0, 0, 0, INFINITY, -INFINITY };
	const tare_stats *row;
	size_t n = scene_rows(view, NULL, &rows);

	for (size_t i = from; i < n_events; i++) {
		sums.count++;
		sums.failures += events[i].failed;
		sums.total += events[i].amount;
		sums.min = fmin(sums.min, events[i].amount);
		sums.max = fmax(sums.max, events[i].amount);
	}
	row = scene_row(rows, n, "often");
	if (!sums.count) {
		CHECK(!row);
	} else if (CHECK(row)) {
		CHECK_INT(row->count, sums.count);
		CHECK_INT(row->timed, sums.count);
		CHECK_INT(row->failures, sums.failures);
		CHECK_NEAR(row->total, sums.total, sums.total * 1e-9);
		CHECK_NEAR(row->min, sums.min, 1 + sums.min * .011);
		CHECK_NEAR(row->max, sums.max, 1 + sums.max * .011);
	}
	CHECK_INT(tare_view_health(view)->cleared, from);
	CHECK_INT(tare_view_health(view)->events, sums.count);
	tare_view_close(view);
}

static void play_clear(void)
{
	struct dice dice = { 17 };
	size_t from = 0;

	n_active = 1;
	begin(NULL);
	CHECK_INT(tare_clear(), 0);
	for (int i = 0; i < 6; i++) {
		check_since_clear(from);
		live(i % 2 ? 30 * SECOND : HOUR, SECOND, &dice);
		check_since_clear(from);
		scene_pass_ns(SECOND);
		CHECK_INT(tare_clear(), 0);
		from = n_events;
	}
	check_since_clear(from);
}

TEST(a_clear_leaves_what_came_after_it)
{
	scene_play(play_clear);
}

/* The extremes of slices after the clear are exact, and old ones are gone. */
static void play_clear_extremes(void)
{
	const tare_stats *rows = NULL, *row;
	tare_view *view;
	size_t n;

	begin(NULL);
	TARE_DURATION("extreme", 1);
	TARE_DURATION("extreme", 5000000000);
	CHECK_INT(tare_clear(), 0);
	scene_pass_ns(60 * SECOND);
	for (int i = 0; i < 10; i++)
		TARE_DURATION("extreme", 123457);
	view = scene_view();
	n = scene_rows(view, NULL, &rows);
	row = scene_row(rows, n, "extreme");
	if (CHECK(row)) {
		CHECK_INT(row->count, 10);
		CHECK_NEAR(row->min, 123457, .001);
		CHECK_NEAR(row->max, 123457, .001);
		CHECK_NEAR(row->p50, 123457, 123457 * .011);
	}
	tare_view_close(view);
}

TEST(a_clear_forgets_old_extremes)
{
	scene_play(play_clear_extremes);
}

/* A window that begins before the clear begins with it. */
static void play_clear_window(void)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	struct dice dice = { 18 };
	const tare_stats *rows = NULL, *row;
	tare_view *view;
	size_t from, n;

	n_active = 1;
	begin(NULL);
	live(HOUR, SECOND, &dice);
	filter.from_ns = scene_real_ns() - 600 * SECOND;
	CHECK_INT(tare_clear(), 0);
	from = n_events;
	scene_pass_ns(1000);
	live(120 * SECOND, SECOND, &dice);
	view = scene_view();
	n = scene_rows(view, &filter, &rows);
	row = scene_row(rows, n, "often");
	if (CHECK(row)) {
		CHECK_INT(row->count, n_events - from);
		CHECK_INT(row->timed, n_events - from);
	}
	tare_view_close(view);
}

TEST(a_window_does_not_reach_behind_the_clear)
{
	scene_play(play_clear_window);
}

static void play_clear_records(void)
{
	const tare_record *records = NULL;
	tare_view *view;
	size_t n = 0;

	begin(NULL);
	for (int i = 0; i < 10; i++) {
		TARE_OPERATION("operation");
		TARE_ATTR("number", i);
		scene_pass_ns(SECOND);
		if (i == 6)
			CHECK_INT(tare_clear(), 0);
		scene_pass_ns(1000);
	}
	view = scene_view();
	CHECK_INT(tare_view_records(view, NULL, &records, &n), 0);
	/* Number 6 was under way and ended after it. */
	if (CHECK_INT(n, 4))
		CHECK_INT(records[0].attrs[0].i, 6);
	CHECK_INT(tare_view_health(view)->records, 4);
	CHECK(tare_view_run(view)->cleared_ns >=
	      tare_view_run(view)->start_ns);
	tare_view_close(view);
}

TEST(a_clear_hides_the_records_before_it)
{
	scene_play(play_clear_records);
}

/* ---- wall clock -------------------------------------------------------- */

static void record_at(int64_t *ret_real)
{
	TARE_OPERATION("moment");
	*ret_real = scene_real_ns();
	scene_pass_ns(1000);
}

/* Records from after a step have the new wall time, earlier ones the old. */
static void play_wall_steps(void)
{
	static const int64_t step[] = { 0, HOUR, -2 * HOUR, DAY, -SECOND };
	int64_t real[5 * 20];
	const tare_record *records = NULL;
	tare_view *view;
	size_t n = 0, found = 0;

	begin(NULL);
	for (int i = 0; i < 5; i++) {
		scene_step_real_ns(step[i]);
		for (int k = 0; k < 20; k++) {
			scene_pass_ns(3 * SECOND); /* a slice each */
			record_at(&real[i * 20 + k]);
		}
	}
	view = scene_view();
	CHECK_INT(tare_view_records(view, NULL, &records, &n), 0);
	CHECK_INT(n, 100);
	/* A step is noticed when a batch of events is taken in. */
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < 100; k++)
			if (llabs(records[i].start_ns - real[k]) <= 4 *
								     SECOND) {
				found++;
				break;
			}
	CHECK(found >= 100 - 4 * (TR_BATCH + 2));
	tare_view_close(view);
}

TEST(a_step_of_the_wall_clock_shifts_only_what_follows)
{
	scene_play(play_wall_steps);
}

/* ---- a killed run ------------------------------------------------------ */

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static char ledger_path[512];

static void die_in_scope(int out)
{
	tare_scope scope;

	begin(NULL);
	scope = tare_scope_begin(&rare);
	scene_pass_ns(5 * SECOND);
	for (int i = 0; i < 8; i++) {
		tare_scope inner = tare_scope_begin(&often);

		scene_pass_ns(SECOND);
		tare_scope_end(inner);
	}
	(void)scope;
	(void)!write(out, tare_ledger_path(), strlen(tare_ledger_path()));
	(void)kill(getpid(), SIGKILL);
}

/* Its time ended when it did: what was open does not run on. */
static void play_killed(void)
{
	const tare_node *nodes = NULL;
	const tare_run *run;
	tare_view *view = NULL;
	size_t n = 0;
	int ends[2];
	pid_t child;

	CHECK_INT(pipe(ends), 0);
	child = fork();
	if (child == 0)
		die_in_scope(ends[1]);
	CHECK(waitpid(child, NULL, 0) == child);
	CHECK(read(ends[0], ledger_path, sizeof(ledger_path) - 1) > 0);
	if (!CHECK_INT(tare_view_open(ledger_path, &view), 0))
		return;
	run = tare_view_run(view);
	CHECK_INT(run->state, TARE_RUN_KILLED);
	CHECK_NEAR((double)(run->end_ns - run->start_ns), 14e9, 3e9);
	CHECK_INT(tare_view_tree(view, &nodes, &n), 0);
	if (CHECK_INT(n, 2)) {
		CHECK_STR(nodes[0].name, "rare");
		CHECK_INT(nodes[0].open, 1);
		CHECK_INT(nodes[0].calls, 0);
		CHECK_NEAR(nodes[0].total_ns, 13e9, 1e6);
		CHECK_NEAR(nodes[1].total_ns, 8e9, 1e6);
		CHECK_NEAR(nodes[0].own_ns, 5e9, 1e6);
	}
	tare_view_close(view);
}

TEST(what_a_killed_run_had_open_ends_with_it)
{
	scene_play(play_killed);
}
