/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Adam: the optimiser of Kingma and Ba (2015), with weight decay of the first
 * weights as a part of their gradient.
 */
#ifndef ADAM_H
#define ADAM_H

#include <stddef.h>
#include <stdint.h>

struct adam {
	float *mean, *square; /* running means of the gradient */
	size_t n;
	uint32_t step;
	double rate, decay;
};

/* 0, or -1: no memory. */
int adam_init(struct adam *adam, size_t n, double rate, double decay);
void adam_reset(struct adam *adam);
void adam_release(struct adam *adam);

/*
 * One step; the first `n_decayed` weights decay. Returns the loss caused by
 * decay before the step: decay / 2 x the sum of their squares.
 */
double adam_step(struct adam *adam, float *weights, const float *gradient,
		 size_t n_decayed);

#endif
