/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluation: how good is a photo?
 *
 * Does by hand what a small model would do: features of the pixels (sharpness,
 * exposure, colour), one layer of 3 x 3 filters over a reduced image, and a
 * logistic score of all of them. The weights are chosen, not trained; the
 * arithmetic is real.
 */
#ifndef EVALUATE_H
#define EVALUATE_H

#include "fault.h"
#include "image.h"

struct evaluation {
	double sharpness;  /* variance of the Laplacian of the brightness */
	double brightness; /* mean, 0..1 */
	double contrast;   /* its standard deviation */
	double clipped;	   /* share of black or white pixels, 0..1 */
	double saturation; /* mean, 0..1 */
	double texture;	   /* mean response of the filters */
	double score;	   /* 0..1 */
};

int evaluate(const struct image *image, struct evaluation *ret_evaluation,
	     struct fault *fault);

#endif
