/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_BYTES ((size_t)65536)

struct texts_chunk {
	struct texts_chunk *next;
	size_t used;
	char bytes[];
};

static char *take(struct texts *texts, size_t bytes)
{
	size_t size = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
	struct texts_chunk *chunk = texts->chunk;

	if (!chunk || texts->left < bytes) {
		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk)
			return NULL;
		chunk->next = texts->chunk;
		chunk->used = 0;
		texts->chunk = chunk;
		texts->left = size;
	}
	chunk->used += bytes;
	texts->left -= bytes;
	return chunk->bytes + chunk->used - bytes;
}

static size_t hash_of(const char *text)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
	return (size_t)(hash ^ hash >> 32);
}

static const char **slot_of(const char **table, size_t mask, const char *text)
{
	size_t i = hash_of(text) & mask;

	while (table[i] && strcmp(table[i], text) != 0)
		i = (i + 1) & mask;
	return &table[i];
}

static bool make_room(struct texts *texts)
{
	size_t size = texts->table ? texts->mask + 1 : 0;
	size_t more = size ? size * 2 : 1024;
	const char **table;

	if (texts->n < size / 2)
		return true;
	table = calloc(more, sizeof(*table));
	if (!table)
		return false;
	for (size_t i = 0; i < size; i++)
		if (texts->table[i])
			*slot_of(table, more - 1, texts->table[i]) =
				texts->table[i];
	free(texts->table);
	texts->table = table;
	texts->mask = more - 1;
	return true;
}

const char *texts_keep(struct texts *texts, const char *text)
{
	size_t bytes = strlen(text) + 1;
	const char **slot;
	char *kept;

	if (!make_room(texts))
		return "";
	slot = slot_of(texts->table, texts->mask, text);
	if (*slot)
		return *slot;
	kept = take(texts, bytes);
	if (!kept)
		return "";
	memcpy(kept, text, bytes);
	*slot = kept;
	texts->n++;
	return kept;
}

void texts_release(struct texts *texts)
{
	struct texts_chunk *next;

	for (; texts->chunk; texts->chunk = next) {
		next = texts->chunk->next;
		free(texts->chunk);
	}
	free(texts->table);
	texts->table = NULL;
}
