/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random: numbers determined by a seed, the same on every machine.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* The next number of a stream; any `state` starts one. (splitmix64) */
static inline uint64_t random_next(uint64_t *state)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* -1 to 1, a multiple of 2^-23: exact as a float. */
static inline float random_weight(uint64_t *state)
{
	return (float)((int64_t)(random_next(state) >> 40) - (1 << 23)) /
	       (float)(1 << 23);
}

#endif
