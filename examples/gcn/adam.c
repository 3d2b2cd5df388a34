/* SPDX-License-Identifier: Apache-2.0 */
#include "adam.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sparse.h"

#define BETA1 0.9f
#define BETA2 0.999f
#define EPSILON 1e-8f

int adam_init(struct adam *adam, size_t n, double rate, double decay)
{
	*adam = (struct adam){ .mean = sparse_rows(n, 1),
			       .square = sparse_rows(n, 1),
			       .n = n, .rate = rate, .decay = decay };
	return adam->mean && adam->square ? 0 : -1;
}

void adam_reset(struct adam *adam)
{
	memset(adam->mean, 0, adam->n * sizeof(*adam->mean));
	memset(adam->square, 0, adam->n * sizeof(*adam->square));
	adam->step = 0;
}

void adam_release(struct adam *adam)
{
	free(adam->mean);
	free(adam->square);
	memset(adam, 0, sizeof(*adam));
}

/* Factors that change from step to step. */
struct factors {
	float rate, square, decay;
};

/* A loop that compilers vectorise. */
static void move(float *restrict weight, const float *restrict gradient,
		 float *restrict mean, float *restrict square, size_t n,
		 struct factors f)
{
	for (size_t i = 0; i < n; i++) {
		float g = gradient[i] + f.decay * weight[i];
		float m = BETA1 * mean[i] + (1 - BETA1) * g;
		float v = BETA2 * square[i] + (1 - BETA2) * g * g;

		mean[i] = m;
		square[i] = v;
		weight[i] -= f.rate * m / (sqrtf(v) * f.square + EPSILON);
	}
}

/* Floats within blocks, doubles across: fast, and exact to 7 digits. */
static double sum_of_squares(const float *weight, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i += SPARSE_PAD) {
		v4 a = *(const v4 *)(weight + i);
		v4 b = *(const v4 *)(weight + i + 4);

		a = a * a + b * b;
		sum += (double)(a[0] + a[1] + (a[2] + a[3]));
	}
	return sum;
}

double adam_step(struct adam *adam, float *weights, const float *gradient,
		 size_t n_decayed)
{
	double by_decay = adam->decay / 2 * sum_of_squares(weights, n_decayed);
	double step = ++adam->step;
	struct factors f = {
		.rate = (float)(adam->rate / (1 - pow(0.9, step))),
		.square = (float)(1 / sqrt(1 - pow(0.999, step))),
		.decay = (float)adam->decay,
	};

	move(weights, gradient, adam->mean, adam->square, n_decayed, f);
	f.decay = 0;
	move(weights + n_decayed, gradient + n_decayed,
	     adam->mean + n_decayed, adam->square + n_decayed,
	     adam->n - n_decayed, f);
	return by_decay;
}
