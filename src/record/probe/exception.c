/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwinder's own calls, for tare/exception.hpp, which interposes them.
 *
 * Not the next definition in library order: several libraries of a program may
 * have scopes, and each of them interposes these calls. The unwinder is
 * identified by another function that only it has. C programs never use this.
 */
#include "record/probe.h"

#include <dlfcn.h>
#include <string.h>

/* Weak: works in a program without dynamic loading. */
#pragma weak dlsym
#pragma weak dladdr
#pragma weak dlopen
#pragma weak dlclose

struct _Unwind_Exception;
typedef int (*unwind_fn)(struct _Unwind_Exception *exception);
TARE_API unwind_fn tare_unwind_next_(const char *name, const void *caller);

/*
 * The call of this name in the library at this address, or in its
 * dependencies.
 */
static void *call_in(const void *address, const char *name)
{
	Dl_info info;
	void *library, *call = NULL;

	if (!dladdr(address, &info) || !info.dli_fname)
		return NULL;
	library = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (library) {
		call = dlsym(library, name);
		(void)dlclose(library); /* it was loaded before */
	}
	return call;
}

static void *find_call(const char *name, const void *caller)
{
	const char *only_there = "_Unwind_GetCFA";
	void *there;

	if (!dlsym || !dladdr || !dlopen || !dlclose)
		return NULL;
	there = dlsym(RTLD_DEFAULT, only_there);
	/* Loaded locally: it is a dependency of the calling runtime. */
	if (!there)
		there = call_in(caller, only_there);
	return there ? call_in(there, name) : NULL;
}

TARE_API unwind_fn tare_unwind_next_(const char *name, const void *caller)
{
	static void *raise, *rethrow; /* atomic: any thread may be first */
	void **call = strcmp(name, "_Unwind_RaiseException") == 0 ? &raise :
								   &rethrow;
	void *known = __atomic_load_n(call, __ATOMIC_RELAXED);
	unwind_fn found = NULL;

	if (!known) {
		known = find_call(name, caller);
		__atomic_store_n(call, known, __ATOMIC_RELAXED);
	}
	memcpy(&found, &known, sizeof(found)); /* POSIX: same size */
	return found;
}
