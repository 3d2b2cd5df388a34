/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Workload: a language model's memory while it serves requests. Weights stay;
 * the KV cache of a request grows by a block every 16 tokens and is freed with
 * it; activations live for one step; scratch memory is small and of any age.
 */
#ifndef POOL_WORKLOAD_H
#define POOL_WORKLOAD_H

#include "pool.h"

enum kind { WEIGHTS, KV_CACHE, ACTIVATIONS, SCRATCH, KINDS };

#define REQUESTS_MOST 48u
#define BLOCKS_MOST 40u
#define SCRATCH_MOST 512u
#define WEIGHTS_MOST 24u

/* Memory, and the bytes that must still be in it when it is freed. */
struct piece {
	unsigned char *memory;
	size_t bytes;
	unsigned char mark;
};

struct request {
	unsigned tokens, wanted; /* wanted 0: this slot is free */
	unsigned n_blocks;
	struct piece block[BLOCKS_MOST];
};

struct workload {
	struct arena arena;
	struct pool pool[KINDS];
	struct piece weight[WEIGHTS_MOST];
	struct piece scratch[SCRATCH_MOST];
	struct request request[REQUESTS_MOST];
	uint64_t random;
	uint64_t finished, evicted, spoiled;
};

int workload_init(struct workload *load, size_t arena_bytes, uint64_t seed);
void workload_step(struct workload *load);
/* Frees everything; true: the arena is complete again. */
bool workload_end(struct workload *load);
/* Are lists and blocks consistent, and is no memory overwritten? */
bool workload_is_sound(const struct workload *load);

#endif
