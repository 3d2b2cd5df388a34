/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real functions behind ours, and memory for callers that allocate while
 * these are looked up: dlsym() does.
 */
#include "malloc_own.h"
#include "ledger/layout.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

struct malloc_real malloc_real;
uint32_t malloc_is_found;
static uint32_t finding;

_Alignas(16) char malloc_boot_memory[MALLOC_BOOT_BYTES];
static size_t boot_used;

/* The size is stored before the block. NULL: no memory. */
void *malloc_boot(size_t n, size_t alignment)
{
	size_t at, used;
	char *block;

	if (alignment < 16)
		alignment = 16;
	if (n > MALLOC_BOOT_BYTES || alignment > MALLOC_BOOT_BYTES)
		return NULL;
	used = TR_LOAD(boot_used);
	do {
		at = (used + 16 + alignment - 1) & ~(alignment - 1);
		if (at + n > MALLOC_BOOT_BYTES)
			return NULL;
	} while (!__atomic_compare_exchange_n(&boot_used, &used,
					      at + ((n + 15) & ~(size_t)15),
					      true, __ATOMIC_RELAXED,
					      __ATOMIC_RELAXED));
	block = malloc_boot_memory + at;
	memcpy(block - 16, &n, sizeof(n));
	return block;
}

size_t malloc_boot_size(const void *block)
{
	size_t n;

	memcpy(&n, (const char *)block - 16, sizeof(n));
	return n;
}

/* As ISO C requires: a function pointer arrives as an object pointer. */
#define FIND(field) \
	(*(void **)(void *)&malloc_real.field = dlsym(RTLD_NEXT, #field))

/* Emulates what an old allocator lacks. */
static void *by_memalign(size_t n)
{
	return malloc_real.memalign(4096, n);
}

static void *by_whole_pages(size_t n)
{
	return n > SIZE_MAX - 4095 ?
		       NULL :
		       malloc_real.memalign(4096, (n + 4095) & ~(size_t)4095);
}

bool malloc_find(void)
{
	uint32_t idle = 0;

	/* Also for a caller inside dlsym(). */
	if (!__atomic_compare_exchange_n(&finding, &idle, 1, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return TR_ACQUIRE(malloc_is_found);
	FIND(calloc);
	FIND(malloc);
	FIND(realloc);
	FIND(free);
	FIND(posix_memalign);
	FIND(aligned_alloc);
	FIND(memalign);
	if (!FIND(valloc))
		malloc_real.valloc = by_memalign;
	if (!FIND(pvalloc))
		malloc_real.pvalloc = by_whole_pages;
	if (!malloc_real.memalign)
		malloc_real.memalign = malloc_real.aligned_alloc;
	TR_PUBLISH(malloc_is_found, 1);
	return true;
}

bool malloc_is_own(const void *address)
{
	Dl_info mine, libc, theirs;

	if (!dladdr(*(void **)(void *)&malloc_real.malloc, &mine) ||
	    !dladdr(address, &theirs) ||
	    !dladdr(dlsym(RTLD_NEXT, "getpid"), &libc))
		return false;
	return mine.dli_fbase == theirs.dli_fbase &&
	       mine.dli_fbase != libc.dli_fbase;
}
