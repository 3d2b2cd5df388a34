/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Explain: which functions, allocations and series make the difference between
 * two sets of runs. Part of the door read/judge.h.
 *
 * Comes in: views of the processes of runs, old and new ones. Goes out: rows
 * whose changes add up, with what is too small to be told from noise in one
 * row at the end.
 *
 * A function stands for what it does and for what the runtime (libc, the C++
 * library, the kernel) does for it: a new call of malloc is a change of the
 * function that calls it. Functions are the same where their names are, without
 * what a compiler appends. A function that only one side has is matched with
 * one that only the other side has if their names are alike and their times
 * are, or with its caller if that gained what it lost (it was inlined).
 */
#ifndef TR_READ_JUDGE_EXPLAIN_H
#define TR_READ_JUDGE_EXPLAIN_H

#include <tare/read/profile.h>

#include "read/profile.h"

struct tr_side {
	tare_view *const *views; /* of all processes of all runs */
	size_t n;
	double runs;
};

struct tr_explained {
	const char *name;   /* "parse", "parse_old -> parse" */
	const char *file;   /* "": not known */
	const char *callee; /* of the runtime, where most of it is; "": none */
	double old, now;    /* ns or bytes a run */
	double old_n, now_n; /* samples or allocations a run */
	double change;	    /* now - old */
	double error;	    /* standard error of the change */
	bool is_sure;	    /* more than noise */
};

struct tr_explanation {
	struct tr_explained *row; /* largest change first, sure ones first */
	size_t n;
	size_t n_rest;	 /* functions that are not listed */
	double rest;	 /* the sum of their changes */
	double old, now; /* all, a run */
	double old_n, now_n;
	double error;	 /* of now - old */
	struct tr_pool texts;
};

/*
 * By samples (ns of CPU time, or of time where waiting was sampled, too) or by
 * allocations (rows by their number). 0 or an error; release in any case.
 */
int tr_explain(const struct tr_side *old, const struct tr_side *now,
	       enum tare_frames_from from, struct tr_explanation *ret);
void tr_explanation_release(struct tr_explanation *explanation);

/* A scope, counter or value of the program's own probes, a run. */
struct tr_series_change {
	const char *name, *labels, *unit;
	enum tare_kind kind;
	double old_count, now_count; /* calls, or the sum of a counter */
	double old_ns, now_ns;	     /* scopes: net own time; else 0 */
	bool is_estimate;
};

struct tr_series_changes {
	struct tr_series_change *row; /* changed ones, by time, then by count */
	size_t n;
	tare_merge *side[2]; /* have the texts */
};

/*
 * Series whose count changed by 0.5 %, or whose own time did by 5 %. 0 or an
 * error; release in any case.
 */
int tr_explain_series(const struct tr_side *old, const struct tr_side *now,
		      struct tr_series_changes *ret);
void tr_series_changes_release(struct tr_series_changes *changes);

/* The bytes of a name that a compiler did not append. */
size_t tr_name_stem(const char *name);
/* How alike two names are, 0..1: the share of bytes they have in common. */
double tr_names_alike(const char *a, const char *b);

#endif
