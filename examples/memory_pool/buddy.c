/* SPDX-License-Identifier: Apache-2.0 */
#include "buddy.h"

#include <stdlib.h>

/* State of the first 64 bytes of a block: these flags and its order. */
#define IS_BLOCK 0x80u
#define IS_FREE 0x40u
#define ORDER 0x3fu

/* Stored inside a free block. Block numbers + 1; 0: none. */
struct link {
	uint32_t next, before;
};

static struct link *link_at(const struct buddy *buddy, uint32_t at)
{
	return (struct link *)(void *)(buddy->base +
				       (size_t)at * BUDDY_LEAST);
}

static unsigned order_for(size_t bytes)
{
	unsigned order = 0;

	while (((size_t)BUDDY_LEAST << order) < bytes)
		order++;
	return order;
}

size_t buddy_taken(size_t bytes)
{
	return (size_t)BUDDY_LEAST << order_for(bytes);
}

/* ---- lists ------------------------------------------------------------- */

static void put(struct buddy *buddy, uint32_t at, unsigned order)
{
	struct link *link = link_at(buddy, at);

	link->before = 0;
	link->next = buddy->first[order];
	if (link->next)
		link_at(buddy, link->next - 1)->before = at + 1;
	buddy->first[order] = at + 1;
	buddy->state[at] = (uint8_t)(IS_BLOCK | IS_FREE | order);
	buddy->free_bytes += (size_t)BUDDY_LEAST << order;
}

static void take(struct buddy *buddy, uint32_t at, unsigned order)
{
	struct link *link = link_at(buddy, at);

	if (link->before)
		link_at(buddy, link->before - 1)->next = link->next;
	else
		buddy->first[order] = link->next;
	if (link->next)
		link_at(buddy, link->next - 1)->before = link->before;
	buddy->state[at] = 0;
	buddy->free_bytes -= (size_t)BUDDY_LEAST << order;
}

/* ---- blocks ------------------------------------------------------------ */

int buddy_init(struct buddy *buddy, size_t size)
{
	*buddy = (struct buddy){ .orders = order_for(size) };
	if (buddy->orders >= BUDDY_ORDERS)
		return -1;
	buddy->size = (size_t)BUDDY_LEAST << buddy->orders;
	buddy->base = aligned_alloc(4096, buddy->size < 4096 ? 4096 :
							       buddy->size);
	buddy->state = calloc(buddy->size / BUDDY_LEAST, 1);
	if (!buddy->base || !buddy->state) {
		buddy_release(buddy);
		return -1;
	}
	put(buddy, 0, buddy->orders);
	return 0;
}

void buddy_release(struct buddy *buddy)
{
	free(buddy->base);
	free(buddy->state);
	buddy->base = NULL;
	buddy->state = NULL;
}

void *buddy_alloc(struct buddy *buddy, size_t bytes)
{
	unsigned want = order_for(bytes), order = want;
	uint32_t at;

	while (order <= buddy->orders && !buddy->first[order])
		order++;
	if (order > buddy->orders)
		return NULL;
	at = buddy->first[order] - 1;
	take(buddy, at, order);
	/* The unused upper halves become free. */
	while (order > want) {
		order--;
		put(buddy, at + (1u << order), order);
	}
	buddy->state[at] = (uint8_t)(IS_BLOCK | want);
	buddy->n_blocks++;
	return buddy->base + (size_t)at * BUDDY_LEAST;
}

void buddy_free(struct buddy *buddy, void *block)
{
	uint32_t at = (uint32_t)((size_t)((char *)block - buddy->base) /
				 BUDDY_LEAST);
	unsigned order = buddy->state[at] & ORDER;

	buddy->state[at] = 0;
	buddy->n_blocks--;
	for (; order < buddy->orders; order++) {
		uint32_t other = at ^ 1u << order;

		if (buddy->state[other] != (IS_BLOCK | IS_FREE | order))
			break;
		take(buddy, other, order);
		at &= other;
	}
	put(buddy, at, order);
}

size_t buddy_largest_free(const struct buddy *buddy)
{
	for (unsigned order = buddy->orders + 1; order-- > 0;)
		if (buddy->first[order])
			return (size_t)BUDDY_LEAST << order;
	return 0;
}

/* ---- checking ---------------------------------------------------------- */

/* Blocks are contiguous, at multiples of their size. */
static bool blocks_are_sound(const struct buddy *buddy, size_t *ret_free)
{
	uint32_t n = (uint32_t)(buddy->size / BUDDY_LEAST), at = 0;
	uint64_t used = 0;

	*ret_free = 0;
	while (at < n) {
		unsigned order = buddy->state[at] & ORDER;
		uint32_t long_ = 1u << order;

		if (!(buddy->state[at] & IS_BLOCK) ||
		    order > buddy->orders || at % long_ || long_ > n - at)
			return false;
		for (uint32_t i = 1; i < long_; i++)
			if (buddy->state[at + i])
				return false;
		if (buddy->state[at] & IS_FREE)
			*ret_free += (size_t)BUDDY_LEAST << order;
		else
			used++;
		at += long_;
	}
	return used == buddy->n_blocks;
}

bool buddy_is_sound(const struct buddy *buddy)
{
	size_t by_blocks, by_lists = 0;

	if (!blocks_are_sound(buddy, &by_blocks))
		return false;
	for (unsigned order = 0; order <= buddy->orders; order++) {
		for (uint32_t at = buddy->first[order]; at;
		     at = link_at(buddy, at - 1)->next) {
			if (buddy->state[at - 1] !=
			    (IS_BLOCK | IS_FREE | order))
				return false;
			by_lists += (size_t)BUDDY_LEAST << order;
			if (by_lists > buddy->size)
				return false;
		}
	}
	return by_blocks == by_lists && by_lists == buddy->free_bytes;
}
