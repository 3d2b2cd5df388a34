/* SPDX-License-Identifier: Apache-2.0 */
#include "pool.h"

#include <stdlib.h>

/* ---- arena ------------------------------------------------------------- */

int arena_init(struct arena *arena, size_t bytes)
{
	if (buddy_init(&arena->buddy, bytes))
		return -1;
	arena->slab_of = calloc(arena->buddy.size / SLAB_BYTES + 1,
				sizeof(*arena->slab_of));
	return arena->slab_of ? 0 : -1;
}

void arena_release(struct arena *arena)
{
	free(arena->slab_of);
	buddy_release(&arena->buddy);
}

double arena_fragmentation(const struct arena *arena)
{
	size_t free_bytes = arena->buddy.free_bytes;

	return free_bytes ? 1 - (double)buddy_largest_free(&arena->buddy) /
					(double)free_bytes :
			    0;
}

static struct slab **place_of(const struct arena *arena, const void *memory)
{
	size_t off = (size_t)((const char *)memory - arena->buddy.base);

	return &arena->slab_of[off / SLAB_BYTES];
}

static bool slab_is_sound(const struct slab *slab);

bool arena_is_sound(const struct arena *arena)
{
	for (size_t i = 0; i < arena->buddy.size / SLAB_BYTES; i++)
		if (arena->slab_of[i] && !slab_is_sound(arena->slab_of[i]))
			return false;
	return buddy_is_sound(&arena->buddy);
}

/* ---- classes and slabs ------------------------------------------------- */

/* 64, 96, 128, 192, 256, ... */
static size_t class_bytes(unsigned class_)
{
	return (class_ % 2 ? (size_t)96 : (size_t)64) << class_ / 2;
}

static unsigned class_for(size_t bytes)
{
	unsigned class_ = 0;

	while (class_bytes(class_) < bytes)
		class_++;
	return class_;
}

static uint32_t *link_at(const struct slab *slab, uint32_t object)
{
	return (uint32_t *)(void *)(slab->memory +
				    object * class_bytes(slab->class_));
}

static bool slab_is_sound(const struct slab *slab)
{
	unsigned n = 0;

	for (uint32_t at = slab->free; at && n <= slab->room;
	     at = *link_at(slab, at - 1))
		n++;
	return n + slab->used == slab->room;
}

static void enlist(struct slab *slab)
{
	struct slab **first = &slab->pool->partial[slab->class_];

	slab->before = NULL;
	slab->next = *first;
	if (slab->next)
		slab->next->before = slab;
	*first = slab;
}

static void unlist(struct slab *slab)
{
	if (slab->before)
		slab->before->next = slab->next;
	else
		slab->pool->partial[slab->class_] = slab->next;
	if (slab->next)
		slab->next->before = slab->before;
}

static struct slab *slab_new(struct pool *pool, unsigned class_)
{
	struct slab *slab = calloc(1, sizeof(*slab));

	if (!slab)
		return NULL;
	slab->memory = buddy_alloc(&pool->arena->buddy, SLAB_BYTES);
	if (!slab->memory) {
		free(slab);
		return NULL;
	}
	slab->pool = pool;
	slab->class_ = (uint8_t)class_;
	slab->room = (uint16_t)(SLAB_BYTES / class_bytes(class_));
	for (uint32_t i = slab->room; i-- > 0;) {
		*link_at(slab, i) = slab->free;
		slab->free = i + 1;
	}
	pool->slab_bytes += SLAB_BYTES;
	*place_of(pool->arena, slab->memory) = slab;
	enlist(slab);
	return slab;
}

static void slab_end(struct slab *slab)
{
	struct pool *pool = slab->pool;

	unlist(slab);
	*place_of(pool->arena, slab->memory) = NULL;
	pool->slab_bytes -= SLAB_BYTES;
	buddy_free(&pool->arena->buddy, slab->memory);
	free(slab);
}

static void *small_alloc(struct pool *pool, unsigned class_)
{
	struct slab *slab = pool->partial[class_];
	uint32_t object;

	if (!slab)
		slab = slab_new(pool, class_);
	if (!slab)
		return NULL;
	object = slab->free - 1;
	slab->free = *link_at(slab, object);
	if (++slab->used == slab->room)
		unlist(slab);
	return slab->memory + object * class_bytes(class_);
}

static void small_free(struct slab *slab, void *memory)
{
	uint32_t object = (uint32_t)((size_t)((char *)memory - slab->memory) /
				     class_bytes(slab->class_));

	*link_at(slab, object) = slab->free;
	slab->free = object + 1;
	if (slab->used-- == slab->room)
		enlist(slab);
	/* One empty slab per class is kept for the next request. */
	if (!slab->used && (slab->next || slab->before))
		slab_end(slab);
}

/* ---- pools ------------------------------------------------------------- */

static size_t taken_for(size_t bytes)
{
	return bytes <= SMALL_MOST ? class_bytes(class_for(bytes)) :
				     buddy_taken(bytes);
}

/* The series of this pool; without labels, of all pools. */
TARE_SCOPE_SITE_DEFINE(all_alloc, "pool.alloc");
TARE_SCOPE_SITE_DEFINE(all_free, "pool.free");

void pool_init(struct pool *pool, struct arena *arena, const char *name)
{
	const char *const label[] = { "pool", name };

	*pool = (struct pool){ .name = name, .arena = arena };
	pool->alloc_site = tare_site_labels(&all_alloc, 1, label);
	pool->free_site = tare_site_labels(&all_free, 1, label);
	pool->bytes_site = tare_site_get(TARE_KIND_GAUGE, TARE_TYPE_MEMORY,
					 "pool.bytes", "B", NULL);
	pool->bytes_site = tare_site_labels(pool->bytes_site, 1, label);
	pool->waste_site = tare_site_get(TARE_KIND_GAUGE,
					 TARE_TYPE_PERCENTAGE,
					 "pool.fragmented", "%", NULL);
	pool->waste_site = tare_site_labels(pool->waste_site, 1, label);
}

static void *take(struct pool *pool, size_t bytes)
{
	void *memory = bytes <= SMALL_MOST ?
			       small_alloc(pool, class_for(bytes)) :
			       buddy_alloc(&pool->arena->buddy, bytes);

	if (!memory) {
		pool->refused++;
		return NULL;
	}
	pool->allocs++;
	pool->asked_bytes += bytes;
	pool->taken_bytes += taken_for(bytes);
	if (pool->taken_bytes > pool->peak_bytes)
		pool->peak_bytes = pool->taken_bytes;
	return memory;
}

/* TARE_FAIL marks only the innermost scope, so each scope sets its own. */
static void *take_of_pool(struct pool *pool, size_t bytes)
{
	TARE_SCOPE_SITE(pool->alloc_site);
	void *memory = take(pool, bytes);

	if (!memory)
		TARE_FAIL("no room");
	return memory;
}

void *pool_alloc(struct pool *pool, size_t bytes)
{
	TARE_SCOPE_SITE(&all_alloc);
	void *memory = take_of_pool(pool, bytes);

	if (!memory)
		TARE_FAIL("no room");
	return memory;
}

void pool_free(struct pool *pool, void *memory, size_t bytes)
{
	TARE_SCOPE_SITE(&all_free);
	TARE_SCOPE_SITE(pool->free_site);

	pool->frees++;
	pool->asked_bytes -= bytes;
	pool->taken_bytes -= taken_for(bytes);
	if (bytes <= SMALL_MOST)
		small_free(*place_of(pool->arena, memory), memory);
	else
		buddy_free(&pool->arena->buddy, memory);
}

double pool_waste(const struct pool *pool)
{
	return pool->taken_bytes ? 1 - (double)pool->asked_bytes /
					       (double)pool->taken_bytes :
				   0;
}

void pool_observe(const struct pool *pool)
{
	tare_gauge_set(pool->bytes_site, (double)pool->taken_bytes);
	tare_gauge_set(pool->waste_site, pool_waste(pool) * 100);
}
