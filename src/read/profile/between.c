/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions between two views of one run: what each took since the earlier
 * view. Functions are the same where name, module and first line are.
 */
#include "read/profile.h"

#include <stdlib.h>
#include <string.h>

static int by_identity(const void *a, const void *b)
{
	const tare_function *x = *(const tare_function *const *)a;
	const tare_function *y = *(const tare_function *const *)b;
	int order = strcmp(x->function, y->function);

	if (!order)
		order = strcmp(x->module, y->module);
	if (!order)
		order = (x->first_line > y->first_line) -
			(x->first_line < y->first_line);
	return order ? order : (int)x->kind - (int)y->kind;
}

/* Pointers to the functions of a view, by identity. Gives (free). */
static int index_of(tare_view *view, const tare_function ***ret_index,
		    size_t *ret_n)
{
	const tare_function *functions;
	const tare_function **index;
	int err = tare_view_functions(view, &functions, ret_n);

	if (err)
		return err;
	index = malloc((*ret_n + 1) * sizeof(*index));
	if (!index)
		return TARE_ENOMEM;
	for (size_t i = 0; i < *ret_n; i++)
		index[i] = &functions[i];
	qsort(index, *ret_n, sizeof(*index), by_identity);
	*ret_index = index;
	return 0;
}

static double rise(double now, double before)
{
	return now > before ? now - before : 0;
}

/* `before` may be NULL. */
static void fill(struct tr_function_change *row, const tare_function *now,
		 const tare_function *before)
{
	row->now = now;
	row->own_ns = rise(now->weight_ns, before ? before->weight_ns : 0);
	row->all_ns = rise(now->all_weight_ns,
			   before ? before->all_weight_ns : 0);
	row->samples = now->samples -
		       (before && before->samples <= now->samples ?
				before->samples : 0);
}

static int most_own_first(const void *a, const void *b)
{
	const struct tr_function_change *x = a, *y = b;

	if (x->own_ns != y->own_ns)
		return x->own_ns < y->own_ns ? 1 : -1;
	if (x->now->weight_ns != y->now->weight_ns)
		return x->now->weight_ns < y->now->weight_ns ? 1 : -1;
	return strcmp(x->now->function, y->now->function);
}

int tr_functions_between(tare_view *before, tare_view *now,
			 struct tr_functions_change *ret)
{
	struct tr_functions_change made = { .rows = NULL };
	const tare_function **index = NULL, **found;
	const tare_function *functions;
	size_t n_before = 0;
	int err = tare_view_functions(now, &functions, &made.n);

	if (!err && before)
		err = index_of(before, &index, &n_before);
	if (err)
		return err;
	made.rows = calloc(made.n + 1, sizeof(*made.rows));
	for (size_t i = 0; made.rows && i < made.n; i++) {
		const tare_function *wanted = &functions[i];

		found = n_before ? bsearch(&wanted, index, n_before,
					   sizeof(*index), by_identity) :
				   NULL;
		fill(&made.rows[i], wanted, found ? *found : NULL);
		made.own_ns += made.rows[i].own_ns;
		made.all_ns += wanted->weight_ns;
	}
	free(index);
	if (!made.rows)
		return TARE_ENOMEM;
	qsort(made.rows, made.n, sizeof(*made.rows), most_own_first);
	*ret = made;
	return 0;
}
