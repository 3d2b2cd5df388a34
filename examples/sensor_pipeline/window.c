/* SPDX-License-Identifier: Apache-2.0 */
#include "window.h"

#include <stdlib.h>

int window_init(struct window *window, size_t size)
{
	*window = (struct window){ .size = size };
	window->value = calloc(size, sizeof(*window->value));
	return window->value ? 0 : -1;
}

void window_release(struct window *window)
{
	free(window->value);
	window->value = NULL;
}

/* Returns the value that leaves the window; 0 while it fills. */
static double replace(struct window *window, double x)
{
	double old = window->value[window->at];

	window->value[window->at] = x;
	window->at = window->at + 1 == window->size ? 0 : window->at + 1;
	if (window->n < window->size)
		window->n++;
	return old;
}

/* ---- slow -------------------------------------------------------------- */

/* Not inlined, so that a profile shows them by name. */
__attribute__((noinline)) static double sum_values(const struct window *window)
{
	double sum = 0;

	for (size_t i = 0; i < window->n; i++)
		sum += window->value[i];
	return sum;
}

__attribute__((noinline)) static double
sum_squares(const struct window *window, double mean)
{
	double sum = 0;

	for (size_t i = 0; i < window->n; i++) {
		double off = window->value[i] - mean;

		sum += off * off;
	}
	return sum;
}

void window_sum(struct window *window, double x, double *ret_mean,
		double *ret_variance)
{
	double mean;

	(void)replace(window, x);
	mean = sum_values(window) / (double)window->n;
	*ret_mean = mean;
	*ret_variance = sum_squares(window, mean) / (double)window->n;
}

/* ---- fast -------------------------------------------------------------- */

/*
 * Welford's update, with a value that leaves. A sum of squares minus a squared
 * sum would be one line shorter, but lose precision if the mean is large.
 */
void window_step(struct window *window, double x, double *ret_mean,
		 double *ret_variance)
{
	double before = window->mean, old;
	size_t had = window->n;

	old = replace(window, x);
	if (window->n > had) {
		window->part = 1 / (double)window->n;
		window->mean += (x - before) * window->part;
		window->squares += (x - before) * (x - window->mean);
	} else {
		window->mean += (x - old) * window->part;
		window->squares += (x - old) * (x - window->mean +
						old - before);
	}
	*ret_mean = window->mean;
	*ret_variance = window->squares > 0 ? window->squares * window->part :
					      0;
}
