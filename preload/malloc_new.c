/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators new and delete, under their mangled names.
 *
 * Those of libstdc++ and libc++ call malloc, and are passed on: a jump.
 * jemalloc and tcmalloc have operators that do not, so if operator new is in
 * the same module as malloc, it is tracked here.
 */
#include "malloc_own.h"
#include "ledger/layout.h"

#include <dlfcn.h>

enum { NEW_UNKNOWN, NEW_BY_MALLOC, NEW_ALONE };

static uint32_t way;

static uint32_t find_way(void)
{
	void *next = dlsym(RTLD_NEXT, "_Znwm");

	if (!malloc_is_ready())
		return NEW_BY_MALLOC;
	TR_STORE(way, next && malloc_is_own(next) ? NEW_ALONE :
						    NEW_BY_MALLOC);
	return TR_LOAD(way);
}

TR_INLINE bool is_alone(void)
{
	uint32_t known = TR_LOAD(way);

	if (TR_UNLIKELY(known == NEW_UNKNOWN))
		known = find_way();
	return known == NEW_ALONE;
}

/*
 * `declared`: its parameters, `given`: the same as arguments. If no other
 * library defines it, no code can have called it.
 */
#define NEW(name, declared, given) \
	void *name declared; \
	PRELOAD_API void *name declared \
	{ \
		__typeof__(&name) next = PRELOAD_NEXT(name); \
\
		if (TR_LIKELY(!is_alone())) \
			return next given; \
		return malloc_note(next given, n); \
	}

#define DELETE(name, declared, given) \
	void name declared; \
	PRELOAD_API void name declared \
	{ \
		__typeof__(&name) next = PRELOAD_NEXT(name); \
\
		if (TR_UNLIKELY(is_alone()) && block) \
			malloc_note_free(block); \
		next given; \
	}

NEW(_Znwm, (size_t n), (n))
NEW(_Znam, (size_t n), (n))
NEW(_ZnwmRKSt9nothrow_t, (size_t n, const void *no), (n, no))
NEW(_ZnamRKSt9nothrow_t, (size_t n, const void *no), (n, no))
NEW(_ZnwmSt11align_val_t, (size_t n, size_t to), (n, to))
NEW(_ZnamSt11align_val_t, (size_t n, size_t to), (n, to))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t,
    (size_t n, size_t to, const void *no), (n, to, no))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t,
    (size_t n, size_t to, const void *no), (n, to, no))

DELETE(_ZdlPv, (void *block), (block))
DELETE(_ZdaPv, (void *block), (block))
DELETE(_ZdlPvm, (void *block, size_t n), (block, n))
DELETE(_ZdaPvm, (void *block, size_t n), (block, n))
DELETE(_ZdlPvRKSt9nothrow_t, (void *block, const void *no), (block, no))
DELETE(_ZdaPvRKSt9nothrow_t, (void *block, const void *no), (block, no))
DELETE(_ZdlPvSt11align_val_t, (void *block, size_t to), (block, to))
DELETE(_ZdaPvSt11align_val_t, (void *block, size_t to), (block, to))
DELETE(_ZdlPvmSt11align_val_t, (void *block, size_t n, size_t to),
       (block, n, to))
DELETE(_ZdaPvmSt11align_val_t, (void *block, size_t n, size_t to),
       (block, n, to))
