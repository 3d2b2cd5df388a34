/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operators new and delete, under their mangled names.
 *
 * Those of libstdc++ and libc++ call malloc, and are passed on: a jump.
 * jemalloc and tcmalloc have operators that do not, so if operator new is in
 * the same module as malloc, it is tracked here.
 *
 * A module that a program loads, as an extension of Python, may bring a C++
 * library that the program itself does not have: RTLD_NEXT does not find it
 * there, although the module's calls come here. Then it is asked by its name;
 * if there is none, malloc is called.
 */
#include "malloc_own.h"
#include "ledger/layout.h"

#include <dlfcn.h>
#include <stdlib.h>

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

/* Not inline: twenty operators would each have it. */
static TR_NOINLINE bool is_alone(void)
{
	uint32_t known = TR_LOAD(way);

	if (TR_UNLIKELY(known == NEW_UNKNOWN))
		known = find_way();
	return known == NEW_ALONE;
}

/* In a C++ library that is loaded, but not for all. NULL: nowhere. */
static void *find_loaded(const char *name)
{
	static const char *const libraries[] = { "libstdc++.so.6",
						 "libc++.so.1" };
	void *found = NULL;

	for (size_t i = 0; i < 2 && !found; i++) {
		void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

		if (!library)
			continue;
		found = dlsym(library, name);
		(void)dlclose(library); /* who loaded it keeps it */
	}
	return found;
}

static TR_NOINLINE void *find_next(void **slot, const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);

	if (!next)
		next = find_loaded(name);
	__atomic_store_n(slot, next, __ATOMIC_RELAXED);
	return next;
}

/* The next function of that name, found once; NULL: there is none yet. */
#define NEXT(name) \
	({ \
		static void *found_; \
		void *next_ = __atomic_load_n(&found_, __ATOMIC_RELAXED); \
\
		if (TR_UNLIKELY(!next_)) \
			next_ = find_next(&found_, #name); \
		*(__typeof__(&name) *)(void *)&next_; \
	})

/*
 * `declared`: its parameters, `given`: the same as arguments; `plain`: what to
 * call if there is no C++ library.
 */
#define NEW(name, declared, given, plain) \
	void *name declared; \
	PRELOAD_API void *name declared \
	{ \
		__typeof__(&name) next = NEXT(name); \
\
		if (TR_UNLIKELY(!next)) \
			return plain; \
		if (TR_LIKELY(!is_alone())) \
			return next given; \
		return malloc_note(next given, n); \
	}

#define DELETE(name, declared, given) \
	void name declared; \
	PRELOAD_API void name declared \
	{ \
		__typeof__(&name) next = NEXT(name); \
\
		if (TR_UNLIKELY(!next)) { \
			free(block); \
			return; \
		} \
		if (TR_UNLIKELY(is_alone()) && block) \
			malloc_note_free(block); \
		next given; \
	}

NEW(_Znwm, (size_t n), (n),
    malloc(n))
NEW(_Znam, (size_t n), (n),
    malloc(n))
NEW(_ZnwmRKSt9nothrow_t, (size_t n, const void *no), (n, no),
    malloc(n))
NEW(_ZnamRKSt9nothrow_t, (size_t n, const void *no), (n, no),
    malloc(n))
NEW(_ZnwmSt11align_val_t, (size_t n, size_t to), (n, to),
    aligned_alloc(to, (n + to - 1) / to * to))
NEW(_ZnamSt11align_val_t, (size_t n, size_t to), (n, to),
    aligned_alloc(to, (n + to - 1) / to * to))
NEW(_ZnwmSt11align_val_tRKSt9nothrow_t,
    (size_t n, size_t to, const void *no), (n, to, no),
    aligned_alloc(to, (n + to - 1) / to * to))
NEW(_ZnamSt11align_val_tRKSt9nothrow_t,
    (size_t n, size_t to, const void *no), (n, to, no),
    aligned_alloc(to, (n + to - 1) / to * to))

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
