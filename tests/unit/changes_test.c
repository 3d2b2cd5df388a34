/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of series that are made up, and the reader of series files. */
#include "read/changes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MOST 2000u

static double value[MOST];
static uint64_t state;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(6.283185307179586 * uniform());
}

/* About 100, with noise of 1; each value depends on the last by `p`. */
static void fill(size_t n, double p, uint64_t seed)
{
	double x = 0;

	state = 88172645463325252u + 7919 * seed;
	for (size_t i = 0; i < n; i++) {
		x = p * x + normal() * sqrt(1 - p * p);
		value[i] = 100 + x;
	}
}

static void add(size_t from, size_t to, double step)
{
	for (size_t i = from; i < to; i++)
		value[i] += step;
}

/* The changes of the first n values; valid until the next call. */
static const tare_change *found(size_t n, size_t *ret_n)
{
	static tare_change *changes;

	tare_changes_free(changes);
	changes = NULL;
	*ret_n = 0;
	CHECK_INT(tare_changes_find(value, n, NULL, &changes, ret_n), 0);
	CHECK((changes != NULL) == (*ret_n > 0));
	return changes;
}

/* ---- steps ------------------------------------------------------------- */

TEST(a_step_has_its_place_its_levels_and_its_size)
{
	const tare_change *change;
	size_t n;

	fill(200, 0, 1);
	add(100, 200, 10);
	change = found(200, &n);
	if (!CHECK_INT(n, 1))
		return;
	CHECK_INT(change->index, 100);
	CHECK_NEAR(change->before, 100, 0.7);
	CHECK_NEAR(change->after, 110, 0.7);
	CHECK_NEAR(change->change, change->after / change->before - 1, 1e-12);
	CHECK(change->strength > 1.5);
	CHECK(!change->is_gradual && !change->is_provisional);
}

TEST(several_steps_up_and_down_are_found_and_nothing_else)
{
	static const size_t at[] = { 60, 110, 300, 420 };
	const tare_change *change;
	size_t n;

	fill(500, 0, 2);
	add(60, 110, 8);
	add(300, 420, -6);
	change = found(500, &n);
	if (!CHECK_INT(n, 4))
		return;
	for (size_t i = 0; i < 4; i++)
		CHECK(change[i].index + 2 >= at[i] &&
		      change[i].index <= at[i] + 2);
	CHECK(change[0].change > 0 && change[1].change < 0);
}

TEST(quiet_series_have_no_change)
{
	size_t flagged = 0, n;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		fill(200, 0, seed);
		(void)found(200, &n);
		flagged += n > 0;
	}
	CHECK(flagged <= 3);
}

TEST(values_that_depend_on_those_before_are_rarely_taken_for_changes)
{
	size_t half = 0, more = 0, n;

	for (uint64_t seed = 1; seed <= 300; seed++) {
		fill(200, 0.5, seed);
		(void)found(200, &n);
		half += n > 0;
		fill(200, 0.7, seed);
		(void)found(200, &n);
		more += n > 0;
	}
	/* 5 and 15 % */
	CHECK(half <= 15);
	CHECK(more <= 45);
}

TEST(spikes_are_no_changes)
{
	size_t n;

	fill(300, 0, 3);
	for (size_t i = 7; i < 300; i += 31)
		value[i] += 50;
	value[200] = value[201] = value[202] = 400;
	(void)found(300, &n);
	CHECK_INT(n, 0);
}

TEST(a_ramp_is_one_gradual_change)
{
	const tare_change *change;
	size_t n;

	fill(400, 0, 4);
	for (size_t i = 100; i < 300; i++)
		value[i] += 0.2 * (double)(i - 99);
	add(300, 400, 40);
	change = found(400, &n);
	if (!CHECK(n >= 1 && n <= 2))
		return;
	CHECK(change[0].is_gradual);
	CHECK(change[0].index >= 95 && change[0].index <= 130);
	CHECK(change[0].after > 130);
	/* Two steps, one after the other, are two changes. */
	fill(400, 0, 4);
	add(150, 400, 8);
	add(250, 400, 8);
	change = found(400, &n);
	if (CHECK_INT(n, 2))
		CHECK(!change[0].is_gradual && !change[1].is_gradual);
}

/* ---- without noise ----------------------------------------------------- */

TEST(a_constant_series_has_no_change)
{
	size_t n;

	for (size_t i = 0; i < 100; i++)
		value[i] = 42;
	(void)found(100, &n);
	CHECK_INT(n, 0);
	for (size_t i = 0; i < 100; i++)
		value[i] = 0;
	(void)found(100, &n);
	CHECK_INT(n, 0);
}

TEST(without_noise_the_least_relative_change_decides)
{
	tare_changes_options how = { .struct_size = sizeof(how) };
	tare_change *changes;
	const tare_change *change;
	size_t n;

	for (size_t i = 0; i < 100; i++)
		value[i] = i < 60 ? 1e9 : 1e9 + 2e4;
	(void)found(100, &n);
	CHECK_INT(n, 0); /* 0.002 % */
	for (size_t i = 60; i < 100; i++)
		value[i] = 1e9 * 1.002;
	change = found(100, &n);
	if (CHECK_INT(n, 1))
		CHECK_INT(change->index, 60);
	how.least = 0.01;
	if (CHECK_INT(tare_changes_find(value, 100, &how, &changes, &n), 0))
		CHECK_INT(n, 0);
	tare_changes_free(changes);
	how.least = 1e-6;
	for (size_t i = 60; i < 100; i++)
		value[i] = 1e9 + 2e4;
	if (CHECK_INT(tare_changes_find(value, 100, &how, &changes, &n), 0))
		CHECK_INT(n, 1);
	tare_changes_free(changes);
}

TEST(a_series_of_zeros_may_change_to_something)
{
	const tare_change *change;
	size_t n;

	for (size_t i = 0; i < 80; i++)
		value[i] = i < 40 ? 0 : 3;
	change = found(80, &n);
	if (CHECK_INT(n, 1)) {
		CHECK_INT(change->index, 40);
		CHECK(isnan(change->change));
	}
}

/* ---- gaps and sizes ---------------------------------------------------- */

TEST(gaps_keep_their_index)
{
	const tare_change *change;
	size_t n;

	fill(240, 0, 5);
	add(150, 240, 12);
	for (size_t i = 3; i < 240; i += 7)
		value[i] = NAN;
	value[149] = INFINITY;
	value[20] = -INFINITY;
	change = found(240, &n);
	if (CHECK_INT(n, 1))
		CHECK_INT(change->index, 151); /* 150 is a gap */
	for (size_t i = 0; i < 240; i++)
		value[i] = NAN;
	(void)found(240, &n);
	CHECK_INT(n, 0);
}

TEST(few_values_or_none_have_no_change)
{
	size_t n;

	for (size_t i = 0; i < 8; i++)
		value[i] = i < 4 ? 1 : 1000;
	for (size_t i = 0; i < 8; i++) {
		(void)found(i, &n);
		CHECK_INT(n, 0);
	}
}

TEST(values_of_any_size_are_taken)
{
	const tare_change *change;
	size_t n;

	for (int power = -290; power <= 290; power += 145) {
		double unit = pow(10, power);

		fill(200, 0, 6);
		add(100, 200, 10);
		for (size_t i = 0; i < 200; i++)
			value[i] *= unit;
		change = found(200, &n);
		if (CHECK_INT(n, 1))
			CHECK_INT(change->index, 100);
	}
	for (size_t i = 0; i < 200; i++)
		value[i] = i % 2 ? 9e299 : -9e299;
	(void)found(200, &n);
	CHECK(n < 200);
}

/* Steps far larger than the noise, on top of each other. */
TEST(levels_far_apart_are_told_apart)
{
	const tare_change *change;
	size_t n;

	fill(300, 0, 7);
	add(100, 200, 1e7);
	add(200, 300, 1e7 + 1e6);
	change = found(300, &n);
	if (CHECK_INT(n, 2))
		CHECK(change[0].index == 100 && change[1].index == 200);
}

/* With the square of n, this would take an hour. */
TEST(a_million_values_are_one_series)
{
	size_t n_values = 1000000, n = 0;
	double *x = malloc(n_values * sizeof(*x));
	tare_change *changes = NULL;

	if (!CHECK(x != NULL))
		return;
	state = 5;
	for (size_t i = 0; i < n_values; i++)
		x[i] = 100 + normal() + (i >= 700000 ? 8 : 0);
	if (CHECK_INT(tare_changes_find(x, n_values, NULL, &changes, &n), 0) &&
	    CHECK_INT(n, 1))
		CHECK_INT(changes[0].index, 700000);
	tare_changes_free(changes);
	free(x);
}

/* ---- the newest value -------------------------------------------------- */

TEST(a_recent_change_is_provisional)
{
	tare_change change;
	size_t n, reported = 0;

	fill(200, 0, 8);
	add(150, 200, 6);
	CHECK_INT(tare_changes_newest(value, 150, NULL, &change), TARE_ENOENT);
	for (n = 151; n <= 200; n++) {
		int err = tare_changes_newest(value, n, NULL, &change);

		if (err == TARE_ENOENT)
			continue;
		if (!CHECK_INT(err, 0) || !CHECK(change.is_provisional))
			return;
		reported += reported == 0 ? n : 0;
		CHECK(change.index >= 148 && change.index <= 152);
		CHECK(n < change.index + 20);
	}
	/* Seven values of six standard deviations are enough. */
	CHECK(reported > 150 && reported <= 160);
}

TEST(the_newest_change_of_a_long_series_has_its_index)
{
	tare_change change;

	fill(MOST, 0, 9);
	add(1990, MOST, 15);
	if (CHECK_INT(tare_changes_newest(value, MOST, NULL, &change), 0))
		CHECK_INT(change.index, 1990);
}

TEST(wrong_arguments_are_refused)
{
	tare_changes_options how = { .struct_size = 3 };
	tare_change *changes, change;
	size_t n;

	CHECK_INT(tare_changes_find(NULL, 5, NULL, &changes, &n), TARE_EINVAL);
	CHECK_INT(tare_changes_find(value, 5, &how, &changes, &n),
		  TARE_EINVAL);
	how = (tare_changes_options){ .struct_size = sizeof(how),
				      .least = NAN };
	CHECK_INT(tare_changes_find(value, 5, &how, &changes, &n),
		  TARE_EINVAL);
	how.least = -1;
	CHECK_INT(tare_changes_find(value, 5, &how, &changes, &n),
		  TARE_EINVAL);
	CHECK_INT(tare_changes_find(value, 5, NULL, NULL, &n), TARE_EINVAL);
	CHECK_INT(tare_changes_newest(value, 5, NULL, NULL), TARE_EINVAL);
	CHECK_INT(tare_changes_newest(NULL, 0, NULL, &change), TARE_ENOENT);
	tare_changes_free(NULL);
}

/* ---- files ------------------------------------------------------------- */

static const char *series_text(const char *text, const char *column)
{
	static char out[256];
	tare_run_problem problem = { .line = 0 };
	struct tr_value_list series;
	size_t len = 0;

	if (tr_value_list_parse(text, strlen(text), column, &series,
				&problem)) {
		(void)snprintf(out, sizeof(out), "%llu: %s",
			       (unsigned long long)problem.line, problem.text);
		return out;
	}
	out[0] = '\0';
	for (size_t i = 0; i < series.n && len < sizeof(out); i++)
		len += (size_t)snprintf(out + len, sizeof(out) - len, "%s%g",
					i ? " " : "", series.value[i]);
	tr_value_list_release(&series);
	return out;
}

TEST(a_series_is_a_column_of_a_file)
{
	CHECK_STR(series_text("value\n1\n2.5\n-3e2\n", NULL), "1 2.5 -300");
	CHECK_STR(series_text("1\r\n2\r\n", NULL), "1 2");
	CHECK_STR(series_text("\xef\xbb\xbfvalue\n7", NULL), "7");
	CHECK_STR(series_text("date,ms\na,1\nb,2\n", NULL), "1 2");
	CHECK_STR(series_text("date;value;x\na;1;8\nb;2;9\n", NULL), "1 2");
	CHECK_STR(series_text("date,\"p 95\",x\na,1,8\n", "p 95"), "1");
	CHECK_STR(series_text("date,ms,x\na,1,8\n", "2"), "1");
	CHECK_STR(series_text("a\tb\n1\t2\n", "a"), "1");
	CHECK_STR(series_text("# made by hand\n\nvalue\n1\n#2\n3\n", NULL),
		  "1 3");
}

TEST(rows_without_a_value_are_gaps_but_not_at_the_end)
{
	CHECK_STR(series_text("value\n1\n\nnan\nNA\n-\n5\n\n\n", NULL),
		  "1 nan nan nan nan 5");
	CHECK_STR(series_text("a,b\n1,2\n3\n4,\n5,6\n", NULL), "2 nan nan 6");
	CHECK_STR(series_text("value\n1\nnan\n", NULL), "1 nan");
}

TEST(what_is_no_series_is_refused_with_its_line)
{
	CHECK_STR(series_text("value\n1\nmuch\n", NULL),
		  "3: 'much' is not a number");
	CHECK_STR(series_text("a,b\n1,2\n", "c"), "1: there is no column 'c'");
	CHECK_STR(series_text("a,b\n1,2\n", "3"), "1: there is no column '3'");
	CHECK_STR(series_text("value\n", NULL), "0: there are no values");
	CHECK_STR(series_text("", NULL), "0: there are no values");
	CHECK_STR(series_text("value\n1\x1b[2J\n", NULL),
		  "2: '1?[2J' is not a number");
}
