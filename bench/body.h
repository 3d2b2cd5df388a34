/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Body: work of about 100 ns, to put probes around. Each step depends on the
 * previous one, so its time is known and constant.
 */
#ifndef BENCH_BODY_H
#define BENCH_BODY_H

#include "bench.h"

/* Multiplications; see body_calibrate(). */
static uint64_t body_steps = 85;
static uint64_t body_state = 1;

static inline void body(void)
{
	uint64_t x = body_state;

	for (uint64_t i = 0; i < body_steps; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		__asm__ volatile("" : "+r"(x));
	}
	body_state = x;
}

static void body_bare(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		body();
		BENCH_OPAQUE(i);
	}
}

static void body_calibrate(void)
{
	struct bench_case c = { "body", body_bare, 0, 0 };

	bench_run(&c, 1, 20);
	body_steps = (uint64_t)((double)body_steps * 100 / c.best_ns);
}

#endif
