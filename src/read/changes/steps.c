/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps: of the proposed changes, those that people would see.
 *
 * A change is scored by its step, the difference of the medians of up to 20
 * values on both sides, against the noise there. Values that depend on those
 * before them say less than independent ones, and count as fewer. The weakest
 * change goes, its neighbours gain its values and are scored again, until all
 * that are left are clear.
 */
#include "read/changes.h"

#include "base/maths.h"

#include <stdlib.h>
#include <string.h>

/* Mean absolute deviation to standard deviation, for normal noise. */
#define DEVIATION_TO_SIGMA 1.2533

#define STANDARD_ERRORS 4.9 /* of the step */
#define USUAL_VALUES 1000.0 /* more have more places to be wrong at */
#define SHARE_OF_RANGE 0.05 /* of a plot of the series, or nobody sees it */
#define SHORT 14u	    /* a side of fewer values is an excursion */
/* The noise on both sides is never taken to be less than these shares of the
 * whole series' deviations and of its differences. */
#define SHARE_OF_DEVIATION 0.8
#define SHARE_OF_SIGMA 0.5

/* The whole series, as far as a score depends on it. */
struct whole {
	double noise;  /* least noise */
	double errors; /* standard errors that a step has to have */
	double range;
};

/* Scores in a heap, the weakest first; of equal ones the earliest. */
struct queue {
	double *score;	     /* by edge */
	size_t *heap, *place; /* edges; place in the heap by edge */
	size_t n;
	size_t *before, *behind; /* edges that are left */
};

static double size_of(double x)
{
	return x < 0 ? -x : x;
}

static double deviations(const double *x, size_t n, double level)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += size_of(x[i] - level);
	return sum;
}

/* ---- the score --------------------------------------------------------- */

/*
 * The largest of n independent errors grows as the root of 2 log n: from
 * USUAL_VALUES on so does what is asked for, or a long quiet series would have
 * changes only because it is long.
 */
static double errors_for(size_t n)
{
	double more = (double)n / USUAL_VALUES;

	return tr_maths_sqrt(STANDARD_ERRORS * STANDARD_ERRORS +
			     (more > 1 ? 2 * tr_maths_log(more) : 0));
}

static struct whole whole_of(const struct tr_changes *c)
{
	double correlation = tr_noise_correlation(c), sum = 0;
	struct whole whole;

	for (size_t i = 0; i + 1 < c->n_edges; i++) {
		const double *x = c->x + c->edge[i];
		size_t n = c->edge[i + 1] - c->edge[i];

		sum += deviations(x, n, tr_median_of(x, n, c->scratch)) /
		       (double)c->n;
	}
	whole.noise = SHARE_OF_DEVIATION * DEVIATION_TO_SIGMA * sum;
	if (whole.noise < SHARE_OF_SIGMA * c->sigma)
		whole.noise = SHARE_OF_SIGMA * c->sigma;
	/* A mean of n such values is as uncertain as one of
	 * n (1 - p) / (1 + p) independent ones. */
	whole.errors = errors_for(c->n) *
		       tr_maths_sqrt((1 + correlation) / (1 - correlation));
	memcpy(c->scratch, c->x, c->n * sizeof(*c->x));
	whole.range = tr_quantile_of(c->scratch, c->n, 0.975);
	whole.range -= tr_quantile_of(c->scratch, c->n, 0.025);
	return whole;
}

static double least_of(double a, double b)
{
	return a < b ? a : b;
}

/* How clearly the series steps at `at`, between its neighbours. */
static double score_of(const struct tr_changes *c, const struct whole *whole,
		       size_t before, size_t at, size_t behind)
{
	size_t n1 = at - before, n2 = behind - at;
	double level1, level2, noise, step, score;

	n1 = n1 < TR_CHANGE_WINDOW ? n1 : TR_CHANGE_WINDOW;
	n2 = n2 < TR_CHANGE_WINDOW ? n2 : TR_CHANGE_WINDOW;
	level1 = tr_median_of(c->x + at - n1, n1, c->scratch);
	level2 = tr_median_of(c->x + at, n2, c->scratch);
	noise = DEVIATION_TO_SIGMA *
		(deviations(c->x + at - n1, n1, level1) +
		 deviations(c->x + at, n2, level2)) / (double)(n1 + n2);
	if (noise < whole->noise)
		noise = whole->noise;
	step = size_of(level2 - level1);
	score = step / noise / whole->errors *
		tr_maths_sqrt((double)n1 * (double)n2 / (double)(n1 + n2));
	if (whole->range > 0)
		score = least_of(score, step / whole->range / SHARE_OF_RANGE);
	if (level1 < 0 || level1 > 0)
		score = least_of(score, step / size_of(level1) / c->least);
	n1 = n1 < n2 ? n1 : n2;
	return n1 < SHORT ? score * (double)n1 / SHORT : score;
}

/* ---- the queue --------------------------------------------------------- */

static bool is_weaker(const struct queue *q, size_t a, size_t b)
{
	return q->score[a] < q->score[b] ||
	       (!(q->score[b] < q->score[a]) && a < b);
}

static void put(struct queue *q, size_t place, size_t edge)
{
	q->heap[place] = edge;
	q->place[edge] = place;
}

static void rise(struct queue *q, size_t place)
{
	size_t edge = q->heap[place];

	while (place && is_weaker(q, edge, q->heap[(place - 1) / 2])) {
		put(q, place, q->heap[(place - 1) / 2]);
		place = (place - 1) / 2;
	}
	put(q, place, edge);
}

static void sink(struct queue *q, size_t place)
{
	size_t edge = q->heap[place];

	for (;;) {
		size_t child = 2 * place + 1;

		if (child + 1 < q->n &&
		    is_weaker(q, q->heap[child + 1], q->heap[child]))
			child++;
		if (child >= q->n || !is_weaker(q, q->heap[child], edge))
			break;
		put(q, place, q->heap[child]);
		place = child;
	}
	put(q, place, edge);
}

static void score_again(struct tr_changes *c, const struct whole *whole,
			struct queue *q, size_t edge)
{
	if (edge == 0 || edge == c->n_edges - 1)
		return;
	q->score[edge] = score_of(c, whole, c->edge[q->before[edge]],
				  c->edge[edge], c->edge[q->behind[edge]]);
	rise(q, q->place[edge]);
	sink(q, q->place[edge]);
}

static void remove_weakest(struct tr_changes *c, const struct whole *whole,
			   struct queue *q)
{
	size_t edge = q->heap[0];
	size_t before = q->before[edge], behind = q->behind[edge];

	q->n--;
	if (q->n) {
		put(q, 0, q->heap[q->n]);
		sink(q, 0);
	}
	q->behind[before] = behind;
	q->before[behind] = before;
	c->edge[edge] = SIZE_MAX;
	score_again(c, whole, q, before);
	score_again(c, whole, q, behind);
}

/* ---- all of it --------------------------------------------------------- */

static void eliminate(struct tr_changes *c, struct queue *q)
{
	struct whole whole = whole_of(c);
	size_t last = c->n_edges - 1, n = 0;

	q->behind[0] = 1;
	for (size_t i = 1; i < last; i++) {
		q->before[i] = i - 1;
		q->behind[i] = i + 1;
		q->score[i] = score_of(c, &whole, c->edge[i - 1], c->edge[i],
				       c->edge[i + 1]);
		q->n = i;
		put(q, i - 1, i);
		rise(q, i - 1);
	}
	q->before[last] = last - 1;
	while (q->n && q->score[q->heap[0]] < 1)
		remove_weakest(c, &whole, q);
	for (size_t i = 0; i <= last; i++) {
		if (c->edge[i] == SIZE_MAX)
			continue;
		c->edge[n] = c->edge[i];
		c->score[n++] = c->score[i];
	}
	c->n_edges = n;
}

int tr_changes_decide(struct tr_changes *c)
{
	size_t bytes = c->n_edges * sizeof(size_t);
	struct queue q = {
		.score = c->score,
		.heap = malloc(bytes),
		.place = malloc(bytes),
		.before = malloc(bytes),
		.behind = malloc(bytes),
	};
	int err = TARE_ENOMEM;

	if (q.heap && q.place && q.before && q.behind) {
		eliminate(c, &q);
		err = 0;
	}
	free(q.heap);
	free(q.place);
	free(q.before);
	free(q.behind);
	return err;
}
