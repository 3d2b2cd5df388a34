/* SPDX-License-Identifier: Apache-2.0 */
/* Order: medians and quantiles, in linear time. */
#include "read/changes.h"

#include <stdlib.h>
#include <string.h>

#define FEW 24u

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void sort_few(double *x, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		double value = x[i];
		size_t k = i;

		for (; k && x[k - 1] > value; k--)
			x[k] = x[k - 1];
		x[k] = value;
	}
}

static void swap(double *a, double *b)
{
	double x = *a;

	*a = *b;
	*b = x;
}

/* Smaller values than the pivot first, larger ones last. */
static void part(double *x, size_t n, size_t *ret_low, size_t *ret_high)
{
	size_t low = 0, high = n, i = 0;
	double a = x[0], b = x[n / 2], c = x[n - 1];
	double pivot = a < b ? (b < c ? b : a < c ? c : a) :
			       (a < c ? a : b < c ? c : b);

	while (i < high) {
		if (x[i] < pivot)
			swap(&x[i++], &x[low++]);
		else if (x[i] > pivot)
			swap(&x[i], &x[--high]);
		else
			i++;
	}
	*ret_low = low;
	*ret_high = high;
}

double tr_select(double *x, size_t n, size_t rank)
{
	size_t low, high;

	/* After that many rounds the order is made against us: sort. */
	for (unsigned round = 0; n > FEW; round++) {
		if (round == 64) {
			qsort(x, n, sizeof(*x), by_size);
			return x[rank];
		}
		part(x, n, &low, &high);
		if (rank >= low && rank < high)
			return x[rank];
		if (rank < low) {
			n = low;
		} else {
			x += high;
			n -= high;
			rank -= high;
		}
	}
	sort_few(x, n);
	return x[rank];
}

static double smallest(const double *x, size_t n)
{
	double least = x[0];

	for (size_t i = 1; i < n; i++)
		least = x[i] < least ? x[i] : least;
	return least;
}

double tr_quantile_of(double *x, size_t n, double q)
{
	double at = q * (double)(n - 1);
	size_t rank = (size_t)at;
	double value = tr_select(x, n, rank);

	if (rank + 1 >= n || at <= (double)rank)
		return value;
	/* What is behind the rank is larger: no second selection. */
	return value + (at - (double)rank) *
			       (smallest(x + rank + 1, n - rank - 1) - value);
}

double tr_median(double *x, size_t n)
{
	return tr_quantile_of(x, n, 0.5);
}

double tr_median_of(const double *x, size_t n, double *scratch)
{
	memcpy(scratch, x, n * sizeof(*x));
	return tr_median(scratch, n);
}
