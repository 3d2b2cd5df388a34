/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The malloc family, as a program calls it.
 *
 * Results and errno are those of the real functions. A block is removed from
 * the table before it is freed: after that, another thread may get its
 * address. A realloc that succeeds is a free and an allocation.
 *
 * Tracking starts at the first allocation after libc has started, not in a
 * constructor: other libraries' constructors run before ours.
 */
#include "malloc_own.h"

#include "record/runtime.h"
#include "record/alloc.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- before tracking starts -------------------------------------------- */

#define EARLY 256u

struct early {
	void *block;
	size_t n;
	uint64_t pc; /* of the caller; the rest of the stack is lost */
};

static struct early early[EARLY];
static uint32_t n_early, early_unseen;
static uint32_t is_starting;
uint32_t malloc_is_started;

static void keep_early(void *block, size_t n, uint64_t pc)
{
	uint32_t i = TR_ADD(n_early, 1);

	if (i >= EARLY) {
		TR_STORE(n_early, EARLY);
		(void)TR_ADD(early_unseen, 1);
		return;
	}
	early[i].pc = pc;
	early[i].n = n;
	TR_PUBLISH(early[i].block, block);
}

static void count_early(void)
{
	for (uint32_t i = 0; i < EARLY && i < n_early; i++)
		if (early[i].block)
			tr_alloc_added_at(early[i].block, early[i].n,
					  early[i].pc);
	if (early_unseen && tr_alloc_is_on())
		(void)TR_ADD(tr_ledger->header->heap.unseen, early_unseen);
}

/*
 * Does the work of the library's constructor, which then does nothing.
 * Allocations made here find `is_starting` and are not tracked.
 */
static void start_once(void)
{
	uint32_t idle = 0;
	int saved = errno;

	if (!__atomic_compare_exchange_n(&is_starting, &idle, 1, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	tr_start_at_load();
	TR_PUBLISH(malloc_is_started, 1);
	if (TR_LOAD(tr_alloc_mode))
		count_early();
	errno = saved;
}

TR_NOINLINE void *malloc_early(void *block, size_t n)
{
	if (TR_LOAD(is_starting))
		return block; /* it is our own */
	if (!environ) { /* libc's constructor sets it */
		keep_early(block, n, (uintptr_t)__builtin_return_address(0));
		return block;
	}
	start_once();
	return malloc_note(block, n);
}

/*
 * Is this symbol the malloc of that module? A program that takes the address
 * of malloc may have a symbol of its own, which only jumps to ours.
 */
static bool is_defined_there(const void *address, Dl_info *ret_info)
{
	const ElfW(Sym) *symbol = NULL;

	return dladdr1(address, ret_info, (void **)&symbol, RTLD_DL_SYMENT) &&
	       !(symbol && symbol->st_shndx == SHN_UNDEF);
}

/* A program with its own malloc calls that one, not ours. */
__attribute__((constructor)) static void tell_blind(void)
{
	Dl_info info;

	start_once();
	if (TR_LOAD(tr_alloc_mode) &&
	    is_defined_there(dlsym(RTLD_DEFAULT, "malloc"), &info) &&
	    !preload_is_own(info.dli_saddr))
		tr_log(TARE_LEVEL_WARNING,
		       "malloc is that of '%s': what it allocates is not seen",
		       info.dli_fname);
}

void malloc_early_free(const void *block)
{
	for (uint32_t i = 0; i < EARLY && i < TR_LOAD(n_early); i++)
		if (early[i].block == block)
			early[i].block = NULL;
}

/* ---- the family -------------------------------------------------------- */

PRELOAD_API void *malloc(size_t n)
{
	if (TR_UNLIKELY(!malloc_is_ready()))
		return malloc_boot(n, 0);
	return malloc_note(malloc_real.malloc(n), n);
}

PRELOAD_API void free(void *block)
{
	if (TR_UNLIKELY(!block) || TR_UNLIKELY(malloc_is_boot(block)) ||
	    TR_UNLIKELY(!malloc_is_ready()))
		return;
	malloc_note_free(block);
	malloc_real.free(block);
}

PRELOAD_API void *calloc(size_t n, size_t size)
{
	if (TR_UNLIKELY(!malloc_is_ready()))
		return __builtin_mul_overflow(n, size, &n) ?
			       NULL :
			       malloc_boot(n, 0); /* zeros, once */
	return malloc_note(malloc_real.calloc(n, size), n * size);
}

/* From the start-up memory into a real block. */
static void *leave_boot(const void *block, size_t n)
{
	size_t old = malloc_boot_size(block);
	void *moved = malloc_is_ready() ? malloc_real.malloc(n) :
					  malloc_boot(n, 0);

	if (moved)
		memcpy(moved, block, old < n ? old : n);
	return moved;
}

TR_INLINE void *resize(void *block, size_t n)
{
	struct tr_alloc_taken taken;
	bool is_noted = TR_LOAD(tr_alloc_mode) != 0;
	void *moved;

	if (is_noted)
		tr_alloc_take(block, &taken);
	moved = malloc_real.realloc(block, n);
	if (!is_noted && moved)
		malloc_early_free(block);
	/* NULL for no bytes: it is freed. */
	if (is_noted && !moved && n)
		tr_alloc_kept(&taken);
	else if (is_noted)
		tr_alloc_gone(&taken);
	return malloc_note(moved, n);
}

static void *resize_boot(const void *block, size_t n)
{
	void *moved = leave_boot(block, n);

	return moved && !malloc_is_boot(moved) ? malloc_note(moved, n) :
						 moved;
}

PRELOAD_API void *realloc(void *block, size_t n)
{
	if (TR_UNLIKELY(block && malloc_is_boot(block)))
		return resize_boot(block, n);
	if (TR_UNLIKELY(!malloc_is_ready()))
		return malloc_boot(n, 0);
	if (block)
		return resize(block, n);
	return malloc_note(malloc_real.realloc(NULL, n), n);
}

/* Not through the real one, which may call ours: glibc's calls realloc. */
PRELOAD_API void *reallocarray(void *block, size_t n, size_t size)
{
	size_t bytes;

	if (__builtin_mul_overflow(n, size, &bytes)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(block, bytes);
}

PRELOAD_API int posix_memalign(void **ret_block, size_t alignment, size_t n)
{
	int error;

	if (TR_UNLIKELY(!malloc_is_ready())) {
		*ret_block = malloc_boot(n, alignment);
		return *ret_block ? 0 : ENOMEM;
	}
	error = malloc_real.posix_memalign(ret_block, alignment, n);
	if (!error)
		(void)malloc_note(*ret_block, n);
	return error;
}

#define ALIGNED(name) \
	PRELOAD_API void *name(size_t alignment, size_t n) \
	{ \
		if (TR_UNLIKELY(!malloc_is_ready())) \
			return malloc_boot(n, alignment); \
		return malloc_note(malloc_real.name(alignment, n), n); \
	}

#define PAGED(name) \
	PRELOAD_API void *name(size_t n) \
	{ \
		if (TR_UNLIKELY(!malloc_is_ready())) \
			return malloc_boot(n, 4096); \
		return malloc_note(malloc_real.name(n), n); \
	}

ALIGNED(aligned_alloc)
ALIGNED(memalign)
PAGED(valloc)
PAGED(pvalloc)
