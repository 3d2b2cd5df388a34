/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change points: against five people on labelled series, on dependent noise
 * without any change, and their cost.
 *
 * The constants of the detector were chosen on these series. What that adds to
 * the figures is in docs/internals/changes.md: cross-validated ones.
 */
#include <math.h>
#include <stdlib.h>

#include <tare/read/changes.h>

#include "bench.h"
#include "judge.h"

#define VALUES 200u
#define NOISES 1000u

static struct judge_points find(const double *value, size_t n)
{
	struct judge_points points = { .n = 0 };
	tare_change *changes;

	if (tare_changes_find(value, n, NULL, &changes, &points.n))
		bench_fail("f1", "no memory");
	points.at = calloc(points.n + 1, sizeof(*points.at));
	if (!points.at)
		bench_fail("f1", "no memory");
	for (size_t i = 0; i < points.n; i++)
		points.at[i] = changes[i].index;
	tare_changes_free(changes);
	return points;
}

/* ---- labelled series --------------------------------------------------- */

static void labelled(void)
{
	struct judge_score score = { .n = 0 };
	size_t n;
	struct judge_series *series = judge_labels(&n);

	for (size_t i = 0; i < n; i++) {
		struct judge_points found = find(series[i].value,
						 series[i].n);

		judge_score_add(&score, &series[i], &found);
		free(found.at);
	}
	bench_report("f1", score.f1 / (double)score.n, "", NAN, NULL);
	bench_report("recall4", (double)score.found / (double)score.agreed,
		     "", NAN, NULL);
	bench_report("false",
		     score.made ? 100 * (double)score.wrong /
					  (double)score.made :
				  0,
		     "%", NAN, NULL);
	bench_report("noisy", (double)score.noisy, "series",
		     (double)score.noisy / (double)score.quiet,
		     "quiet series");
}

/* ---- dependent noise --------------------------------------------------- */

static uint64_t state = 88172645463325252u;

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

/* Each value is the one before times `p` and something new. */
static void fill(double *value, double p)
{
	double x = normal() / sqrt(1 - p * p);

	for (size_t i = 0; i < VALUES; i++) {
		x = p * x + normal();
		value[i] = 100 + x;
	}
}

static void dependent(const char *name, double p)
{
	size_t flagged = 0;

	for (size_t i = 0; i < NOISES; i++) {
		double value[VALUES];
		struct judge_points found;

		fill(value, p);
		found = find(value, VALUES);
		flagged += found.n > 0;
		free(found.at);
	}
	bench_report(name, 100. * (double)flagged / NOISES, "%", NAN, NULL);
}

/* ---- cost -------------------------------------------------------------- */

static double series_value[64][VALUES];

static void search(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		struct judge_points found = find(series_value[i % 64],
						 VALUES);

		BENCH_OPAQUE(found.n);
		free(found.at);
	}
}

/* Half of them have a step. */
static void cost(void)
{
	struct bench_case cases[] = { { "series", search, 64, 0 } };

	for (size_t i = 0; i < 64; i++) {
		fill(series_value[i], 0.2);
		for (size_t k = 100; i % 2 && k < VALUES; k++)
			series_value[i][k] += 4;
	}
	bench_run(cases, 1, bench_is_quick() ? 50 : 500);
	bench_report("series_per_s", 1e9 / cases[0].best_ns, "1/s", NAN,
		     NULL);
}

void judge_changes_part(void)
{
	dependent("ar_0.0", 0);
	dependent("ar_0.5", 0.5);
	dependent("ar_0.7", 0.7);
	cost();
	labelled();
}
