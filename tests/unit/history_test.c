/* SPDX-License-Identifier: Apache-2.0 */
/*
 * History: time slices that are closed, merged from tier to tier, and at
 * last one record. Totals stay exact, bucket by bucket, at every step of it.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../check.h"
#include "../scene.h"
#include "ledger/write.h"
#include "read/view.h"

#define SLICE_NS (INT64_C(1) << TR_SLICE_SHIFT)

/* Slices after which every tier is full and older ones are folded. */
#define ALL_TIERS 40000u

/* ---- every bucket in every tier ---------------------------------------- */

static const double value_of[] = { 1, 3, 1000, 0, -2, -70, 1e-3, 1e12 };

#define N_VALUES (sizeof(value_of) / sizeof(value_of[0]))

static struct {
	uint64_t value[N_VALUES], scopes, failed;
	double sum, total_ns;
} model;

static void pass_slice(struct dice *dice)
{
	int64_t ns = 1000 + (int64_t)(dice_next(dice) % 1000000);
	unsigned n = (unsigned)(dice_next(dice) % 4);

	for (unsigned i = 0; i < n; i++) {
		unsigned k = (unsigned)(dice_next(dice) % N_VALUES);

		TARE_VALUE("value", "1", value_of[k]);
		model.value[k]++;
		model.sum += value_of[k];
	}
	{
		TARE_SCOPE("scope");
		scene_pass_ns(ns);
		if (n == 1) {
			TARE_FAIL("on purpose");
			model.failed++;
		}
	}
	model.scopes++;
	model.total_ns += (double)ns;
	scene_pass_ns(SLICE_NS);
}

/* Bucket that holds a value, or the bucket's other values are ours too. */
static uint64_t in_bucket_of(const tare_bucket *bucket, size_t n, double value)
{
	uint64_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (value == 0 ? bucket[i].lower == 0 && bucket[i].upper == 0 :
		    value > 0 ? value > bucket[i].lower * (1 - 1e-12) &&
					value <= bucket[i].upper * (1 + 1e-12) :
				value < bucket[i].upper * (1 - 1e-12) &&
					value >= bucket[i].lower * (1 + 1e-12))
			count += bucket[i].count;
	return count;
}

static void check_values(tare_view *view, const tare_stats *rows, size_t n)
{
	const tare_stats *row = scene_row(rows, n, "value");
	tare_bucket bucket[64];
	uint64_t all = 0;
	size_t buckets;

	if (!CHECK(row != NULL))
		return;
	for (unsigned i = 0; i < N_VALUES; i++)
		all += model.value[i];
	CHECK_INT(row->count, all);
	CHECK_NEAR(row->total, model.sum, fabs(model.sum) * 1e-12);
	CHECK_NEAR(row->min, -70, 0);
	CHECK_NEAR(row->max, 1e12, 0);
	buckets = tare_view_buckets(view, (size_t)(row - rows), bucket, 64);
	CHECK_INT(buckets, N_VALUES);
	for (unsigned i = 0; i < N_VALUES && buckets <= 64; i++)
		CHECK_INT(in_bucket_of(bucket, buckets, value_of[i]),
			  model.value[i]);
}

static void check_model(void)
{
	tare_view *view = scene_view();
	const tare_stats *rows, *row;
	size_t n = scene_rows(view, NULL, &rows);

	row = scene_row(rows, n, "scope");
	if (CHECK(row != NULL)) {
		CHECK_INT(row->count, model.scopes);
		CHECK_INT(row->timed, model.scopes);
		CHECK_INT(row->failures, model.failed);
		CHECK_NEAR(row->total, model.total_ns, model.total_ns * 1e-9);
	}
	check_values(view, rows, n);
	CHECK_INT(tare_view_health(view)->damaged, 0);
	CHECK_INT(tare_view_health(view)->lost, 0);
	tare_view_close(view);
	CHECK_INT(tare_verify(tare_ledger_path(), NULL, NULL), 0);
}

static void live_long(void)
{
	struct dice dice = { 1 };

	for (unsigned i = 0; i < 64; i++) {
		TARE_VALUE("value", "1", value_of[i % N_VALUES]);
		model.value[i % N_VALUES]++;
		model.sum += value_of[i % N_VALUES];
	}
	for (unsigned i = 1; i <= ALL_TIERS; i++) {
		pass_slice(&dice);
		/* At the edges of tiers, and now and then. */
		if (i <= 4 || (i >= 58 && i <= 72) || i % 3989 == 0 ||
		    i == ALL_TIERS)
			check_model();
	}
}

static void play_tiers(void)
{
	scene_clock();
	scene_start(NULL);
	live_long();
}

TEST(every_bucket_is_exact_in_every_tier)
{
	scene_play(play_tiers);
}

static void play_little_memory(void)
{
	static const char *const options[] = { "window_bytes", "65536", NULL };

	scene_clock();
	scene_start(options);
	live_long();
}

TEST(every_bucket_is_exact_when_slices_find_no_memory)
{
	scene_play(play_little_memory);
}

/* ---- looked at in any instant ------------------------------------------ */

#define STOPS 400

enum series { SCOPE, FAILED, PLUS, MINUS, ZERO, N_SERIES };

static struct watched {
	uint64_t done[N_SERIES], next[N_SERIES];
	uint32_t ready;
	char path[512];
} *watched;

static void start(enum series series)
{
	__atomic_store_n(&watched->next[series], 1, __ATOMIC_RELEASE);
}

static void finish(enum series series)
{
	__atomic_store_n(&watched->done[series], watched->done[series] + 1,
			 __ATOMIC_RELEASE);
	__atomic_store_n(&watched->next[series], 0, __ATOMIC_RELEASE);
}

/* A slice passes at every event: its thread is turning cells all the time. */
static void be_turning(void)
{
	TARE_SCOPE_SITE_DEFINE(site, "scope");
	TARE_SCOPE_SITE_DEFINE(failing, "failing");
	TARE_SITE(values, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "value", "1");
	tare_scope scope;

	for (unsigned i = 0;; i++) {
		enum series sign = (enum series)(PLUS + i % 3);

		scene_pass_ns(SLICE_NS);
		scope = tare_scope_begin(i % 5 ? &site : &failing);
		if (i % 5 == 0)
			tare_scope_fail(scope, "on purpose");
		start(i % 5 ? SCOPE : FAILED);
		tare_scope_end(scope);
		finish(i % 5 ? SCOPE : FAILED);
		start(sign);
		tare_value_observe(&values, sign == PLUS  ? 2.0 :
					    sign == MINUS ? -3.0 :
							    0.0);
		finish(sign);
		__atomic_store_n(&watched->ready, i > 100, __ATOMIC_RELEASE);
	}
}

static bool is_right(enum series series, uint64_t is)
{
	uint64_t done = watched->done[series], next = watched->next[series];

	if (is == done || is == done + next)
		return true;
	printf("# series %d is %llu, done %llu, under way %llu\n", series,
	       (unsigned long long)is, (unsigned long long)done,
	       (unsigned long long)next);
	return false;
}

static bool check_values_of(tare_view *view, const tare_stats *rows,
			    const tare_stats *row)
{
	tare_bucket bucket[8];
	size_t n = tare_view_buckets(view, (size_t)(row - rows), bucket, 8);

	return CHECK_INT(n, 3) &&
	       CHECK(is_right(MINUS, bucket[0].count)) &&
	       CHECK(is_right(ZERO, bucket[1].count)) &&
	       CHECK(is_right(PLUS, bucket[2].count)) &&
	       CHECK_NEAR(row->total, 2.0 * (double)bucket[2].count -
					      3.0 * (double)bucket[0].count,
			  0);
}

static bool check_stopped(void)
{
	const tare_stats *rows, *scope, *failing, *value;
	tare_view *view;
	size_t n;
	bool ok;

	if (!CHECK_INT(tare_view_open(watched->path, &view), 0))
		return false;
	n = scene_rows(view, NULL, &rows);
	scope = scene_row(rows, n, "scope");
	failing = scene_row(rows, n, "failing");
	value = scene_row(rows, n, "value");
	ok = CHECK(scope && failing && value) &&
	     CHECK(is_right(SCOPE, scope->count)) &&
	     CHECK_INT(scope->timed, scope->count) &&
	     CHECK(is_right(FAILED, failing->count)) &&
	     CHECK_INT(failing->timed, failing->count) &&
	     CHECK_INT(failing->failures, failing->count) &&
	     check_values_of(view, rows, value) &&
	     CHECK_INT(tare_view_health(view)->damaged, 0);
	tare_view_close(view);
	return ok;
}

static void stop_often(pid_t child)
{
	struct dice dice = { (uint64_t)child };
	int status;

	while (!__atomic_load_n(&watched->ready, __ATOMIC_ACQUIRE) &&
	       waitpid(child, &status, WNOHANG) == 0)
		(void)usleep(100);
	for (int i = 0; i < STOPS; i++) {
		(void)usleep((useconds_t)(dice_next(&dice) % 2000));
		(void)kill(child, SIGSTOP);
		if (!CHECK_INT(waitpid(child, &status, WUNTRACED), child) ||
		    !CHECK(WIFSTOPPED(status)) || !check_stopped())
			break;
		(void)kill(child, SIGCONT);
	}
	printf("# %llu slices passed\n",
	       (unsigned long long)(watched->done[SCOPE] +
				    watched->done[FAILED]));
	(void)kill(child, SIGKILL);
	(void)waitpid(child, &status, 0);
}

static void watch(const char *const *options)
{
	pid_t child;

	watched = mmap(NULL, sizeof(*watched), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!CHECK(watched != MAP_FAILED))
		return;
	(void)fflush(stdout);
	child = fork();
	if (child == 0) {
		scene_clock();
		scene_start(options);
		strcpy(watched->path, tare_ledger_path());
		be_turning();
	}
	stop_often(child);
	(void)munmap(watched, sizeof(*watched));
}

static void play_stops(void)
{
	watch(NULL);
}

TEST(counts_are_exact_at_any_instant_of_a_turn)
{
	scene_play(play_stops);
}

static void play_stops_without_memory(void)
{
	static const char *const options[] = { "window_bytes", "65536", NULL };

	watch(options);
}

TEST(counts_are_exact_at_any_instant_without_memory)
{
	scene_play(play_stops_without_memory);
}
