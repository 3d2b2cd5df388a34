/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pipeline: generate -> filter -> normalise -> features, in batches. Each stage
 * passes its batch to the next one.
 */
#ifndef SENSOR_PIPELINE_H
#define SENSOR_PIPELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "window.h"

#define BATCH 500u

struct reading {
	double value;	 /* raw, then normalised */
	double mean, variance; /* of the window that ends with it */
};

struct pipeline {
	bool is_slow;
	struct window window;
	uint64_t random;
	/* The output, to compare two runs. */
	uint64_t generated, kept;
	double sum_mean, sum_variance;
	double *features; /* mean and variance of each; NULL: not stored */
};

/* 0, or -1: no memory. */
int pipeline_init(struct pipeline *pipeline, size_t window, bool is_slow);
void pipeline_release(struct pipeline *pipeline);
void pipeline_run(struct pipeline *pipeline, uint64_t records);

#endif
