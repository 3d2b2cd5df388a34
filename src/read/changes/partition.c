/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Partition: proposes changes, deliberately too many.
 *
 * The exact minimum, over all ways to cut the series into segments, of the
 * squared deviations from each segment's mean plus a price for each cut. The
 * price is low: what is too much goes in steps.c.
 *
 * A segment has at most LONGEST values, so that the time is n x LONGEST and not
 * the square of n. Cuts that a longer level gets by this are no steps, and go.
 */
#include "read/changes.h"

#include <math.h>
#include <stdlib.h>

#define PRICE 25.0 /* in units of sigma squared */
#define SHORTEST 4u
#define LONGEST 1024u

struct partition {
	double *y;    /* n: values without spikes, in sigmas */
	double *sum;  /* n + 1: of the values before */
	double *best; /* n + 1: cost of the values before */
	size_t *last; /* n + 1: start of the last segment before */
	double *part; /* LONGEST + 1: 1 / length */
};

/*
 * Squares of the values themselves are the same in every partition, and left
 * out. Ties go to the earliest start.
 */
static void find_last(struct partition *p, size_t t)
{
	size_t from = t > LONGEST ? t - LONGEST : 0, at = 0;
	double least = (double)INFINITY;

	for (size_t s = from; s + SHORTEST <= t; s++) {
		double sum = p->sum[t] - p->sum[s];
		double cost = p->best[s] - sum * sum * p->part[t - s];

		if (cost < least) {
			least = cost;
			at = s;
		}
	}
	p->best[t] = least + PRICE;
	p->last[t] = at;
}

static void fill(struct partition *p, const struct tr_changes *c)
{
	tr_noise_clip(c, p->y);
	for (size_t k = 1; k <= LONGEST; k++)
		p->part[k] = 1 / (double)k;
	p->sum[0] = 0;
	for (size_t t = 0; t < c->n; t++)
		p->sum[t + 1] = p->sum[t] + p->y[t];
	p->best[0] = 0;
	for (size_t t = 1; t <= c->n; t++) {
		p->best[t] = (double)INFINITY;
		p->last[t] = 0;
		if (t >= SHORTEST)
			find_last(p, t);
	}
}

static int collect(struct tr_changes *c, const size_t *last)
{
	size_t n = 1, i;

	for (size_t t = c->n; t; t = last[t])
		n++;
	c->edge = malloc(n * sizeof(*c->edge));
	c->score = calloc(n, sizeof(*c->score));
	if (!c->edge || !c->score)
		return TARE_ENOMEM;
	c->n_edges = n;
	i = n;
	for (size_t t = c->n; t; t = last[t])
		c->edge[--i] = t;
	c->edge[0] = 0;
	return 0;
}

int tr_changes_propose(struct tr_changes *c)
{
	struct partition p = {
		.y = malloc(c->n * sizeof(double)),
		.sum = malloc((c->n + 1) * sizeof(double)),
		.best = malloc((c->n + 1) * sizeof(double)),
		.last = malloc((c->n + 1) * sizeof(size_t)),
		.part = malloc((LONGEST + 1) * sizeof(double)),
	};
	int err = TARE_ENOMEM;

	if (p.y && p.sum && p.best && p.last && p.part) {
		fill(&p, c);
		err = collect(c, p.last);
	}
	free(p.y);
	free(p.sum);
	free(p.best);
	free(p.last);
	free(p.part);
	return err;
}
