/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts of pairs and of sets of runs: see pairs.h.
 *
 *	logarithms of ratios -> the change that halves their scores, or the
 *	median of all differences; and an interval of those that a test with
 *	that alarm does not refuse -> one of four answers
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "read/judge.h"

/* Ranks give no interval of 99.5 % for fewer pairs. */
#define RANKS_LEAST 9u

/* Logarithms: the middle and both intervals. */
struct estimate {
	double middle;
	double low, high;	    /* of 1 - alarm; NAN: none */
	double near_low, near_high; /* of 90 % */
	double error;		    /* standard error of the middle */
	double spread;		    /* of one pair */
};

static int ascending(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return TR_ORDER(*x, *y);
}

static double median_of(const double *sorted, size_t n)
{
	return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

/* The k-th value from below and from above, k from 0 on. */
static void take_interval(const double *sorted, size_t n, int64_t bound,
			  double *ret_low, double *ret_high)
{
	size_t k = bound >= 0 ? (size_t)bound + 1 : 0;

	if (bound < 0 || 2 * k >= n)
		return;
	*ret_low = sorted[k];
	*ret_high = sorted[n - 1 - k];
}

/* ---- estimates --------------------------------------------------------- */

static double mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

static double squares_of(const double *x, size_t n)
{
	double mean = mean_of(x, n), sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum;
}

static void by_student(struct estimate *e, double error, double freedom,
		       double alarm)
{
	double wide = tr_student(freedom, alarm) * error;
	double near = tr_student(freedom, 2 * TR_JUDGE_MISSED) * error;

	e->error = error;
	e->low = e->middle - wide;
	e->high = e->middle + wide;
	e->near_low = e->middle - near;
	e->near_high = e->middle + near;
}

/* By the interval of ranks, which needs no squares of wild values. */
static void set_error(struct estimate *e, double alarm)
{
	e->error = (e->high - e->low) / 2 / tr_student(1e7, alarm);
}

static void few_pairs(struct estimate *e, const double *d, size_t n,
		      double alarm)
{
	double squares = squares_of(d, n);

	e->middle = mean_of(d, n);
	if (n < 2)
		return;
	e->spread = tr_maths_sqrt(squares / (double)(n - 1));
	by_student(e, e->spread / tr_maths_sqrt((double)n), (double)n - 1,
		   alarm);
}

/* The sum of the scores of those above `middle`; d ascends. */
static double score_above(const double *d, size_t n, double middle)
{
	size_t cap = tr_signed_rank_cap(n), below = 0, above;
	double sum = 0;

	while (below < n && d[below] <= middle)
		below++;
	above = below;
	/* The nearest has rank 1: both sides are merged by distance. */
	for (size_t rank = 1; rank <= n; rank++) {
		bool is_above = !below || (above < n && d[above] - middle <
						middle - d[below - 1]);

		if (is_above) {
			sum += (double)(rank < cap ? rank : cap);
			above++;
		} else {
			below--;
		}
	}
	return sum;
}

/* Where the score falls to `least`: it falls as the middle rises. */
static double crossing(const double *d, size_t n, double least)
{
	double low = d[0], high = d[n - 1];

	for (int i = 0; i < 48 && low < high; i++) {
		double middle = (low + high) / 2;

		if (score_above(d, n, middle) > least)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static void cross_at(const double *d, size_t n, double tail, double *ret_low,
		     double *ret_high)
{
	int64_t bound = tr_signed_rank_bound(n, tail);
	double all = 0, cap = tr_signed_rank_cap(n);

	for (size_t rank = 1; rank <= n; rank++)
		all += tr_least((double)rank, cap);
	if (bound < 0)
		return;
	*ret_low = crossing(d, n, all - (double)bound - 0.5);
	*ret_high = crossing(d, n, (double)bound + 0.5);
}

static void many_pairs(struct estimate *e, double *d, size_t n, double alarm)
{
	qsort(d, n, sizeof(*d), ascending);
	/* Where half of all scores are above. */
	e->middle = crossing(d, n, score_above(d, n, d[0] - 1) / 2);
	cross_at(d, n, alarm / 2, &e->low, &e->high);
	cross_at(d, n, TR_JUDGE_MISSED, &e->near_low, &e->near_high);
	set_error(e, alarm);
	e->spread = e->error * tr_maths_sqrt((double)n);
}

static void few_of_sets(struct estimate *e, const double *a, size_t n,
			const double *b, size_t m, double alarm)
{
	double u = squares_of(a, n), v = squares_of(b, m), freedom;

	e->middle = mean_of(b, m) - mean_of(a, n);
	if (n < 2 || m < 2)
		return;
	u /= (double)(n - 1) * (double)n;
	v /= (double)(m - 1) * (double)m;
	freedom = u * u / (double)(n - 1) + v * v / (double)(m - 1);
	freedom = freedom > 0 ? (u + v) * (u + v) / freedom : 1;
	e->spread = tr_maths_sqrt(u * (double)n + v * (double)m);
	by_student(e, tr_maths_sqrt(u + v), freedom, alarm);
}

static int many_of_sets(struct estimate *e, const double *a, size_t n,
			const double *b, size_t m, double alarm)
{
	double *shift = malloc(n * m * sizeof(*shift));
	size_t k = 0;

	if (!shift)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < m; j++)
			shift[k++] = b[j] - a[i];
	qsort(shift, k, sizeof(*shift), ascending);
	e->middle = median_of(shift, k);
	take_interval(shift, k, tr_rank_sum_bound(n, m, alarm / 2), &e->low,
		      &e->high);
	take_interval(shift, k, tr_rank_sum_bound(n, m, TR_JUDGE_MISSED),
		      &e->near_low, &e->near_high);
	set_error(e, alarm);
	e->spread = e->error * tr_maths_sqrt((double)(n < m ? n : m));
	free(shift);
	return 0;
}

/* ---- answers ----------------------------------------------------------- */

static double factor_of(double logarithm)
{
	return isnan(logarithm) ? logarithm : tr_maths_exp(logarithm) - 1;
}

double tr_verdict_within(const struct tr_verdict *v)
{
	return isnan(v->near_low) ? (double)NAN :
				    tr_most(v->near_high, -v->near_low);
}

int tr_verdict_is_above(const struct tr_verdict *v, double limit)
{
	if (isnan(v->low))
		return -1;
	return v->low > limit ? 1 : v->near_high <= limit ? 0 : -1;
}

uint64_t tr_verdict_needed(const struct tr_verdict *v, double limit)
{
	double z = tr_student(1e7, TR_JUDGE_ALARM), far, error, times;

	if (isnan(v->low) || v->high <= v->low)
		return 0;
	error = tr_maths_log((1 + v->high) / (1 + v->low)) / 2 / z;
	far = fabs(tr_maths_log((1 + v->change) / (1 + limit)));
	/* A change just at the limit would take for ever. */
	far = tr_most(far, tr_maths_log(1 + limit) / 4);
	times = (z + tr_student(1e7, 2 * (1 - TR_JUDGE_FOUND))) * error / far;
	return (uint64_t)tr_most(v->n * times * times, v->n) + 1;
}

static enum tr_answer answer_of(const struct tr_verdict *v,
				const struct tr_judge_rule *rule)
{
	double least = tr_maths_log(1 + rule->least);
	double change = tr_maths_log(1 + v->change);

	if (isnan(v->low))
		return TR_ANSWER_UNSURE;
	if (v->low > 0 && change >= least)
		return TR_ANSWER_SLOWER;
	if (v->high < 0 && change <= -least)
		return TR_ANSWER_FASTER;
	return tr_verdict_within(v) <= rule->limit ? TR_ANSWER_EQUAL :
						     TR_ANSWER_UNSURE;
}

/* So many that the limit is found: a quarter of the error, four times n. */
static uint64_t needed_of(const struct estimate *e, size_t n,
			  const struct tr_judge_rule *rule)
{
	double reach = tr_student(1e7, rule->alarm) +
		       tr_student(1e7, 2 * (1 - TR_JUDGE_FOUND));
	double times = reach * e->error / tr_maths_log(1 + rule->limit);
	double needed = (double)n * times * times;

	if (!(e->error > 0) || needed > 1e9)
		return 0;
	/* It was not told with n; the estimate of the noise is itself one. */
	if (needed < (double)n + 1)
		return n < 4 ? 2 * n : n + n / 2;
	return (uint64_t)needed + 1;
}

static struct tr_verdict verdict_of(const struct estimate *e, size_t n,
				    const struct tr_judge_rule *rule)
{
	struct tr_verdict v = {
		.change = factor_of(e->middle),
		.low = factor_of(e->low),
		.high = factor_of(e->high),
		.near_low = factor_of(e->near_low),
		.near_high = factor_of(e->near_high),
		.spread = factor_of(e->spread),
		.n = (uint32_t)n,
	};

	v.answer = answer_of(&v, rule);
	if (v.answer == TR_ANSWER_UNSURE)
		v.needed = needed_of(e, n, rule);
	return v;
}

static struct tr_judge_rule filled(const struct tr_judge_rule *given)
{
	struct tr_judge_rule rule = { 0, 0, 0 };

	if (given)
		rule = *given;
	rule.limit = rule.limit > 0 ? rule.limit : TR_JUDGE_LIMIT;
	rule.least = rule.least > 0 ? rule.least : TR_JUDGE_LEAST;
	rule.alarm = rule.alarm > 0 ? rule.alarm : TR_JUDGE_ALARM;
	return rule;
}

static struct estimate nothing(void)
{
	return (struct estimate){ NAN, NAN, NAN, NAN, NAN, NAN, NAN };
}

static bool is_figure(double x)
{
	return x > 0 && tr_is_number(x);
}

struct tr_verdict tr_judge_pairs(const double *old, const double *now,
				 size_t n, const struct tr_judge_rule *given)
{
	struct tr_judge_rule rule = filled(given);
	struct estimate e = nothing();
	double *d = malloc((n + 1) * sizeof(*d));
	size_t used = 0;

	for (size_t i = 0; d && i < n && used < TR_JUDGE_MOST; i++)
		if (is_figure(old[i]) && is_figure(now[i]))
			d[used++] = tr_maths_log(now[i] / old[i]);
	if (used >= RANKS_LEAST &&
	    tr_signed_rank_bound(used, rule.alarm / 2) >= 0)
		many_pairs(&e, d, used, rule.alarm);
	else if (used)
		few_pairs(&e, d, used, rule.alarm);
	free(d);
	return verdict_of(&e, used, &rule);
}

/* Logarithms of the figures; gives the array (free), NULL: no memory. */
static double *logarithms(const double *x, size_t n, size_t *ret_n)
{
	double *out = malloc((n + 1) * sizeof(*out));
	size_t used = 0;

	for (size_t i = 0; out && i < n && used < TR_JUDGE_MOST; i++)
		if (is_figure(x[i]))
			out[used++] = tr_maths_log(x[i]);
	*ret_n = used;
	return out;
}

struct tr_verdict tr_judge_sets(const double *old, size_t n_old,
				const double *now, size_t n_now,
				const struct tr_judge_rule *given)
{
	struct tr_judge_rule rule = filled(given);
	struct estimate e = nothing();
	size_t n, m;
	double *a = logarithms(old, n_old, &n);
	double *b = logarithms(now, n_now, &m);

	if (n && m && tr_rank_sum_bound(n, m, rule.alarm / 2) >= 0)
		(void)many_of_sets(&e, a, n, b, m, rule.alarm);
	else if (n && m)
		few_of_sets(&e, a, n, b, m, rule.alarm);
	free(a);
	free(b);
	return verdict_of(&e, n < m ? n : m, &rule);
}

const char *tr_answer_text(enum tr_answer answer)
{
	static const char *const texts[] = { "cannot tell", "equal", "faster",
					     "slower" };

	return texts[answer];
}
