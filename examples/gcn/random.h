/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random: numbers determined by their purpose, not by what was drawn before. So
 * a rank gets the same numbers for a node, whatever else it owns.
 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stdint.h>

/* Mixes two numbers into one. (splitmix64) */
static inline uint64_t random_mix(uint64_t a, uint64_t b)
{
	uint64_t x = a + (b + 1) * 0x9e3779b97f4a7c15u;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

/* 0 to 1, excluding 1. */
static inline double random_unit(uint64_t bits)
{
	return (double)(bits >> 11) * 0x1p-53;
}

/*
 * 32 bits per unit of a row, for the inner loop of dropout: short enough to be
 * vectorised. (lowbias32 by Ettinger and Wellons)
 */
static inline uint32_t random_of_unit(uint32_t row_key, uint32_t unit)
{
	uint32_t x = row_key ^ unit * 0x9e3779b9u;

	x = (x ^ x >> 16) * 0x7feb352du;
	x = (x ^ x >> 15) * 0x846ca68bu;
	return x ^ x >> 16;
}

#endif
