/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Histograms: boundaries against exp2l(), quantiles against sorted data,
 * odd values, full buckets, and parts against the whole.
 */
#include "check.h"
#include "scene.h"

#include "ledger/write.h"
#include "read/view.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t index_of(double value)
{
	return (uint32_t)(tr_bucket_bits(value) >> 47);
}

/* ---- boundaries -------------------------------------------------------- */

/* Bucket of a value near boundary k of an octave, by long double. */
static uint32_t wanted_index(double value, int exponent, unsigned k)
{
	long double boundary = ldexpl(exp2l((long double)k / 32), exponent);

	return (uint32_t)(exponent + 1023) * 32 + k -
	       ((long double)value <= boundary);
}

static bool check_boundary(int exponent, unsigned k)
{
	double at = (double)ldexpl(exp2l((long double)k / 32), exponent);
	double near[5];
	bool right = true;

	near[2] = at;
	near[1] = nextafter(at, 0);
	near[0] = nextafter(near[1], 0);
	near[3] = nextafter(at, INFINITY);
	near[4] = nextafter(near[3], INFINITY);
	for (int i = 0; i < 5; i++)
		if (near[i] >= DBL_MIN && isfinite(near[i]))
			right &= CHECK_INT(index_of(near[i]),
					   wanted_index(near[i], exponent, k));
	return right;
}

TEST(every_boundary_of_every_octave_belongs_to_the_bucket_below_it)
{
	for (int exponent = -1022; exponent <= 1023; exponent++)
		for (unsigned k = 0; k < 32; k++)
			if (!check_boundary(exponent, k))
				return;
}

TEST(random_values_lie_between_the_bounds_of_their_bucket)
{
	struct dice dice = { 1 };

	for (int i = 0; i < 1000000; i++) {
		double value = exp2(dice_unit(&dice) * 2040 - 1020);
		uint32_t index = index_of(value);

		/* The bounds are rounded: they may be a step off. */
		if (!CHECK(value > tr_bucket_upper(index - 1) * (1 - 1e-15) &&
			   value <= tr_bucket_upper(index) * (1 + 1e-15)))
			return;
	}
}

TEST(upper_bounds_are_those_of_the_mathematics)
{
	for (uint32_t index = 32; index < 2046 * 32; index++) {
		int exponent = (int)(index / 32) - 1023;
		long double upper = ldexpl(
			exp2l((long double)(index % 32 + 1) / 32), exponent);

		if (!CHECK(fabsl(tr_bucket_upper(index) / upper - 1) < 1e-15L))
			return;
	}
}

/* ---- a distribution, measured ------------------------------------------ */

TARE_SITE(values, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "values", "1");

static const tare_stats *row_of(tare_view *view, const char *name,
				size_t *ret_index)
{
	const tare_stats *rows;
	size_t n = scene_rows(view, NULL, &rows);
	const tare_stats *row = scene_row(rows, n, name);

	if (row && ret_index)
		*ret_index = (size_t)(row - rows);
	return row;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

#define N_VALUES 100000

static double data[N_VALUES];

/* Order statistic as the view defines it: rank ceil(q n). */
static double exact_quantile(double q)
{
	size_t rank = (size_t)ceil(q * N_VALUES);

	return data[rank ? rank - 1 : 0];
}

static void check_quantiles(void)
{
	static const double more[] = { 0, .5, .9, .95, .99, .999, .9999, 1 };
	double worst = 0, sum = 0;
	const tare_stats *row;
	tare_view *view;
	size_t index = 0;

	scene_start(NULL);
	for (int i = 0; i < N_VALUES; i++) {
		tare_value_observe(&values, data[i]);
		sum += data[i];
	}
	view = scene_view();
	row = row_of(view, "values", &index);
	if (!CHECK(row))
		return;
	qsort(data, N_VALUES, sizeof(data[0]), ascending);
	CHECK_INT(row->count, N_VALUES);
	CHECK_INT(row->timed, N_VALUES);
	CHECK(row->min == data[0] && row->max == data[N_VALUES - 1]);
	/* Both sums are rounded N_VALUES times, in other orders. */
	CHECK(fabs(row->total / sum - 1) < 2 * N_VALUES * DBL_EPSILON);
	for (int i = 0; i <= 1000 + 8; i++) {
		double q = i <= 1000 ? i / 1000. : more[i - 1001];
		double exact = exact_quantile(q);
		double error = fabs(tare_view_quantile(view, index, q) -
				    exact) / exact;

		worst = error > worst ? error : worst;
	}
	if (!CHECK(worst <= .011))
		printf("# worst error %g\n", worst);
	CHECK(row->p50 == tare_view_quantile(view, index, .5));
	CHECK(row->p999 == tare_view_quantile(view, index, .999));
	CHECK(isnan(tare_view_quantile(view, index, -.1)));
	CHECK(isnan(tare_view_quantile(view, index, 1.1)));
	CHECK(isnan(tare_view_quantile(view, index, NAN)));
	CHECK(isnan(tare_view_quantile(view, 12345, .5)));
	tare_view_close(view);
}

TEST(quantiles_of_log_normal_data_are_within_1_1_percent)
{
	struct dice dice = { 2 };

	for (int i = 0; i < N_VALUES; i++)
		data[i] = exp(dice_normal(&dice) * 2 - 5);
	scene_play(check_quantiles);
}

TEST(quantiles_of_bimodal_data_are_within_1_1_percent)
{
	struct dice dice = { 3 };

	for (int i = 0; i < N_VALUES; i++)
		data[i] = i % 10 ? 1e-6 * (1 + dice_unit(&dice)) :
				   5e3 * (1 + .1 * dice_unit(&dice));
	scene_play(check_quantiles);
}

TEST(quantiles_of_constant_data_are_exact)
{
	for (int i = 0; i < N_VALUES; i++)
		data[i] = 0.123456789;
	scene_play(check_quantiles);
}

/* The product of two such bounds has no double. */
TEST(quantiles_of_data_at_the_ends_of_the_range_are_within_1_1_percent)
{
	struct dice dice = { 4 };

	for (int i = 0; i < N_VALUES; i++)
		data[i] = ldexp(1 + dice_unit(&dice),
				i % 2 ? 1000 - i % 100 : -1022 + i % 100);
	scene_play(check_quantiles);
}

/* A cell has places for 256 octaves; the others are counted. */
static void observe_all_octaves(void)
{
	const tare_stats *row;
	tare_view *view;

	scene_start(NULL);
	for (int i = 0; i < 4000; i++)
		tare_value_observe(&values, ldexp(1.5, i % 2000 - 1020));
	view = scene_view();
	row = row_of(view, "values", NULL);
	if (CHECK(row)) {
		CHECK_INT(row->count, 4000);
		CHECK(row->timed >= 2 * 224 && row->timed <= 4000);
	}
	tare_view_close(view);
}

TEST(values_of_all_octaves_are_counted)
{
	scene_play(observe_all_octaves);
}

/* ---- odd values -------------------------------------------------------- */

static void observe_odd_values(void)
{
	static const double odd[] = {
		0.0,	  -0.0,	    NAN,	INFINITY,   -INFINITY,
		DBL_MIN,  -DBL_MIN, 4.9e-324,	-4.9e-324,  DBL_MAX / 8,
		-5.0,	  -5.0,	    -DBL_MAX / 8, 5.0,	    1e-300,
	};
	tare_bucket bucket[32];
	const tare_stats *row;
	uint64_t in_buckets = 0;
	tare_view *view;
	size_t index = 0, n;

	scene_start(NULL);
	for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++)
		tare_value_observe(&values, odd[i]);
	view = scene_view();
	row = row_of(view, "values", &index);
	if (!CHECK(row))
		return;
	CHECK_INT(row->count, 15); /* every one is counted */
	CHECK_INT(row->timed, 12); /* NaN and infinities have no place */
	CHECK(row->min == -DBL_MAX / 8 && row->max == DBL_MAX / 8);
	CHECK(isfinite(row->total) && isfinite(row->mean));
	CHECK(isfinite(row->p50) && fabs(row->p50) < 1e-300);
	CHECK(fabs(tare_view_quantile(view, index, 0) / row->min - 1) < .011);
	CHECK(fabs(tare_view_quantile(view, index, 1) / row->max - 1) < .011);
	n = tare_view_buckets(view, index, bucket, 32);
	CHECK(n > 0 && n <= 32);
	for (size_t i = 0; i < n && i < 32; i++) {
		in_buckets += bucket[i].count;
		CHECK(bucket[i].lower <= bucket[i].upper);
		CHECK(i == 0 || bucket[i - 1].upper <= bucket[i].lower);
	}
	CHECK_INT(in_buckets, 12);
	CHECK_INT(tare_view_buckets(view, index, NULL, 0), n);
	tare_view_close(view);
}

TEST(zero_negative_denormal_and_infinite_values_have_their_places)
{
	scene_play(observe_odd_values);
}

static void observe_negatives(void)
{
	const tare_stats *row;
	tare_view *view;

	scene_start(NULL);
	for (int i = 1; i <= 1000; i++)
		tare_value_observe(&values, -i);
	view = scene_view();
	row = row_of(view, "values", NULL);
	if (!CHECK(row))
		return;
	CHECK_INT(row->count, 1000);
	CHECK(row->min == -1000 && row->max == -1);
	CHECK_NEAR(row->p50, -501, 501 * .011);
	CHECK_NEAR(row->p99, -11, 11 * .011);
	CHECK_NEAR(row->mean, -500.5, 1e-9);
	tare_view_close(view);
}

TEST(quantiles_of_negative_values_ascend)
{
	scene_play(observe_negatives);
}

/* ---- full buckets ------------------------------------------------------ */

static struct tr_cell *cell_of(uint32_t site)
{
	const struct tr_thread *thread = tr_this_thread();
	uint32_t off = thread->own_track->cells;

	for (; off; off = tr_cell_at(thread, off)->next)
		if (tr_cell_at(thread, off)->site == site)
			return tr_cell_at(thread, off);
	return NULL;
}

static uint32_t *bucket_of(struct tr_cell *cell, double value)
{
	uint32_t off;

	CHECK(tr_thread_enter(tr_this_thread()));
	off = tr_cell_bucket(tr_this_thread(), cell, tr_bucket_bits(value));
	tr_thread_leave(tr_this_thread());
	return off ? (uint32_t *)(void *)(tr_this_thread()->base + off) : NULL;
}

TARE_SCOPE_SITE_DEFINE(filler, "filler");

/* An entry is drained a few entries later: makes them. */
static void drain(void)
{
	const struct tr_track *track = tr_this_thread()->own_track;
	uint64_t until = track->write;

	for (unsigned i = 0; i < TR_BATCH; i++)
		tare_scope_end(tare_scope_begin(&filler));
	CHECK(track->intent.stage >= until);
}

static uint64_t timed_now(void)
{
	tare_view *view = scene_view();
	const tare_stats *row = row_of(view, "values", NULL);
	uint64_t n = row ? row->timed : 0;

	tare_view_close(view);
	return n;
}

static void fill_buckets(void)
{
	struct tr_cell *cell;

	scene_clock();
	scene_start(NULL);
	for (int i = 0; i < 8; i++)
		tare_value_observe(&values, i % 2 ? 3.0 : 1e9);
	drain();
	cell = cell_of(values.id);
	if (!CHECK(cell))
		return;
	CHECK_INT(*bucket_of(cell, 3.0), 4);
	*bucket_of(cell, 3.0) = UINT32_MAX - 1;
	*bucket_of(cell, 1e9) = UINT32_MAX;
	for (int i = 0; i < 8; i++)
		tare_value_observe(&values, i % 2 ? 3.0 : 1e9);
	CHECK_INT(timed_now(), 2 * UINT64_C(0xffffffff) - 1 + 8);
	/* A second carry of the same bucket. */
	drain();
	*bucket_of(cell, 3.0) = UINT32_MAX;
	tare_value_observe(&values, 3.0);
	tare_value_observe(&values, 3.0);
	CHECK_INT(timed_now(), UINT64_C(0xffffffff) + 4 + 2 +
				       UINT64_C(0x1ffffffff));
	/* And through a closed slice. */
	scene_pass_ns(INT64_C(10000000000));
	for (int i = 0; i < 100; i++)
		tare_value_observe(&values, 3.0);
	drain();
	CHECK(cell->closed != 0);
	CHECK_INT(timed_now(), UINT64_C(0xffffffff) + 4 + 2 + 100 +
				       UINT64_C(0x1ffffffff));
}

TEST(a_bucket_that_passes_32_bits_carries)
{
	scene_play(fill_buckets);
}

TARE_SITE(many, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "many", "1");

/* More carries than a list of them holds. */
static void fill_many_buckets(void)
{
	struct tr_cell *cell;
	const tare_stats *row;
	tare_view *view;

	scene_start(NULL);
	for (int i = 0; i < 40; i++)
		tare_value_observe(&many, ldexp(1.0, i - 20));
	drain();
	cell = cell_of(many.id);
	if (!CHECK(cell))
		return;
	for (int i = 0; i < 40; i++)
		*bucket_of(cell, ldexp(1.0, i - 20)) = UINT32_MAX;
	for (int i = 0; i < 80; i++)
		tare_value_observe(&many, ldexp(1.0, i % 40 - 20));
	view = scene_view();
	row = row_of(view, "many", NULL);
	if (CHECK(row))
		CHECK_INT(row->timed, 40 * (UINT64_C(0xffffffff) + 2));
	tare_view_close(view);
}

TEST(many_buckets_may_carry)
{
	scene_play(fill_many_buckets);
}

/* ---- parts and whole --------------------------------------------------- */

TARE_SITE(whole, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "whole", "1");
TARE_SITE(parts, TARE_KIND_VALUE, TARE_TYPE_CUSTOM, "parts", "1");

#define N_THREADS 4

static double spread; /* of the values' logarithm */

static double odd_value(struct dice *dice)
{
	uint64_t choice = dice_next(dice) % 20;
	double value = exp(dice_normal(dice) * spread);

	return choice == 0 ? 0 : choice == 1 ? NAN : choice < 8 ? -value :
								  value;
}

static void *observe_part(void *arg)
{
	struct dice dice = { 5 };
	size_t part = (size_t)(uintptr_t)arg;

	for (size_t i = 0; i < 20000; i++) {
		double value = odd_value(&dice);

		if (i % N_THREADS == part)
			tare_value_observe(&parts, value);
	}
	return NULL;
}

static void observe_whole(void)
{
	struct dice dice = { 5 };

	for (size_t i = 0; i < 20000; i++)
		tare_value_observe(&whole, odd_value(&dice));
}

#define MOST_BUCKETS 20000

static void compare_series(void)
{
	static tare_bucket a[MOST_BUCKETS], b[MOST_BUCKETS];
	tare_view *view = scene_view();
	const tare_stats *rows = NULL, *x, *y;
	size_t one, other, n = scene_rows(view, NULL, &rows), m;

	x = scene_row(rows, n, "whole");
	y = scene_row(rows, n, "parts");
	if (!CHECK(x && y))
		return;
	one = (size_t)(x - rows);
	other = (size_t)(y - rows);
	CHECK_INT(y->count, x->count);
	CHECK_INT(y->timed, x->timed);
	CHECK(y->min == x->min && y->max == x->max);
	CHECK(fabs(y->total - x->total) <= fabs(x->total) * 1e-9);
	n = tare_view_buckets(view, one, a, MOST_BUCKETS);
	m = tare_view_buckets(view, other, b, MOST_BUCKETS);
	CHECK(n > 100 && n <= MOST_BUCKETS);
	if (CHECK_INT(m, n))
		CHECK(memcmp(a, b, n * sizeof(a[0])) == 0);
	for (int i = 0; i <= 100; i++)
		CHECK(tare_view_quantile(view, one, i / 100.) ==
		      tare_view_quantile(view, other, i / 100.));
	tare_view_close(view);
}

static void observe_in_threads(void)
{
	pthread_t thread[N_THREADS];

	spread = 20; /* beyond a cell's window */
	scene_start(NULL);
	observe_whole();
	for (uintptr_t i = 0; i < N_THREADS; i++)
		CHECK_INT(pthread_create(&thread[i], NULL, observe_part,
					 (void *)i), 0);
	for (int i = 0; i < N_THREADS; i++)
		CHECK_INT(pthread_join(thread[i], NULL), 0);
	compare_series();
}

TEST(parts_of_several_threads_add_up_to_one_pass)
{
	scene_play(observe_in_threads);
}

static void observe_in_slices(void)
{
	struct dice dice = { 5 };

	spread = 2;
	scene_clock();
	scene_start(NULL);
	observe_whole();
	/* 20,000 slices: all tiers, and what falls out of the last. */
	for (size_t i = 0; i < 20000; i++) {
		scene_pass_ns(INT64_C(1) << 31);
		tare_value_observe(&parts, odd_value(&dice));
	}
	compare_series();
}

TEST(parts_of_many_time_slices_add_up_to_one_pass)
{
	scene_play(observe_in_slices);
}
