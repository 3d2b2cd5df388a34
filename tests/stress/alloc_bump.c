/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator that may be called anywhere, also in a handler that came in
 * the middle of itself: it never gives an address twice.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define BUMP_BYTES (UINT64_C(1) << 34)

#include <sys/mman.h>

void *malloc(size_t n);
void *calloc(size_t n, size_t size);
void *realloc(void *block, size_t n);
void free(void *block);

static char *memory;
static uint64_t used;

static char *begin(void)
{
	char *now = __atomic_load_n(&memory, __ATOMIC_ACQUIRE), *mine;

	if (now)
		return now;
	mine = mmap(NULL, BUMP_BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (__atomic_compare_exchange_n(&memory, &now, mine, 0,
					__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return mine;
	return now;
}

void *malloc(size_t n)
{
	char *from = begin();
	uint64_t at = __atomic_fetch_add(&used, (n + 31) & ~(uint64_t)15,
					 __ATOMIC_RELAXED);

	if (at + n + 16 > BUMP_BYTES)
		return NULL;
	memcpy(from + at, &n, sizeof(n));
	return from + at + 16;
}

void *calloc(size_t n, size_t size)
{
	return malloc(n * size); /* never used before: zeros */
}

void *realloc(void *block, size_t n)
{
	void *moved = malloc(n);
	size_t old = 0;

	if (block)
		memcpy(&old, (char *)block - 16, sizeof(old));
	if (moved && block)
		memcpy(moved, block, old < n ? old : n);
	return moved;
}

void free(void *block)
{
	(void)block;
}
