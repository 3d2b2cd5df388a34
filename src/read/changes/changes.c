/* SPDX-License-Identifier: Apache-2.0 */
/* Changes: the public calls, gaps, and the newest value. */
#include "read/changes.h"

#include <math.h>
#include <stdlib.h>

#include "base/maths.h"
#include "base/text.h"

#define LEAST_VALUES 8u
#define NEWEST_VALUES 1000u
#define USUAL_LEAST 0.001

/* ---- gaps -------------------------------------------------------------- */

/* The numbers among the values, and where each of them was. */
struct numbers {
	double *x;
	size_t *index;
	size_t n;
};

static int numbers_take(struct numbers *numbers, const double *values,
			size_t n)
{
	*numbers = (struct numbers){ .x = malloc(n * sizeof(double)),
				     .index = malloc(n * sizeof(size_t)) };
	if (!numbers->x || !numbers->index)
		return TARE_ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (tr_is_number(values[i])) {
			numbers->x[numbers->n] = values[i];
			numbers->index[numbers->n++] = i;
		}
	return 0;
}

static void numbers_release(struct numbers *numbers)
{
	free(numbers->x);
	free(numbers->index);
}

/* ---- results ----------------------------------------------------------- */

static double median_before(const struct tr_changes *c, size_t edge)
{
	size_t at = c->edge[edge], n = at - c->edge[edge - 1];

	n = n < TR_CHANGE_WINDOW ? n : TR_CHANGE_WINDOW;
	return tr_median_of(c->x + at - n, n, c->scratch);
}

static double median_behind(const struct tr_changes *c, size_t edge)
{
	size_t at = c->edge[edge], n = c->edge[edge + 1] - at;

	n = n < TR_CHANGE_WINDOW ? n : TR_CHANGE_WINDOW;
	return tr_median_of(c->x + at, n, c->scratch);
}

/* Of the edges from `first` to `last`, which are one change. */
static tare_change result_of(const struct tr_changes *c, size_t first,
			     size_t last, const size_t *index)
{
	tare_change change = {
		.index = index[c->edge[first]],
		.before = median_before(c, first),
		.after = median_behind(c, last),
		.strength = c->score[first],
		.is_gradual = last > first,
		.is_provisional = c->n - c->edge[last] < TR_CHANGE_WINDOW,
	};

	change.change = change.before < 0 || change.before > 0 ?
				change.after / change.before - 1 :
				(double)NAN;
	return change;
}

static int results_of(const struct tr_changes *c, const size_t *index,
		      tare_change **ret_changes, size_t *ret_n)
{
	tare_change *changes;
	size_t n = 0;

	if (c->n_edges <= 2)
		return 0;
	changes = calloc(c->n_edges - 2, sizeof(*changes));
	if (!changes)
		return TARE_ENOMEM;
	for (size_t i = 1; i + 1 < c->n_edges; i++) {
		size_t last = tr_changes_ramp(c, i);

		changes[n++] = result_of(c, i, last, index);
		i = last;
	}
	*ret_changes = changes;
	*ret_n = n;
	return 0;
}

/* ---- the search -------------------------------------------------------- */

static int search(const struct numbers *numbers, double least,
		  tare_change **ret_changes, size_t *ret_n)
{
	struct tr_changes c = { .x = numbers->x, .n = numbers->n,
				.least = least };
	int err = TARE_ENOMEM;

	c.scratch = malloc(c.n * sizeof(*c.scratch));
	if (c.scratch) {
		c.sigma = tr_noise_sigma(c.x, c.n, c.scratch);
		err = c.sigma > 0 ? tr_changes_propose(&c) : 0;
	}
	if (!err && c.n_edges > 2)
		err = tr_changes_decide(&c);
	if (!err)
		err = results_of(&c, numbers->index, ret_changes, ret_n);
	free(c.scratch);
	free(c.edge);
	free(c.score);
	return err;
}

static int options_take(const tare_changes_options *options, double *ret_least)
{
	tare_changes_options asked = { .struct_size = sizeof(asked) };

	if (options && TR_TAKE_STRUCT(&asked, options, least))
		return TARE_EINVAL;
	if (!(asked.least >= 0) || !tr_is_number(asked.least))
		return TARE_EINVAL;
	*ret_least = asked.least > 0 ? asked.least : USUAL_LEAST;
	return 0;
}

TARE_API int tare_changes_find(const double *values, size_t n,
			       const tare_changes_options *options,
			       tare_change **ret_changes, size_t *ret_n)
{
	struct numbers numbers;
	tare_change *changes = NULL;
	size_t n_changes = 0;
	double least;
	int err;

	if ((!values && n) || !ret_changes || !ret_n ||
	    options_take(options, &least))
		return TARE_EINVAL;
	if (n >= LEAST_VALUES) {
		err = numbers_take(&numbers, values, n);
		if (!err && numbers.n >= LEAST_VALUES)
			err = search(&numbers, least, &changes, &n_changes);
		numbers_release(&numbers);
		if (err)
			return err;
	}
	*ret_changes = changes;
	*ret_n = n_changes;
	return 0;
}

TARE_API void tare_changes_free(tare_change *changes)
{
	free(changes);
}

TARE_API int tare_changes_newest(const double *values, size_t n,
				 const tare_changes_options *options,
				 tare_change *ret_change)
{
	size_t skipped = n > NEWEST_VALUES ? n - NEWEST_VALUES : 0;
	tare_change *changes;
	size_t n_changes;
	int err;

	if (!ret_change)
		return TARE_EINVAL;
	err = tare_changes_find(values ? values + skipped : NULL, n - skipped,
				options, &changes, &n_changes);
	if (err)
		return err;
	err = TARE_ENOENT;
	if (n_changes && changes[n_changes - 1].is_provisional) {
		*ret_change = changes[n_changes - 1];
		ret_change->index += skipped;
		err = 0;
	}
	tare_changes_free(changes);
	return err;
}
