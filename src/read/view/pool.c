/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pool: memory that is freed all at once.
 *
 * Reading a large ledger makes thousands of small arrays that are freed
 * together. malloc() would return them to the kernel after every reading, and
 * fault them in again, page by page, for the next.
 */
#include "read/view.h"

#include <assert.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)256 << 10)
#define FIRST_BYTES ((size_t)16 << 10) /* enough for a small ledger */

struct tr_pool_chunk {
	struct tr_pool_chunk *next;
	size_t bytes;
};

static bool add_chunk(struct tr_pool *pool, size_t bytes)
{
	size_t least = pool->chunk ? CHUNK_BYTES : FIRST_BYTES;
	struct tr_pool_chunk *chunk;

	bytes += sizeof(*chunk);
	bytes = bytes < least ? least : bytes;
	chunk = tr_memory_map(bytes);
	if (!chunk)
		return false;
	(void)tr_memory_reserve(chunk, bytes); /* one call: 4 x cheaper */
	chunk->next = pool->chunk;
	chunk->bytes = bytes;
	pool->chunk = chunk;
	pool->at = (char *)(chunk + 1);
	pool->left = bytes - sizeof(*chunk);
	return true;
}

void *tr_pool_take(struct tr_pool *pool, size_t bytes)
{
	void *memory;

	assert(bytes);
	bytes = (bytes + 15) & ~(size_t)15;
	if (pool->left < bytes && !add_chunk(pool, bytes))
		return NULL;
	memory = pool->at;
	pool->at += bytes;
	pool->left -= bytes;
	return memory;
}

const char *tr_pool_text(struct tr_pool *pool, const char *text)
{
	size_t bytes = strlen(text) + 1;
	char *copy = tr_pool_take(pool, bytes);

	return copy ? memcpy(copy, text, bytes) : NULL;
}

void tr_pool_release(struct tr_pool *pool)
{
	struct tr_pool_chunk *next;

	for (struct tr_pool_chunk *chunk = pool->chunk; chunk; chunk = next) {
		next = chunk->next;
		tr_memory_unmap(chunk, chunk->bytes);
	}
	pool->chunk = NULL;
	pool->left = 0;
}
