/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks: a tree of frames in the ledger, each path once.
 *
 * A hash over the nodes is in private memory and is never locked: a node is
 * written completely, then stored in a free place by compare-and-swap. If two
 * threads (or a thread and its signal handler) make the same node at once, one
 * of the two is wasted. No thread waits for another.
 *
 * Most stacks were seen before: a smaller table finds them by a hash of all
 * their frames, with one look-up instead of one per frame. It also stores a
 * second hash of 64 bits, so that stacks are not confused.
 *
 * All keys include the ledger that they are for: after a truncation there is a
 * new ledger with empty nodes, and entries for the old one no longer match.
 * Places in the region are never given out twice, so the table has room for
 * both.
 */

#include <pthread.h>
#include <string.h>

#include "record/stacks.h"

#define TR_WHOLE_SIZE 4096u /* stacks found by one look-up */
#define TR_STACK_K1 UINT64_C(0x9E3779B97F4A7C15)
#define TR_STACK_K2 UINT64_C(0xC2B2AE3D27D4EB4F)

struct whole_stack {
	uint64_t check;	 /* second hash ^ number * K1 */
	uint64_t number; /* 0: empty */
};

/* In memory that a fork wipes. */
struct stack_tables {
	struct whole_stack whole[TR_WHOLE_SIZE];
	uint64_t mask;
	uint32_t rooted;     /* replaced + 1 of the ledger that has roots */
	uint32_t reserved;
	uint64_t node[];     /* hash in the upper half, number in the lower */
};

static struct stack_tables *tables;
static size_t table_bytes;

struct stack_key {
	uint64_t address;
	uint32_t parent, module, flags, ledger;
};

static struct tr_stack *node_at(uint32_t number)
{
	return (struct tr_stack *)(void *)(tr_ledger->base +
		tr_ledger->region[TR_REGION_STACKS].off) + number;
}

struct tr_stack *tr_stack_at(uint32_t number)
{
	const struct tr_region *region;

	if (!tr_ledger || !tr_ledger->base)
		return NULL;
	region = &tr_ledger->region[TR_REGION_STACKS];
	if (number >= TR_LOAD(region->used) / sizeof(struct tr_stack))
		return NULL;
	return node_at(number);
}

static uint64_t key_hash(const struct stack_key *key)
{
	uint64_t hash = (key->address ^ (uint64_t)key->module << 48) *
			TR_STACK_K1;

	hash ^= hash >> 32;
	hash += (uint64_t)key->parent << 32 | key->flags |
		(uint64_t)key->ledger << 8;
	hash *= TR_STACK_K2;
	return hash ^ hash >> 29;
}

static bool is_key(const struct tr_stack *node, const struct stack_key *key)
{
	return TR_LOAD(node->address) == key->address &&
	       TR_LOAD(node->parent) == key->parent &&
	       TR_LOAD(node->module) == key->module &&
	       TR_LOAD(node->flags) == key->flags;
}

static uint32_t node_make(const struct stack_key *key)
{
	const struct tr_region *region =
		&tr_ledger->region[TR_REGION_STACKS];
	uint32_t off = tr_region_take(TR_REGION_STACKS,
				      sizeof(struct tr_stack));
	struct tr_stack *node;

	if (!off)
		return 0;
	node = (void *)(tr_ledger->base + off);
	TR_STORE(node->address, key->address);
	TR_STORE(node->parent, key->parent);
	TR_STORE(node->module, key->module);
	TR_PUBLISH(node->flags, key->flags);
	return (uint32_t)((off - region->off) / sizeof(struct tr_stack));
}

/* The node's number, found or added; 0: there is no room. */
static uint32_t node_find(const struct stack_key *key)
{
	uint64_t hash = key_hash(key), mask = tables->mask, at = hash & mask;
	uint32_t mine = 0;

	for (uint64_t n = 0; n <= mask; n++, at = (at + 1) & mask) {
		uint64_t entry = TR_ACQUIRE(tables->node[at]);

		if (!entry) {
			if (!mine && !(mine = node_make(key)))
				return 0;
			/* The node is written before its number. */
			if (TR_SWAP(tables->node[at], &entry,
				    hash >> 32 << 32 | mine))
				return mine;
		}
		if (entry >> 32 == hash >> 32 &&
		    is_key(node_at((uint32_t)entry), key)) {
			/* Another thread was faster: readers skip this node. */
			if (mine)
				TR_STORE(node_at(mine)->flags, 0);
			return (uint32_t)entry;
		}
	}
	return 0;
}

/* ---- whole stacks ------------------------------------------------------ */

struct stack_hash {
	uint64_t place, check;
};

static struct stack_hash hash_all(const struct tr_unwind_frame *frames,
				  uint32_t n, uint32_t seed)
{
	struct stack_hash hash = { seed, ~(uint64_t)seed };

	for (uint32_t i = 0; i < n; i++) {
		uint64_t word = frames[i].pc ^ (uint64_t)frames[i].module << 48;

		hash.place = (hash.place ^ word) * TR_STACK_K1;
		hash.check = (hash.check + word) * TR_STACK_K2;
		hash.check ^= hash.check >> 31;
	}
	return hash;
}

static uint32_t whole_find(const struct stack_hash *hash)
{
	const struct whole_stack *at =
		&tables->whole[hash->place >> 40 & (TR_WHOLE_SIZE - 1)];
	uint64_t number = TR_LOAD(at->number);

	if ((TR_LOAD(at->check) ^ number * TR_STACK_K1) != hash->check)
		return 0;
	return (uint32_t)number;
}

static void whole_keep(const struct stack_hash *hash, uint32_t number)
{
	struct whole_stack *at =
		&tables->whole[hash->place >> 40 & (TR_WHOLE_SIZE - 1)];

	/* Words from two writers match neither's hash. */
	TR_STORE(at->number, number);
	TR_STORE(at->check, hash->check ^ number * TR_STACK_K1);
}

/* ---- door -------------------------------------------------------------- */

/*
 * Nodes that are not code. Several threads may do this at once, with the same
 * result.
 */
static bool make_roots(uint32_t ledger)
{
	struct tr_region *region = &tr_ledger->region[TR_REGION_STACKS];
	uint64_t bytes = TR_STACK_FIRST * sizeof(struct tr_stack);

	while (TR_LOAD(region->used) < bytes)
		if (!tr_region_take(TR_REGION_STACKS,
				    bytes - TR_LOAD(region->used)))
			return false;
	for (uint32_t i = TR_STACK_WHOLE; i < TR_STACK_FIRST; i++)
		TR_PUBLISH(node_at(i)->flags, TR_STACK_READY);
	TR_PUBLISH(tables->rooted, ledger);
	return true;
}

static uint32_t stack_lost(void)
{
	if (tr_ledger && tr_ledger->base)
		(void)TR_ADD(tr_ledger->header->stacks_lost, 1);
	return TR_STACK_LOST;
}

static uint32_t intern_frames(const struct tr_unwind_frame *frames,
			      uint32_t n, bool is_whole, bool is_exact,
			      uint32_t ledger)
{
	uint32_t number = is_whole ? TR_STACK_WHOLE : TR_STACK_CUT;

	while (n-- > 0) {
		uint32_t module = frames[n].module;
		struct stack_key key = {
			frames[n].pc, number,
			module < TR_MAX_MODULES ? module + 1 : 0,
			TR_STACK_READY, ledger
		};

		if (module == TR_UNWIND_PYTHON)
			key.flags |= TR_STACK_PYTHON;
		else if (!n && is_exact)
			key.flags |= TR_STACK_EXACT;
		number = node_find(&key);
		if (!number)
			return 0;
	}
	return number;
}

uint32_t tr_stack_intern(const struct tr_unwind_frame *frames, uint32_t n,
			 bool is_whole, bool is_exact)
{
	struct stack_hash hash;
	uint32_t ledger, number;

	if (!tr_ledger_is_open() || !tables || !TR_ACQUIRE(tables->mask))
		return stack_lost();
	ledger = TR_LOAD(tr_ledger->replaced) + 1;
	if (TR_UNLIKELY(TR_ACQUIRE(tables->rooted) != ledger) &&
	    !make_roots(ledger))
		return stack_lost();
	hash = hash_all(frames, n, ledger << 2 | (uint32_t)is_whole << 1 |
				   (uint32_t)is_exact);
	number = whole_find(&hash);
	if (TR_LIKELY(number))
		return number;
	number = intern_frames(frames, n, is_whole, is_exact, ledger);
	if (!number)
		return stack_lost();
	whole_keep(&hash, number);
	return number;
}

static void wipe_tables(void)
{
	memset(tables, 0, table_bytes);
}

bool tr_stacks_init(void)
{
	uint64_t most, size = 64;
	bool is_wiped = true;

	if (!tr_ledger || !tr_ledger->base)
		return false;
	most = tr_ledger->region[TR_REGION_STACKS].cap /
	       sizeof(struct tr_stack);
	while (size < most * 2)
		size *= 2;
	if (!tables) {
		table_bytes = sizeof(*tables) + size * sizeof(uint64_t);
		tables = tr_memory_map_wiped(table_bytes, &is_wiped);
	}
	if (!tables)
		return false;
	/*
	 * An old kernel does not wipe: a handler does it, at least for fork().
	 */
	if (!is_wiped)
		(void)pthread_atfork(NULL, NULL, wipe_tables);
	TR_PUBLISH(tables->mask, size - 1);
	return true;
}
