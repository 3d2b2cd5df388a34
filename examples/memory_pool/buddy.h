/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buddy: blocks of 64 bytes times a power of two, from one arena.
 *
 * A block of order k is at a multiple of its size. When freed, it is merged
 * with its buddy (the other half of the block of order k + 1) while that is
 * free too.
 */
#ifndef POOL_BUDDY_H
#define POOL_BUDDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUDDY_LEAST 64u
#define BUDDY_ORDERS 24u

struct buddy {
	char *base;
	size_t size;	    /* bytes of the arena: a power of two */
	unsigned orders;    /* number of orders */
	uint8_t *state;	    /* per 64 bytes, see buddy.c */
	uint32_t first[BUDDY_ORDERS]; /* free block of each order, + 1 */
	size_t free_bytes;
	uint64_t n_blocks;  /* in use */
};

/* 0, or -1: no memory. `size` is rounded up to a power of two. */
int buddy_init(struct buddy *buddy, size_t size);
void buddy_release(struct buddy *buddy);

/* NULL: no block is large enough. */
void *buddy_alloc(struct buddy *buddy, size_t bytes);
void buddy_free(struct buddy *buddy, void *block);
/* Bytes used by a request of `bytes`. */
size_t buddy_taken(size_t bytes);
size_t buddy_largest_free(const struct buddy *buddy);
/* Are blocks and lists consistent? Checks all of them. */
bool buddy_is_sound(const struct buddy *buddy);

#endif
