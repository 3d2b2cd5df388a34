/* SPDX-License-Identifier: Apache-2.0 */
#include "controller.h"

#include <math.h>

/* Degrees below the GPU's own threshold. */
#define HEAT_HIGH_BELOW 3.0
#define HEAT_LOW_BELOW 10.0

/* Ascending priority: the largest of several decides. */
enum level { LEVEL_UNKNOWN, LEVEL_EASE, LEVEL_BETWEEN, LEVEL_STRAIN };

static enum level level_of(double value, double low, double high)
{
	if (isnan(value) || isnan(low) || isnan(high))
		return LEVEL_UNKNOWN;
	if (value >= high)
		return LEVEL_STRAIN;
	return value > low ? LEVEL_BETWEEN : LEVEL_EASE;
}

static enum level larger(enum level a, enum level b)
{
	return a > b ? a : b;
}

static enum level heat_level(const struct conditions *conditions)
{
	return level_of(conditions->temperature,
			conditions->slowdown_at - HEAT_LOW_BELOW,
			conditions->slowdown_at - HEAT_HIGH_BELOW);
}

static enum level cpu_level(const struct conditions *conditions)
{
	return level_of(conditions->cpu_percent, CPU_LOW, CPU_HIGH);
}

static enum level memory_level(const struct conditions *conditions)
{
	enum level level = level_of(conditions->memory_percent, MEMORY_LOW,
				    MEMORY_HIGH);

	level = larger(level, level_of(conditions->memory_pressure,
				       PRESSURE_LOW, PRESSURE_HIGH));
	return larger(level, level_of(conditions->budget_percent, BUDGET_LOW,
				      BUDGET_HIGH));
}

/*
 * A setting must not grow because the GPU is cool while its own condition is
 * unknown; heat can only hold it back.
 */
static enum level with_heat(enum level level, enum level heat)
{
	return level == LEVEL_UNKNOWN && heat == LEVEL_EASE
		? LEVEL_UNKNOWN : larger(level, heat);
}

static int row_next(int row, enum level level)
{
	if (level == LEVEL_STRAIN)
		return row > 0 ? row + 1 : 1;
	if (level == LEVEL_EASE)
		return row < 0 ? row - 1 : -1;
	return 0;
}

static unsigned clamp(unsigned value, unsigned smallest, unsigned largest)
{
	if (value < smallest)
		return smallest;
	return value > largest ? largest : value;
}

/* A step resets the row: the next one needs as many readings again. */
static unsigned step(unsigned value, int *row)
{
	if (*row >= CONTROLLER_SHRINK_AFTER) {
		*row = 0;
		return value / 2;
	}
	if (*row <= -CONTROLLER_GROW_AFTER) {
		*row = 0;
		return value * 2;
	}
	return value;
}

struct control controller_next(const struct limits *limits,
			       struct control now,
			       const struct conditions *conditions)
{
	enum level heat = heat_level(conditions);

	now.threads_row = row_next(now.threads_row,
				   with_heat(cpu_level(conditions), heat));
	now.batch_row = row_next(now.batch_row,
				 with_heat(memory_level(conditions), heat));
	now.settings.threads = clamp(step(now.settings.threads,
					  &now.threads_row),
				     limits->smallest.threads,
				     limits->largest.threads);
	now.settings.batch = clamp(step(now.settings.batch, &now.batch_row),
				   limits->smallest.batch,
				   limits->largest.batch);
	return now;
}
