/* SPDX-License-Identifier: Apache-2.0 */
/* Ways through a program by chance, the same for it and for its test. */
#ifndef ALLOC_PATHS_H
#define ALLOC_PATHS_H

#include <stdint.h>

#define PATH_ROUNDS 30000
#define PATH_CODES 4096u

/* Two bits a call, innermost lowest, a 1 above the outermost. */
static inline uint32_t path_next(uint64_t *state)
{
	uint64_t x = *state;
	uint32_t depth, code = 1;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	*state = x;
	depth = 1 + (uint32_t)(x >> 8) % 5;
	for (uint32_t i = 0; i < depth; i++)
		code = code << 2 | ((uint32_t)(x >> (16 + 2 * i)) & 3);
	return code;
}

#endif
