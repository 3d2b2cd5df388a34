/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Model: two layers of weights drawn from a seed, run over a batch.
 *
 * A row's result does not depend on the rows beside it: sums have a fixed
 * order, so that batch size and threads change only the time.
 */
#ifndef MODEL_H
#define MODEL_H

#include <stdint.h>

#include "image.h"
#include "text.h"

#define MODEL_INPUTS (TEXT_FEATURES + IMAGE_FEATURES)
#define MODEL_HIDDEN 128
#define MODEL_CLASSES 8

struct model {
	float first[MODEL_HIDDEN][MODEL_INPUTS];
	float second[MODEL_CLASSES][MODEL_HIDDEN];
};

void model_make(uint64_t seed, struct model *ret_model);

/* The class of each of `n` rows. */
void model_run(const struct model *model, unsigned n,
	       const float (*inputs)[MODEL_INPUTS], unsigned *ret_classes);

#endif
