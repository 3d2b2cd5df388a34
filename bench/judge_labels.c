/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Labelled series: reading them, and scoring what was found by the rules of
 * their score.py.
 *
 * The folder is $BENCH_CHANGEPOINTS, or shared/data/changepoints beside the
 * source tree. The data may not be copied into the tree.
 */
#include "judge.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"

#define MARGIN 5u
#define POINTS 4096u /* of all people together */
#define MOST_SERIES 4096u

/* ---- files ------------------------------------------------------------- */

static const char *folder(void)
{
	const char *chosen = getenv("BENCH_CHANGEPOINTS");

	return chosen ? chosen : BENCH_SHARED "/data/changepoints";
}

static FILE *open_file(const char *name)
{
	char path[4096], why[4352];
	FILE *file;

	(void)snprintf(path, sizeof(path), "%.3900s/%.128s", folder(), name);
	file = fopen(path, "re");
	if (!file) {
		(void)snprintf(why, sizeof(why),
			       "no labelled series: cannot open '%s' (set "
			       "BENCH_CHANGEPOINTS to their folder)", path);
		bench_fail("f1", why);
	}
	return file;
}

static void *more(void *array, size_t n, size_t size)
{
	/* Doubled at each power of two. */
	if (n & (n - 1))
		return array;
	array = realloc(array, (n ? 2 * n : 1) * size);
	if (!array)
		bench_fail("f1", "no memory");
	return array;
}

static void read_values(struct judge_series *series)
{
	char name[96], line[64];
	FILE *file;

	(void)snprintf(name, sizeof(name), "series/%s.csv", series->name);
	file = open_file(name);
	while (fgets(line, sizeof(line), file)) {
		char *end;
		double value = strtod(line, &end);

		if (end == line)
			continue;
		series->value = more(series->value, series->n,
				     sizeof(double));
		series->value[series->n++] = value;
	}
	(void)fclose(file);
}

/* ---- labels ------------------------------------------------------------ */

static void read_name(FILE *file, struct judge_series *series)
{
	size_t n = 0;
	int c;

	while ((c = fgetc(file)) != EOF && c != '"')
		if (n + 1 < sizeof(series->name))
			series->name[n++] = (char)c;
}

static void read_point(FILE *file, struct judge_points *points)
{
	unsigned long at = 0;

	if (fscanf(file, "%lu", &at) != 1)
		bench_fail("f1", "labels.json is not as expected");
	points->at = more(points->at, points->n, sizeof(size_t));
	points->at[points->n++] = at;
}

/* {"name": [[1, 2], [], ...], ...}: names are strings, points are numbers, and
 * the depth says the rest. */
static void read_labels(FILE *file, struct judge_series *series, size_t *n)
{
	struct judge_series *now = NULL;
	unsigned depth = 0;
	int c;

	while ((c = fgetc(file)) != EOF) {
		if (c == '"' && *n < MOST_SERIES) {
			now = &series[(*n)++];
			read_name(file, now);
		} else if (c == '[') {
			depth++;
			if (depth == 2 && now && now->n_people < JUDGE_PEOPLE)
				now->n_people++;
		} else if (c == ']') {
			depth--;
		} else if (isdigit(c) && depth == 2 && now) {
			(void)ungetc(c, file);
			read_point(file, &now->person[now->n_people - 1]);
		}
	}
}

struct judge_series *judge_labels(size_t *ret_n)
{
	struct judge_series *series = calloc(MOST_SERIES, sizeof(*series));
	FILE *file = open_file("labels.json");

	if (!series)
		bench_fail("f1", "no memory");
	*ret_n = 0;
	read_labels(file, series, ret_n);
	(void)fclose(file);
	for (size_t i = 0; i < *ret_n; i++)
		read_values(&series[i]);
	if (!*ret_n)
		bench_fail("f1", "labels.json has no series");
	return series;
}

/* ---- the score --------------------------------------------------------- */

static size_t apart(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

static bool is_near(const struct judge_points *points, size_t at)
{
	for (size_t i = 0; i < points->n; i++)
		if (apart(points->at[i], at) <= MARGIN)
			return true;
	return false;
}

static int by_index(const void *a, const void *b)
{
	const size_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorted, each once, and 0 among them; until the next call. */
static struct judge_points with_start(const struct judge_points *points,
				      size_t n)
{
	static size_t room[POINTS];
	struct judge_points all = { .at = room };
	size_t kept = 1;

	all.at[all.n++] = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < points[i].n && all.n < POINTS; k++)
			all.at[all.n++] = points[i].at[k];
	qsort(all.at, all.n, sizeof(*all.at), by_index);
	for (size_t i = 1; i < all.n; i++)
		if (all.at[i] != all.at[kept - 1])
			all.at[kept++] = all.at[i];
	all.n = kept;
	return all;
}

/* How many true points have a predicted one of their own. */
static double matched(const struct judge_points *truth,
		      const struct judge_points *predicted)
{
	static bool is_taken[POINTS];
	size_t n = 0;

	memset(is_taken, 0, sizeof(is_taken));
	for (size_t i = 0; i < truth->n; i++) {
		size_t best = predicted->n;

		for (size_t k = 0; k < predicted->n; k++) {
			size_t far = apart(truth->at[i], predicted->at[k]);

			if (!is_taken[k] && far <= MARGIN &&
			    (best == predicted->n ||
			     far < apart(truth->at[i], predicted->at[best])))
				best = k;
		}
		if (best < predicted->n) {
			is_taken[best] = true;
			n++;
		}
	}
	return (double)n;
}

static double f1_of(const struct judge_series *series,
		    const struct judge_points *found)
{
	struct judge_points truth = with_start(series->person,
					       series->n_people);
	double precision = matched(&truth, found) / (double)found->n;
	double recall = 0;

	for (size_t i = 0; i < series->n_people; i++) {
		truth = with_start(&series->person[i], 1);
		recall += matched(&truth, found) / (double)truth.n;
	}
	recall /= (double)series->n_people;
	return 2 * precision * recall / (precision + recall);
}

static size_t votes(const struct judge_series *series, size_t at)
{
	size_t n = 0;

	for (size_t i = 0; i < series->n_people; i++)
		n += is_near(&series->person[i], at);
	return n;
}

/* Points of which at least four people have one nearby. */
static void add_agreed(struct judge_score *score,
		       const struct judge_series *series,
		       const struct judge_points *all,
		       const struct judge_points *predicted)
{
	static size_t kept_at[POINTS];
	struct judge_points kept = { .at = kept_at };

	for (size_t i = 0; i < all->n; i++) {
		size_t at = all->at[i];

		/* The start is a point only if a person marked it. */
		if (votes(series, at) < 4 || is_near(&kept, at))
			continue;
		kept.at[kept.n++] = at;
		score->agreed++;
		score->found += is_near(predicted, at);
	}
}

void judge_score_add(struct judge_score *score,
		     const struct judge_series *series,
		     const struct judge_points *predicted)
{
	static size_t found_at[POINTS];
	struct judge_points found = with_start(predicted, 1), all;
	size_t marked = 0;

	memcpy(found_at, found.at, found.n * sizeof(*found_at));
	found.at = found_at;
	for (size_t i = 0; i < series->n_people; i++)
		marked += series->person[i].n;
	score->n++;
	score->f1 += f1_of(series, &found);
	all = with_start(series->person, series->n_people);
	add_agreed(score, series, &all, predicted);
	score->made += predicted->n;
	for (size_t i = 0; i < predicted->n; i++)
		score->wrong += !votes(series, predicted->at[i]);
	score->quiet += !marked;
	score->noisy += !marked && predicted->n;
}
