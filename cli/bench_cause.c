/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Outliers: runs that took much longer than the median of their program, and
 * what the kernel says was different in them. A cause is named only if its
 * own time, or what it usually costs, can be as large as what is to be
 * explained.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read/view.h"

/* As in hyperfine: 14.8 deviations by the median one, but 5 % at least. */
#define FAR 14.8
#define FAR_LEAST 0.05

/* A page that is read from a disk takes so long, one in memory so. */
#define MAJOR_NS 50e3
#define MINOR_NS 250.
#define READ_NS 1. /* a byte: a slow disk */
/* What a program loses at a preemption: its caches. */
#define PREEMPTED_NS 20e3
#define ENOUGH 0.4 /* of the time to be explained */

/* The medians of a case. */
struct usual {
	double figure[TRIAL_FIGURES];
	double deviation; /* median one of the time */
};

static bool find_usual(const struct bench_case *c, struct usual *usual)
{
	double *room = malloc((c->n + 1) * sizeof(*room));
	size_t n;

	if (!room)
		return false;
	for (unsigned f = 0; f < TRIAL_FIGURES; f++) {
		n = 0;
		for (size_t i = 0; i < c->n; i++)
			if (trial_is_good(&c->trials[i]) &&
			    !isnan(c->trials[i].figure[f]))
				room[n++] = c->trials[i].figure[f];
		usual->figure[f] = bench_median(room, n);
	}
	n = bench_values(c, TRIAL_TIME, room);
	for (size_t i = 0; i < n; i++)
		room[i] = fabs(room[i] - usual->figure[TRIAL_TIME]);
	usual->deviation = bench_median(room, n);
	free(room);
	return n > 2;
}

struct cause {
	double ns; /* that it may have taken */
	char text[sizeof(((struct bench_outlier *)0)->cause)];
};

#define CAUSE(cause, value, ...) \
	do { \
		double ns_ = (value); \
		if (ns_ > (cause)->ns) { \
			(cause)->ns = ns_; \
			(void)snprintf((cause)->text, \
				       sizeof((cause)->text), __VA_ARGS__); \
		} \
	} while (0)

static void find_cause(const struct usual *u, const struct trial *t,
		       bool is_single, struct cause *cause)
{
	const double *f = t->figure, *g = u->figure;
	double mhz = f[TRIAL_SPEED] / g[TRIAL_SPEED];
	double rest;

	CAUSE(cause, (f[TRIAL_MAJOR] - g[TRIAL_MAJOR]) * MAJOR_NS,
	      "page cache: %.0f pages were read from storage, usually %.0f",
	      f[TRIAL_MAJOR], g[TRIAL_MAJOR]);
	CAUSE(cause, (f[TRIAL_READ] - g[TRIAL_READ]) * READ_NS,
	      "page cache: %s were read from storage, usually %s",
	      tr_as_bytes(f[TRIAL_READ]).text,
	      tr_as_bytes(g[TRIAL_READ]).text);
	CAUSE(cause, f[TRIAL_STOLEN] - g[TRIAL_STOLEN],
	      "the hypervisor ran other guests for %s",
	      tr_as_duration(f[TRIAL_STOLEN]).text);
	if (mhz < 0.97)
		CAUSE(cause, f[TRIAL_CPU] * (1 - mhz),
		      "CPU frequency: %.0f MHz, usually %.0f",
		      f[TRIAL_SPEED], g[TRIAL_SPEED]);
	if (!is_single)
		CAUSE(cause, f[TRIAL_QUEUED] - g[TRIAL_QUEUED],
		      "other load: no processor for %s",
		      tr_as_duration(f[TRIAL_QUEUED]).text);
	CAUSE(cause, (f[TRIAL_PREEMPTED] - g[TRIAL_PREEMPTED]) * PREEMPTED_NS,
	      "other load: interrupted %.0f times, usually %.0f",
	      f[TRIAL_PREEMPTED], g[TRIAL_PREEMPTED]);
	CAUSE(cause, (f[TRIAL_MINOR] - g[TRIAL_MINOR]) * MINOR_NS,
	      "memory: %.0f page faults, usually %.0f", f[TRIAL_MINOR],
	      g[TRIAL_MINOR]);
	if (f[TRIAL_OTHERS] > g[TRIAL_OTHERS] + 0.2)
		CAUSE(cause, (f[TRIAL_OTHERS] - g[TRIAL_OTHERS]) * 0.2 *
				     f[TRIAL_CPU],
		      "other load: others used %.1f processors, usually %.1f",
		      f[TRIAL_OTHERS], g[TRIAL_OTHERS]);
	rest = f[TRIAL_BLOCKED] - g[TRIAL_BLOCKED];
	if (cause->ns < rest * ENOUGH)
		CAUSE(cause, rest, "waited %s longer, but not for storage",
		      tr_as_duration(rest).text);
}

static int largest_first(const void *a, const void *b)
{
	const struct bench_outlier *x = a, *y = b;

	return TR_ORDER(y->ratio, x->ratio);
}

static void explain(const struct bench_case *c, const struct usual *usual,
		    size_t trial, struct bench_outlier *out)
{
	const struct trial *t = &c->trials[trial];
	double more = t->figure[TRIAL_TIME] - usual->figure[TRIAL_TIME];
	struct cause cause = { 0, "" };

	*out = (struct bench_outlier){
		.trial = trial,
		.ratio = t->figure[TRIAL_TIME] / usual->figure[TRIAL_TIME],
	};
	find_cause(usual, t, c->is_single, &cause);
	(void)snprintf(out->cause, sizeof(out->cause), "%s",
		       cause.ns >= ENOUGH * more ? cause.text :
		       trial == 0 ? "the first run: caches were cold" :
				    "no cause was found");
}

size_t bench_outliers(const struct bench_case *c, struct bench_outlier *out,
		      size_t most)
{
	struct usual usual;
	size_t n = 0, found = 0;
	double limit;

	if (!find_usual(c, &usual))
		return 0;
	limit = tr_most(FAR * usual.deviation,
			FAR_LEAST * usual.figure[TRIAL_TIME]);
	for (size_t i = 0; i < c->n; i++) {
		if (!trial_is_good(&c->trials[i]) ||
		    c->trials[i].figure[TRIAL_TIME] -
				    usual.figure[TRIAL_TIME] <= limit)
			continue;
		if (n < most)
			explain(c, &usual, i, &out[n++]);
		found++;
	}
	qsort(out, n, sizeof(*out), largest_first);
	return found;
}
