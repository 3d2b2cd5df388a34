/* SPDX-License-Identifier: Apache-2.0 */
#include "model.h"

#include "random.h"

void model_make(uint64_t seed, struct model *ret_model)
{
	for (unsigned i = 0; i < MODEL_HIDDEN; i++)
		for (unsigned j = 0; j < MODEL_INPUTS; j++)
			ret_model->first[i][j] = random_weight(&seed);
	for (unsigned i = 0; i < MODEL_CLASSES; i++)
		for (unsigned j = 0; j < MODEL_HIDDEN; j++)
			ret_model->second[i][j] = random_weight(&seed);
}

static float dot(const float *a, const float *b, unsigned n)
{
	float sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static unsigned classify(const struct model *model,
			 const float inputs[MODEL_INPUTS])
{
	float hidden[MODEL_HIDDEN], best = 0;
	unsigned class = 0;

	for (unsigned i = 0; i < MODEL_HIDDEN; i++) {
		float sum = dot(model->first[i], inputs, MODEL_INPUTS);

		hidden[i] = sum > 0 ? sum : 0;
	}
	for (unsigned i = 0; i < MODEL_CLASSES; i++) {
		float sum = dot(model->second[i], hidden, MODEL_HIDDEN);

		if (i == 0 || sum > best) {
			best = sum;
			class = i;
		}
	}
	return class;
}

void model_run(const struct model *model, unsigned n,
	       const float (*inputs)[MODEL_INPUTS], unsigned *ret_classes)
{
	for (unsigned i = 0; i < n; i++)
		ret_classes[i] = classify(model, inputs[i]);
}
