/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs drawn at random whose memory has a known shape. The tests of the
 * leak check feed them to a series, or act them out with real memory.
 */
#ifndef LEAK_SHAPES_H
#define LEAK_SHAPES_H

#include "scene.h"

#include <math.h>

/* From SHAPE_LEAK on they leak. */
enum shape {
	SHAPE_STEADY,
	SHAPE_SAWTOOTH,
	SHAPE_WARM_UP,
	SHAPE_NOISY,
	SHAPE_STEP, /* one up, for good or for a while */
	SHAPE_SAWTOOTH_WARM_UP,
	SHAPE_SAWTOOTH_NOISY,
	SHAPE_WARM_UP_NOISY,
	SHAPE_NOISY_SLOW, /* noise that remembers */
	SHAPE_LEAK,
	SHAPE_LEAK_NOISY,
	SHAPE_LEAK_SAWTOOTH,
	SHAPE_LEAK_SAWTOOTH_NOISY,
	SHAPE_LEAK_WARM_UP,
	SHAPE_LEAK_PERCENT, /* of what it has by then */
	SHAPE_LEAK_CHUNKS,  /* now and then, as much as for all steps */
	SHAPES
};

#define SHAPE_NAMES \
	"steady", "sawtooth", "warm-up", "noisy", "step", \
	"sawtooth, warm-up", "sawtooth, noisy", "warm-up, noisy", \
	"noisy, slow", "leak", "leak, noisy", "leak, sawtooth", \
	"leak, sawtooth, noisy", "leak, warm-up", "leak by percent", \
	"leak in chunks"

/* All sizes are parts of the first level. */
struct program {
	enum shape shape;
	unsigned steps;
	double noise;	/* standard deviation */
	double memory;	/* of the noise: correlation of neighbours */
	double spikes;	/* part of the steps that have one */
	double tooth, period, jitter;
	double warm_up, warm_up_steps;
	unsigned rise; /* of the warm-up: line, curve, stairs, step, bump */
	double leak;   /* a step */
	unsigned every;
	/* as it runs */
	unsigned at;
	double since, length, drift, leaked, grown;
};

static inline double shape_between(struct dice *dice, double low, double high)
{
	return low + (high - low) * dice_unit(dice);
}

/* As many below ten times `low` as in the next ten times. */
static inline double shape_scale(struct dice *dice, double low, double high)
{
	return low * exp(dice_unit(dice) * log(high / low));
}

static inline bool shape_has(enum shape shape, const char *feature)
{
	static const char *const has[SHAPES] = {
		"", "t", "w", "n", "s", "tw", "tN", "wn", "c", "l",
		"ln", "lt", "ltN", "lw", "lp", "lk",
	};

	for (const char *c = has[shape]; *c; c++)
		if (*c == *feature)
			return true;
	return false;
}

static inline void shape_draw_noise(struct program *p, struct dice *dice)
{
	p->noise = shape_scale(dice, 1e-4, 3e-3);
	if (shape_has(p->shape, "n")) {
		p->noise = shape_between(dice, 0.005, 0.05);
		p->spikes = dice_unit(dice) < 0.3 ? 0.02 : 0;
	} else if (shape_has(p->shape, "N")) {
		p->noise = shape_between(dice, 0.002, 0.02);
	} else if (shape_has(p->shape, "c")) {
		p->noise = shape_between(dice, 0.002, 0.03);
		p->memory = shape_between(dice, 0.3, 0.9);
	}
}

static inline void shape_draw_rise(struct program *p, struct dice *dice)
{
	if (shape_has(p->shape, "w")) {
		p->warm_up = shape_between(dice, 0.1, 3);
		p->warm_up_steps = p->steps * shape_between(dice, 0.02, 0.33);
		p->rise = (unsigned)(dice_next(dice) % 3);
	} else if (shape_has(p->shape, "s")) {
		p->warm_up = shape_between(dice, 0.05, 1);
		p->warm_up_steps = p->steps * dice_unit(dice);
		p->rise = 3 + (unsigned)(dice_next(dice) % 2);
	}
}

/* A program of `low` to `high` steps. */
static inline struct program shape_draw(enum shape shape, struct dice *dice,
					double low, double high)
{
	struct program p = { .shape = shape };

	p.steps = (unsigned)shape_scale(dice, low, high);
	shape_draw_noise(&p, dice);
	shape_draw_rise(&p, dice);
	if (shape_has(shape, "t")) {
		p.tooth = shape_between(dice, 0.05, 0.6);
		p.period = shape_scale(dice, 4, p.steps / 12.0);
		p.jitter = dice_unit(dice) < 0.5 ? 0 : 0.3;
		p.length = p.period;
		p.since = p.period * dice_unit(dice);
	}
	if (shape >= SHAPE_LEAK)
		p.leak = 0.001 * (dice_unit(dice) < 0.7 ?
					  1 :
					  shape_between(dice, 1, 5));
	p.every = shape_has(shape, "k") ? 2 + (unsigned)(dice_next(dice) % 19) :
					  1;
	p.grown = 1;
	return p;
}

static inline double shape_rise(const struct program *p)
{
	double part = p->warm_up_steps > 0 ? p->at / p->warm_up_steps : 1;

	switch (p->rise) {
	case 0:
		return p->warm_up * fmin(part, 1);
	case 1:
		return p->warm_up * (1 - exp(-4 * part));
	case 2:
		return p->warm_up * floor(8 * fmin(part, 1)) / 8;
	case 3:
		return part >= 1 ? p->warm_up : 0;
	default:
		return p->at >= p->warm_up_steps &&
				       p->at < p->warm_up_steps +
						       p->steps * 0.1 ?
			       p->warm_up :
			       0;
	}
}

static inline double shape_tooth(struct program *p, struct dice *dice)
{
	if (p->tooth <= 0)
		return 0;
	p->since += 1;
	if (p->since >= p->length) {
		p->since = 0;
		p->length = p->period * (1 + p->jitter *
						     (2 * dice_unit(dice) -
						      1));
	}
	return p->tooth * p->since / p->period;
}

/* Its memory in the next step; 1 is where it starts from. */
static inline double shape_next(struct program *p, struct dice *dice)
{
	double keep = p->memory, level;

	p->drift = keep * p->drift +
		   sqrt(1 - keep * keep) * dice_normal(dice);
	if (shape_has(p->shape, "p"))
		p->grown *= 1 + p->leak;
	else if (p->at % p->every == 0)
		p->leaked += p->leak * p->every;
	level = (1 + shape_rise(p) + p->leaked) * p->grown +
		shape_tooth(p, dice) + p->noise * p->drift;
	if (p->spikes > 0 && dice_unit(dice) < p->spikes)
		level += dice_unit(dice);
	p->at++;
	return level;
}

#endif
