/* SPDX-License-Identifier: Apache-2.0 */
/* Verdicts of pairs: bounds of ranks, intervals, false alarms, needed runs. */
#include "read/judge.h"

#include <math.h>
#include <stdlib.h>

#include "base/maths.h"
#include "check.h"

static uint64_t state = 1;

/* xorshift64*: the same numbers in each run. */
static double uniform(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (double)((state * 2685821657736338717u) >> 11) * 0x1p-53;
}

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 *
						   uniform());
}

/* Noise of a busy machine: skewed, now and then a run of twice the time. */
static double skewed(void)
{
	double x = exp(0.7 * normal()) - 1;

	return uniform() < 0.05 ? x + 20 * uniform() : x;
}

enum noise { NORMAL, SKEWED, DRIFTING };

/* Seconds of n pairs in random order; `slower` in shares, `sd` of a pair. */
static void make(double *old, double *now, size_t n, enum noise noise,
		 double slower, double sd)
{
	double level = 0;

	for (size_t i = 0; i < 2 * n; i++) {
		bool is_first = i % 2 == 0;
		static bool swaps;
		double x;

		if (is_first)
			swaps = uniform() < 0.5;
		level = 0.9 * level + 2 * normal();
		x = noise == NORMAL ? normal() * sd / 1.4142 :
		    noise == SKEWED ? skewed() * sd / 1.2 :
				      (level + normal()) * sd / 1.4142;
		if (is_first == swaps)
			now[i / 2] = 0.2 * (1 + slower) * exp(x);
		else
			old[i / 2] = 0.2 * exp(x);
	}
}

/* By trying all signs. */
static double share_up_to(unsigned n, int64_t most)
{
	unsigned cap = tr_signed_rank_cap(n), found = 0;

	for (unsigned signs = 0; signs < 1u << n; signs++) {
		int64_t sum = 0;

		for (unsigned i = 0; i < n; i++)
			if (signs >> i & 1)
				sum += i + 1 < cap ? i + 1 : cap;
		found += sum <= most;
	}
	return found / (double)(1u << n);
}

TEST(bounds_of_signed_ranks_are_those_of_all_signs)
{
	for (unsigned n = 5; n <= 14; n += 3) {
		int64_t bound = tr_signed_rank_bound(n, 0.0025);

		CHECK(bound < 0 || share_up_to(n, bound) <= 0.0025);
		CHECK(share_up_to(n, bound + 1) > 0.0025);
	}
	CHECK_INT(tr_signed_rank_bound(8, 0.0025), -1);
	CHECK_INT(tr_signed_rank_bound(9, 0.0025), 0);
	CHECK_INT(tr_signed_rank_bound(0, 0.025), -1);
	/* The exact one and the normal one fit together. */
	CHECK_NEAR((double)tr_signed_rank_bound(61, 0.0025) -
		   (double)tr_signed_rank_bound(60, 0.0025), 17, 6);
}

TEST(bounds_of_rank_sums_are_those_of_the_tables)
{
	CHECK_INT(tr_rank_sum_bound(3, 3, 0.025), -1);
	CHECK_INT(tr_rank_sum_bound(4, 4, 0.025), 0);
	CHECK_INT(tr_rank_sum_bound(5, 8, 0.025), 6);
	CHECK_INT(tr_rank_sum_bound(10, 10, 0.025), 23);
	CHECK_INT(tr_rank_sum_bound(20, 20, 0.005), 105);
	CHECK_NEAR((double)tr_rank_sum_bound(21, 20, 0.005), 112, 3);
}

struct rates {
	double equal, faster, slower, unsure, covered;
};

static struct rates rates_of(size_t n, enum noise noise, double slower,
			     double sd, unsigned times)
{
	struct rates rates = { 0, 0, 0, 0, 0 };
	double old[256], now[256];

	for (unsigned i = 0; i < times; i++) {
		struct tr_verdict v;

		make(old, now, n, noise, slower, sd);
		v = tr_judge_pairs(old, now, n, NULL);
		rates.equal += v.answer == TR_ANSWER_EQUAL;
		rates.faster += v.answer == TR_ANSWER_FASTER;
		rates.slower += v.answer == TR_ANSWER_SLOWER;
		rates.unsure += v.answer == TR_ANSWER_UNSURE;
		rates.covered += v.low <= slower && slower <= v.high;
	}
	rates.equal /= times;
	rates.faster /= times;
	rates.slower /= times;
	rates.unsure /= times;
	rates.covered /= times;
	return rates;
}

TEST(equal_programs_are_not_called_different)
{
	for (int noise = NORMAL; noise <= DRIFTING; noise++)
		for (double sd = 0.001; sd < 0.2; sd *= 5) {
			struct rates r = rates_of(20, noise, 0, sd, 300);

			/* 0.5 %, and what chance adds to 300 trials. */
			CHECK(r.faster + r.slower <= 0.02);
			CHECK(r.covered >= 0.98);
		}
}

TEST(equal_programs_are_called_equal_where_the_noise_allows)
{
	CHECK(rates_of(20, NORMAL, 0, 0.01, 200).unsure <= 0.08);
	CHECK(rates_of(20, SKEWED, 0, 0.004, 200).unsure <= 0.08);
	/* And not where it does not. */
	CHECK(rates_of(20, NORMAL, 0, 0.1, 200).equal <= 0.02);
}

TEST(one_percent_is_found_where_the_noise_allows)
{
	CHECK(rates_of(20, NORMAL, 0.01, 0.008, 200).slower >= 0.93);
	CHECK(rates_of(20, SKEWED, 0.01, 0.004, 200).slower >= 0.93);
	CHECK(rates_of(20, NORMAL, -0.01, 0.008, 200).faster >= 0.93);
	CHECK(rates_of(20, NORMAL, 0.05, 0.04, 200).slower >= 0.93);
}

TEST(a_difference_as_large_as_the_limit_is_rarely_called_equal)
{
	for (double sd = 0.004; sd < 0.1; sd *= 2)
		CHECK(rates_of(20, NORMAL, 0.01, sd, 200).equal <= 0.1);
}

TEST(needed_pairs_are_right_within_a_factor_of_two)
{
	double old[256], now[256];
	unsigned told = 0, right = 0;

	for (unsigned i = 0; i < 150; i++) {
		struct tr_verdict v;

		make(old, now, 20, NORMAL, 0.01, 0.02);
		v = tr_judge_pairs(old, now, 20, NULL);
		if (v.answer != TR_ANSWER_UNSURE)
			continue;
		told++;
		/* (4.45 x 2 %)^2 is 79, by the efficiency of ranks 83. */
		right += v.needed >= 41 && v.needed <= 166;
	}
	CHECK(told > 75);
	CHECK(right >= told * 85 / 100);
	/* And with that number it is found. */
	CHECK(rates_of(83, NORMAL, 0.01, 0.02, 100).slower >= 0.88);
}

TEST(a_run_each_and_runs_without_spread_have_an_answer)
{
	double one[] = { 1.0 }, two[] = { 1.1 };
	double same[20], more[20], none[2] = { 0, NAN };
	struct tr_verdict v = tr_judge_pairs(one, two, 1, NULL);

	CHECK_INT(v.answer, TR_ANSWER_UNSURE);
	CHECK_NEAR(v.change, 0.1, 1e-12);
	CHECK(isnan(v.low));
	CHECK_INT(tr_verdict_is_above(&v, 0.02), -1);
	for (size_t i = 0; i < 20; i++) {
		same[i] = 5;
		more[i] = 5.05;
	}
	v = tr_judge_pairs(same, same, 20, NULL);
	CHECK_INT(v.answer, TR_ANSWER_EQUAL);
	CHECK(v.change == 0);
	v = tr_judge_pairs(same, more, 3, NULL);
	CHECK_INT(v.answer, TR_ANSWER_SLOWER);
	CHECK_INT(tr_verdict_is_above(&v, 0.02), 0);
	CHECK_INT(tr_verdict_is_above(&v, 0.005), 1);
	v = tr_judge_pairs(none, none, 2, NULL);
	CHECK_INT(v.answer, TR_ANSWER_UNSURE);
	CHECK_INT(v.n, 0);
	CHECK(isnan(v.change));
}

TEST(what_disturbs_a_run_is_taken_out_without_false_alarms)
{
	double old[20], now[20], more[20], spread = 0, quiet = 0;
	unsigned alarms = 0, found = 0;

	for (unsigned i = 0; i < 300; i++) {
		struct tr_verdict v;
		bool is_slower = i % 2;

		make(old, now, 20, NORMAL, is_slower ? 0.02 : 0, 0.008);
		for (size_t k = 0; k < 20; k++) {
			double a = fabs(normal()), b = fabs(normal());

			more[k] = b - a;
			old[k] *= exp(0.03 * a);
			now[k] *= exp(0.03 * b);
		}
		spread += tr_judge_pairs(old, now, 20, NULL).spread;
		tr_judge_adjust(old, now, more, 20);
		v = tr_judge_pairs(old, now, 20, NULL);
		quiet += v.spread;
		alarms += !is_slower && v.answer >= TR_ANSWER_FASTER;
		found += is_slower && v.answer == TR_ANSWER_SLOWER &&
			 v.change > 0.015 && v.change < 0.025;
	}
	CHECK(quiet < 0.6 * spread);
	CHECK(alarms <= 5);
	CHECK(found >= 120);
	/* What has nothing to do with the noise changes nothing. */
	make(old, now, 20, NORMAL, 0, 0.01);
	for (size_t k = 0; k < 20; k++)
		more[k] = 0;
	spread = now[0];
	tr_judge_adjust(old, now, more, 20);
	CHECK(now[0] <= spread && now[0] >= spread);
}

TEST(sets_of_runs_are_judged_without_pairs)
{
	double old[30], now[30];
	unsigned alarms = 0, found = 0;
	struct tr_verdict v;

	for (unsigned i = 0; i < 150; i++) {
		make(old, now, 20, SKEWED, 0, 0.01);
		alarms += tr_judge_sets(old, 20, now, 18, NULL).answer >=
			  TR_ANSWER_FASTER;
		make(old, now, 20, SKEWED, 0.02, 0.01);
		found += tr_judge_sets(old, 20, now, 20, NULL).answer ==
			 TR_ANSWER_SLOWER;
	}
	CHECK(alarms <= 5);
	CHECK(found >= 142);
	v = tr_judge_sets(old, 1, now, 20, NULL);
	CHECK_INT(v.answer, TR_ANSWER_UNSURE);
	v = tr_judge_sets(old, 3, now, 3, NULL);
	CHECK(v.low < v.high);
	v = tr_judge_sets(old, 0, now, 3, NULL);
	CHECK(isnan(v.change));
}
