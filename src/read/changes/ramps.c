/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ramps: a level that moves for a while is cut into stairs. That is one change,
 * where it begins, and not one for each stair.
 */
#include "read/changes.h"

#define LEAST_STEPS 3u

/* A line by least squares, about the middle of its places. */
struct line {
	double middle, level, slope;
};

static double size_of(double x)
{
	return x < 0 ? -x : x;
}

static struct line line_of(const double *x, size_t n)
{
	struct line line = { .middle = (double)(n - 1) / 2 };
	double both = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		line.level += x[i] / (double)n;
	for (size_t i = 0; i < n; i++) {
		double d = (double)i - line.middle;

		both += d * (x[i] - line.level);
		squares += d * d;
	}
	line.slope = squares > 0 ? both / squares : 0;
	return line;
}

static double from_line(const double *x, size_t n)
{
	struct line line = line_of(x, n);
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += size_of(x[i] - line.level -
			       line.slope * ((double)i - line.middle));
	return sum;
}

static double level_of(const struct tr_changes *c, size_t segment)
{
	size_t from = c->edge[segment];

	return tr_median_of(c->x + from, c->edge[segment + 1] - from,
			    c->scratch);
}

/* Deviations from the stairs between two edges. */
static double from_stairs(const struct tr_changes *c, size_t first,
			  size_t last)
{
	double sum = 0;

	for (size_t k = first; k < last; k++) {
		double level = level_of(c, k);

		for (size_t t = c->edge[k]; t < c->edge[k + 1]; t++)
			sum += size_of(c->x[t] - level);
	}
	return sum;
}

static bool is_line(const struct tr_changes *c, size_t first, size_t last)
{
	size_t from = c->edge[first], n = c->edge[last] - from;

	return from_line(c->x + from, n) < from_stairs(c, first, last);
}

/* The last edge of those from `first` on that all go one way. */
static size_t same_way(const struct tr_changes *c, size_t first)
{
	double at = level_of(c, first - 1), next = level_of(c, first);
	bool goes_up = next > at;
	size_t last = first;

	while (last + 2 < c->n_edges) {
		at = next;
		next = level_of(c, last + 1);
		if ((next > at) != goes_up)
			break;
		last++;
	}
	return last;
}

/*
 * At most MOST_STEPS at a time: the time must not grow with the square of a
 * ramp's length. A longer ramp is several.
 */
#define MOST_STEPS 32u

size_t tr_changes_ramp(const struct tr_changes *c, size_t edge)
{
	size_t last = same_way(c, edge);

	if (last > edge + MOST_STEPS)
		last = edge + MOST_STEPS;
	for (; last + 1 >= edge + LEAST_STEPS; last--)
		if (is_line(c, edge, last))
			return last;
	return edge;
}
