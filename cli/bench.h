/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bench: programs run in turn, in random order, and are compared.
 *
 *	command line -> cases (each program with each parameter)
 *		-> rounds: every case once, those that are compared directly
 *		   one after the other -> trials -> verdicts
 *		-> table, causes of outliers, CSV, JSON, Markdown
 */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include <stdint.h>
#include <stdio.h>

#include "args.h"
#include "base/text.h"
#include "read/judge.h"
#include "trial.h"

#define BENCH_PROGRAMS_MOST 16u
#define BENCH_CASES_MOST 256u

/* A program with values for all parameters. */
struct bench_case {
	char **argv;
	char *name;	 /* of the program: as given, or its words */
	char *values;	 /* "size=10 mode=a"; "": no parameter */
	size_t program;	 /* index of the command */
	size_t setting;	 /* index of the combination of values */
	struct trial *trials; /* one a round; bad ones stay, see below */
	size_t n;
	bool is_single;	 /* see trial_settle() */
	size_t failed, slept; /* trials that are left out */
	int bad_status;	      /* of wait, of the first that failed */
	double *instructions; /* n_instructions values */
	size_t n_instructions;
};

struct bench_pair;
struct difference;

struct bench {
	struct bench_case *cases; /* setting by setting */
	size_t n_cases, n_programs, n_settings;
	uint64_t rounds;	/* wanted */
	uint64_t warmup;
	int64_t most_ns;	/* no round that ends later; 0: no limit */
	const char *prepare;	/* shell command before each trial, or NULL */
	struct trial_how how;
	bool ignores_failure;
	uint64_t seed;
	bool is_cut;		/* fewer rounds than wanted */
	struct tr_judge_rule rule;
	/* Each other program against the first one, once they have run. */
	struct bench_pair *pairs;
	struct difference *differences; /* of each pair */
	size_t n_pairs;
};

/* ---- bench_plan.c ------------------------------------------------------ */

/*
 * The cases: operands are programs, separated by the word `separator`, which
 * are called `names` in their order; each of `parameters` is NAME=V1,V2,...
 * and {NAME} in a word is a value. 0, or an exit code after a message.
 */
int bench_plan(struct bench *bench, const struct args *args,
	       const char *separator, const struct words *names,
	       const struct words *parameters);
void bench_release(struct bench *bench);

/* ---- bench_rounds.c ---------------------------------------------------- */

/* Runs everything. 0, or an exit code after a message. */
int bench_rounds(struct bench *bench);
/* Numbers from 0 to n - 1 of a generator that the seed starts. */
uint64_t bench_random(uint64_t *seed, uint64_t n);

/* ---- bench_judge.c ----------------------------------------------------- */

/* A figure of two cases. */
struct bench_row {
	enum trial_figure figure;
	double old, now; /* medians */
	struct tr_verdict verdict;
};

#define BENCH_ROWS 8u

struct bench_pair {
	const struct bench_case *old, *now;
	enum trial_figure by; /* what the answer is by */
	struct tr_verdict verdict;
	double old_value, now_value; /* medians of it */
	struct bench_row row[BENCH_ROWS];
	size_t n_rows;
};

struct bench_pair bench_judge(const struct bench_case *old,
			      const struct bench_case *now,
			      const struct tr_judge_rule *rule);
/* All pairs. 0, or an exit code after a message. */
int bench_judge_all(struct bench *bench);
/* Figures of its good trials; returns how many. `out` has room for n. */
size_t bench_values(const struct bench_case *c, enum trial_figure figure,
		    double *out);
double bench_median(double *values, size_t n);
/* "time", "CPU time", ... */
const char *trial_figure_text(enum trial_figure figure);
/* A value of a figure for people. */
struct tr_text trial_text(enum trial_figure figure, double value);

/* ---- bench_cause.c ----------------------------------------------------- */

/* A trial that took much longer, and the likely cause. */
struct bench_outlier {
	size_t trial;
	double ratio; /* by the median */
	char cause[160];
};

/* At most `most`, the largest first; returns how many there are. */
size_t bench_outliers(const struct bench_case *c, struct bench_outlier *out,
		      size_t most);

/* ---- bench_profile.c --------------------------------------------------- */

/* More runs of both, profiled: what differs. 0, or an exit code after a
 * message; release the difference in any case. */
int bench_profile(const struct bench *bench, const struct bench_pair *pair,
		  uint64_t runs, struct difference *difference);

/* ---- bench_print.c, bench_export.c ------------------------------------- */

void bench_print(const struct bench *bench);
/* "slower by 1.02 % (0.84 to 1.21 %)" */
void bench_verdict_text(const struct bench_pair *pair, struct tr_buf *buf);
void bench_json(const struct bench *bench, struct tr_json *json);
int bench_csv(const struct bench *bench, const char *path);
int bench_markdown(const struct bench *bench, const char *path);

#endif
