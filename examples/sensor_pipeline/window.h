/* SPDX-License-Identifier: Apache-2.0 */
/* Window: mean and variance of the last values, in two ways. */
#ifndef SENSOR_WINDOW_H
#define SENSOR_WINDOW_H

#include <stddef.h>

struct window {
	double *value; /* a ring of `size` */
	size_t size, n, at;
	/* Kept by window_step() alone; part: 1 / n. */
	double mean, squares, part;
};

/* 0, or -1 without memory. */
int window_init(struct window *window, size_t size);
void window_release(struct window *window);

/* Takes `x` in and adds up the whole window: its cost grows with the size. */
void window_sum(struct window *window, double x, double *ret_mean,
		double *ret_variance);
/* The same from what was known before: one value comes, one goes. */
void window_step(struct window *window, double x, double *ret_mean,
		 double *ret_variance);

#endif
