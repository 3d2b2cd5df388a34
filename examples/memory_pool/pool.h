/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools: one for each kind of tensor, all from one buddy arena.
 *
 * Small sizes have classes (64, 96, 128, 192, ... 8,192 bytes) in slabs of 64
 * KiB; larger ones are blocks of the arena. A pool keeps its own counts, and
 * reports the same to tare: the program compares the two at its end.
 */
#ifndef POOL_POOL_H
#define POOL_POOL_H

#include <tare/tare.h>

#include "buddy.h"

#define SLAB_BYTES 65536u
#define SMALL_MOST 8192u
#define CLASSES 15u

struct slab {
	struct slab *next, *before; /* in its class, if it has room */
	struct pool *pool;
	char *memory;
	uint32_t free; /* first free object, + 1 */
	uint16_t used, room;
	uint8_t class_;
};

struct arena {
	struct buddy buddy;
	struct slab **slab_of; /* by 64 KiB of the arena; NULL: none */
};

struct pool {
	const char *name;
	struct arena *arena;
	struct slab *partial[CLASSES];
	uint64_t allocs, frees, refused;
	size_t asked_bytes; /* requested, of live allocations */
	size_t taken_bytes; /* of the classes and blocks used for them */
	size_t slab_bytes;  /* of slabs, used or not */
	size_t peak_bytes;
	tare_site *alloc_site, *free_site;
	tare_site *bytes_site, *waste_site;
};

/* 0, or -1: no memory. */
int arena_init(struct arena *arena, size_t bytes);
void arena_release(struct arena *arena);
/* Share of free memory that is not in the largest free block, 0..1. */
double arena_fragmentation(const struct arena *arena);
bool arena_is_sound(const struct arena *arena);

void pool_init(struct pool *pool, struct arena *arena, const char *name);
/* NULL: there is no room. */
void *pool_alloc(struct pool *pool, size_t bytes);
/* `bytes`: as requested from pool_alloc(). */
void pool_free(struct pool *pool, void *memory, size_t bytes);
/* Share of used memory that was not requested, 0..1. */
double pool_waste(const struct pool *pool);
/* Sets the pool's gauges in tare. */
void pool_observe(const struct pool *pool);

#endif
