/* SPDX-License-Identifier: Apache-2.0 */
/* Window: mean and variance of the last values, in two ways. */
#ifndef SENSOR_WINDOW_H
#define SENSOR_WINDOW_H

#include <stddef.h>

struct window {
	double *value; /* a ring of `size` */
	size_t size, n, at;
	/* Used only by window_step(); part: 1 / n. */
	double mean, squares, part;
};

/* 0, or -1: no memory. */
int window_init(struct window *window, size_t size);
void window_release(struct window *window);

/* Adds `x` and sums up the whole window: the cost grows with its size. */
void window_sum(struct window *window, double x, double *ret_mean,
		double *ret_variance);
/* The same by updating the previous result: one value comes, one leaves. */
void window_step(struct window *window, double x, double *ret_mean,
		 double *ret_variance);

#endif
