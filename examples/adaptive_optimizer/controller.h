/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Controller: takes conditions and current settings, returns new settings.
 *
 * It reads nothing, waits for nothing and stores only struct control: the same
 * calls give the same settings, so a test can simulate any machine.
 *
 *	the CPUs are busy	fewer threads: more would only take turns
 *	memory is short		smaller batches: less is in flight
 *	the GPU is hot		both
 *
 * It does not oscillate: the limit for shrinking is well above the limit for
 * growing, and a condition must hold for several readings in a row. It shrinks
 * sooner than it grows.
 */
#ifndef CONTROLLER_H
#define CONTROLLER_H

#include <stdbool.h>

#define CONTROLLER_SHRINK_AFTER 2 /* readings in a row */
#define CONTROLLER_GROW_AFTER 3

/* Percent; see controller.c for the degrees. */
#define CPU_HIGH 85.0
#define CPU_LOW 65.0
#define MEMORY_HIGH 92.0	/* of the machine */
#define MEMORY_LOW 88.0
#define PRESSURE_HIGH 20.0	/* of the time a process waited for memory */
#define PRESSURE_LOW 5.0
#define BUDGET_HIGH 95.0	/* of the memory this service may use */
#define BUDGET_LOW 80.0

/* Unknown values are NAN: they have no influence. */
struct conditions {
	double cpu_percent;	/* of all CPUs that may be used */
	double memory_percent;	/* of the usable memory */
	double memory_pressure;	/* percent of the time */
	double budget_percent;	/* resident memory, of the budget */
	double temperature;	/* of the hottest GPU, degrees Celsius */
	double slowdown_at;	/* at which that GPU slows down */
};

struct settings {
	unsigned threads, batch;
};

/* Settings are always within these; the smallest is at least 1. */
struct limits {
	struct settings smallest, largest;
};

/* Readings in a row: above 0 of strain, below 0 of ease. */
struct control {
	struct settings settings;
	int threads_row, batch_row;
};

struct control controller_next(const struct limits *limits,
			       struct control now,
			       const struct conditions *conditions);

#endif
