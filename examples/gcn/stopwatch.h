/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stopwatch: the time of an epoch, phase by phase. One phase runs at a time;
 * communication inside forward is communication.
 */
#ifndef STOPWATCH_H
#define STOPWATCH_H

#include <stdint.h>
#include <time.h>

enum phase {
	PHASE_NONE, /* not training: between epochs, evaluation */
	PHASE_FORWARD,
	PHASE_BACKWARD,
	PHASE_COMMUNICATION,
	PHASE_UPDATE,
	N_PHASES
};

struct stopwatch {
	enum phase phase;
	int64_t since_ns;
	int64_t ns[N_PHASES];
};

static inline int64_t stopwatch_now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Ends the phase under way and begins the next. Returns the one that ended. */
static inline enum phase stopwatch_turn(struct stopwatch *watch,
					enum phase next)
{
	int64_t now = stopwatch_now();
	enum phase last = watch->phase;

	watch->ns[last] += now - watch->since_ns;
	watch->since_ns = now;
	watch->phase = next;
	return last;
}

#endif
