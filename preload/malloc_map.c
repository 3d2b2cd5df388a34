/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The mmap family, if the option alloc_mmap is on.
 *
 * Tracked is memory without a file that may be accessed (not PROT_NONE). Not
 * the allocator's own mappings: their memory is counted when it is allocated;
 * nor the mappings of this library.
 */
#undef _FILE_OFFSET_BITS /* or mmap is another name for mmap64 */

#include "malloc_own.h"
#include "record/alloc.h"

#include <stdarg.h>
#include <sys/mman.h>

static bool is_noted(const void *caller)
{
	return TR_UNLIKELY(TR_LOAD(tr_alloc_maps)) &&
	       !preload_is_own(caller) && !malloc_is_own(caller);
}

/* A tail call, so that the caller is recorded. */
TR_NOINLINE static void *note_map(void *at, size_t n)
{
	tr_alloc_map(at, n);
	return at;
}

PRELOAD_API void *mmap(void *address, size_t n, int protection, int flags,
		      int fd, off_t offset)
{
	void *at = PRELOAD_NEXT(mmap)(address, n, protection, flags, fd,
				      offset);

	if (TR_LIKELY(!is_noted(PRELOAD_CALLER())) || at == MAP_FAILED)
		return at;
	if (flags & MAP_FIXED)
		(void)tr_alloc_unmap(at, n);
	if (!(flags & MAP_ANONYMOUS) || protection == PROT_NONE)
		return at;
	return note_map(at, n);
}

/* With 64-bit offsets the two are the same; in musl one is a macro. */
#ifdef mmap64
#undef mmap64
void *mmap64(void *address, size_t n, int protection, int flags, int fd,
	     off_t offset);
#endif

PRELOAD_API void *mmap64(void *address, size_t n, int protection, int flags,
			int fd, off_t offset)
{
	return mmap(address, n, protection, flags, fd, offset);
}

/*
 * Before the unmap: another thread may get the addresses as soon as they are
 * free.
 */
PRELOAD_API int munmap(void *address, size_t n)
{
	if (is_noted(PRELOAD_CALLER()))
		(void)tr_alloc_unmap(address, n);
	return PRELOAD_NEXT(munmap)(address, n);
}

PRELOAD_API void *mremap(void *address, size_t old, size_t n, int flags, ...)
{
	void *to = NULL, *at;
	va_list list;

	va_start(list, flags);
	if (flags & MREMAP_FIXED)
		to = va_arg(list, void *);
	va_end(list);
	at = PRELOAD_NEXT(mremap)(address, old, n, flags, to);
	/* A mapping that was not tracked, such as a file's, stays untracked. */
	if (TR_LIKELY(!is_noted(PRELOAD_CALLER())) || at == MAP_FAILED ||
	    !tr_alloc_unmap(address, old))
		return at;
	return note_map(at, n);
}
