/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pairs: is one program faster than another? Part of the door read/judge.h.
 *
 * Comes in: a figure of each run, such as seconds: of pairs of runs, one of
 * each program directly after the other in random order, or of two sets of
 * runs. Goes out: a change with its interval, and one of four answers.
 *
 * Only logarithms of ratios are used, so a change is a factor and the unit
 * does not matter. The interval is that of signed ranks with a cap (of pairs)
 * or of ranks (of sets): it needs no normal distribution, wild runs hardly
 * move it, and for pairs in random order the probability of a false alarm is
 * right whatever the noise of the machine does from pair to pair: exchanging
 * the two runs of a pair changes nothing but a sign. Too few runs for ranks
 * (fewer than nine pairs) get the interval of Student's t instead.
 *
 * The means that other tools compare were rejected: the noise of a shared
 * machine has a long tail to one side. So was the minimum: a minimum of twenty
 * runs of a fifth of a second has a spread as large as a mean's.
 */
#ifndef TR_READ_JUDGE_PAIRS_H
#define TR_READ_JUDGE_PAIRS_H

#include <tare/api.h>

#include "read/view.h"

enum tr_answer {
	TR_ANSWER_UNSURE, /* more runs are needed */
	TR_ANSWER_EQUAL,  /* any difference is below the limit */
	TR_ANSWER_FASTER, /* less: of the new by the old */
	TR_ANSWER_SLOWER  /* more */
};

/* Zero-filled: the defaults. */
struct tr_judge_rule {
	double limit; /* differences below are equal; 0: TR_JUDGE_LIMIT */
	double least; /* smaller changes are no answer; 0: TR_JUDGE_LEAST */
	double alarm; /* how often equal ones may differ; 0: TR_JUDGE_ALARM */
};

#define TR_JUDGE_LIMIT 0.01
#define TR_JUDGE_LEAST 0.0025
#define TR_JUDGE_ALARM 0.005
/* Equal is said wrongly of a difference as large as the limit this often. */
#define TR_JUDGE_MISSED 0.05
/* And a difference as large as the limit is found this often in `needed`. */
#define TR_JUDGE_FOUND 0.95

#define TR_JUDGE_MOST 2000u /* pairs, or runs of a set; others are ignored */

struct tr_verdict {
	enum tr_answer answer;
	double change;	  /* 0.05: 5 % more than the old; NAN: not known */
	double low, high; /* interval of 1 - alarm; NAN: none */
	double near_low, near_high; /* each is right in 95 % of cases */
	double spread;	  /* standard deviation of one pair's ratio */
	uint32_t n;	  /* pairs, or runs of the smaller set */
	uint64_t needed;  /* pairs to tell the limit; 0: it is told, or not
			   * known */
};

/* "equal", "faster", "slower", "cannot tell" */
const char *tr_answer_text(enum tr_answer answer);

/* Of runs old[i] and now[i], measured one after the other. Pairs with a value
 * that is no number above 0 are left out. */
struct tr_verdict tr_judge_pairs(const double *old, const double *now,
				 size_t n, const struct tr_judge_rule *rule);
/*
 * Takes out of now[i] what disturbed it more than old[i] was, by a slope that
 * is found in the pairs, if that makes them less noisy. See nuisance.c.
 */
void tr_judge_adjust(const double *old, double *now, const double *nuisance,
		     size_t n);
/* Of two sets of runs that were not measured in turn. */
struct tr_verdict tr_judge_sets(const double *old, size_t n_old,
				const double *now, size_t n_now,
				const struct tr_judge_rule *rule);
/* The change is between +- this, in 95 % of cases; NAN: not known. */
double tr_verdict_within(const struct tr_verdict *verdict);
/*
 * Is the change from the old to the new above a limit (1), not above it (0),
 * or not known (-1)? Above with the certainty of the interval, not above in
 * 95 % of cases.
 */
int tr_verdict_is_above(const struct tr_verdict *verdict, double limit);

/* Pairs with which that would be known in 95 % of cases; 0: not known. */
uint64_t tr_verdict_needed(const struct tr_verdict *verdict, double limit);

/* ---- signed_rank.c ----------------------------------------------------- */

/*
 * The score of the largest differences of n pairs: scores are ranks, but no
 * larger than this. With plain ranks, two wild pairs of twenty hide any change.
 */
uint32_t tr_signed_rank_cap(size_t n);
/*
 * The largest w for which the sum of the scores of one sign is at most w with a
 * probability of at most `tail`, n pairs; -1: there is none.
 */
int64_t tr_signed_rank_bound(size_t n, double tail);
/* The same for Mann's and Whitney's U. */
int64_t tr_rank_sum_bound(size_t n, size_t m, double tail);

#endif
