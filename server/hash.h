/* SPDX-License-Identifier: Apache-2.0 */
/* Hash: FNV-1a, for tables, tags and cursors; not for secrets. */
#ifndef SERVER_HASH_H
#define SERVER_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_BEGIN UINT64_C(14695981039346656037)

static inline uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		hash = (hash ^ ((const unsigned char *)bytes)[i]) *
		       UINT64_C(1099511628211);
	return hash;
}

/* Adds a separator byte, so that "a", "bc" differs from "ab", "c". */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash_bytes(hash, text, strlen(text)), "\xff", 1);
}

#endif
