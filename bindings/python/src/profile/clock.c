/* SPDX-License-Identifier: Apache-2.0 */
#include "clock.h"

#include <time.h>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define LEAST_NS 2000000u /* a shorter time gives a bad rate */

bool tr_clock_is_tsc;
static uint64_t first_ns, first_ticks;

uint64_t tr_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t tr_clock_coarse_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool has_constant_tsc(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d = 0;

	return __get_cpuid(0x80000007u, &a, &b, &c, &d) && (d & (1u << 8));
#else
	return false;
#endif
}

/* Both clocks at one instant: the pair that took the least time of three. */
static void read_both(uint64_t *ret_ns, uint64_t *ret_ticks)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 3; i++) {
		uint64_t before = tr_ticks(), ns = tr_clock_ns();
		uint64_t took = tr_ticks() - before;

		if (took >= best)
			continue;
		best = took;
		*ret_ns = ns;
		*ret_ticks = before + took / 2;
	}
}

void tr_clock_init(void)
{
	tr_clock_is_tsc = has_constant_tsc();
	read_both(&first_ns, &first_ticks);
}

double tr_clock_tick_s(void)
{
	uint64_t ns, ticks;

	if (!tr_clock_is_tsc)
		return 1e-9;
	do
		read_both(&ns, &ticks);
	while (ns - first_ns < LEAST_NS);
	return (double)(ns - first_ns) * 1e-9 / (double)(ticks - first_ticks);
}
