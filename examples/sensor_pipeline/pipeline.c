/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measuring needs only one macro per stage. A stage takes a batch, so 500
 * records share the cost of two clock reads; at some ten nanoseconds per
 * record, single records could not be timed.
 */
#define TARE_PIPELINE "sensor"

#include "pipeline.h"

#include <math.h>
#include <tare/tare.h>

#define LEAST (-40.0)
#define MOST 125.0
#define CENTRE 22.0
#define SPREAD 9.0

int pipeline_init(struct pipeline *pipeline, size_t window, bool is_slow)
{
	*pipeline = (struct pipeline){ .is_slow = is_slow, .random = 42 };
	return window_init(&pipeline->window, window);
}

void pipeline_release(struct pipeline *pipeline)
{
	window_release(&pipeline->window);
}

/* ---- stages, last one first -------------------------------------------- */

static void features(struct pipeline *p, struct reading *r, size_t n)
{
	TARE_STAGE_BATCH("features", n);

	for (size_t i = 0; i < n; i++) {
		if (p->is_slow)
			window_sum(&p->window, r[i].value, &r[i].mean,
				   &r[i].variance);
		else
			window_step(&p->window, r[i].value, &r[i].mean,
				    &r[i].variance);
		p->sum_mean += r[i].mean;
		p->sum_variance += r[i].variance;
		if (p->features) {
			p->features[2 * p->kept] = r[i].mean;
			p->features[2 * p->kept + 1] = r[i].variance;
		}
		p->kept++;
	}
	TARE_STAGE_OUT(n);
}

static void normalise(struct pipeline *p, struct reading *r, size_t n)
{
	TARE_STAGE_BATCH("normalise", n);

	for (size_t i = 0; i < n; i++)
		r[i].value = (r[i].value - CENTRE) / SPREAD;
	TARE_STAGE_OUT(n);
	features(p, r, n);
}

/* Drops readings that such a sensor cannot give. */
static void filter(struct pipeline *p, struct reading *r, size_t n)
{
	size_t kept = 0;

	TARE_STAGE_BATCH("filter", n);
	for (size_t i = 0; i < n; i++)
		if (r[i].value >= LEAST && r[i].value <= MOST)
			r[kept++] = r[i];
	TARE_STAGE_OUT(kept);
	normalise(p, r, kept);
}

static double random_unit(struct pipeline *p)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return (double)(p->random >> 11) * 0x1p-53;
}

/* A slow wave, noise; one reading in fifty is out of range or not a number. */
static double sample(struct pipeline *p)
{
	double wave = sin((double)p->generated * 1e-3) * SPREAD;
	double noise = random_unit(p) - 0.5, odd = random_unit(p);

	p->generated++;
	if (odd < 0.01)
		return NAN;
	return odd < 0.02 ? 1000 : CENTRE + wave + noise;
}

static void generate(struct pipeline *p, size_t n)
{
	struct reading batch[BATCH];

	TARE_STAGE_BATCH("generate", 0); /* no input */
	for (size_t i = 0; i < n; i++)
		batch[i] = (struct reading){ .value = sample(p) };
	TARE_STAGE_OUT(n);
	filter(p, batch, n);
}

void pipeline_run(struct pipeline *p, uint64_t records)
{
	TARE_SCOPE("pipeline");

	while (records > 0) {
		size_t n = records < BATCH ? (size_t)records : BATCH;

		generate(p, n);
		records -= n;
	}
}
