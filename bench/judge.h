/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parts of the benchmark `judge` in separate files. Add a part: a file, its
 * function here, a row in judge.c.
 */
#ifndef JUDGE_H
#define JUDGE_H

#include <stddef.h>

void judge_changes_part(void);

/* ---- judge_labels.c ---------------------------------------------------- */

#define JUDGE_PEOPLE 8u

/* Indices, in increasing order. */
struct judge_points {
	size_t *at;
	size_t n;
};

/* A series and what each person sees in it. */
struct judge_series {
	char name[64];
	double *value;
	size_t n;
	struct judge_points person[JUDGE_PEOPLE];
	size_t n_people;
};

/* All series of a folder with labels.json and series/; ends the part with a
 * message if there is none. */
struct judge_series *judge_labels(size_t *ret_n);

/* The figures of score.py, added up. */
struct judge_score {
	double f1; /* sum over series */
	size_t n, agreed, found, made, wrong, quiet, noisy;
};

void judge_score_add(struct judge_score *score,
		     const struct judge_series *series,
		     const struct judge_points *predicted);

#endif
