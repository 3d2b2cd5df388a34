/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles with the C++ run-time library, which is loaded at the first mangled
 * name: most programs have none. The library does not know Rust's newer names,
 * and shows the older ones with their escapes. Without the library, mangled
 * names are shown.
 */
#include "parts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef char *(*demangle_fn)(const char *name, char *buffer, size_t *size,
			     int *status);

static demangle_fn find_library(void)
{
	static demangle_fn found;
	static bool looked;
	void *library;

	if (looked)
		return found;
	looked = true;
	library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
	if (!library)
		library = dlopen("libc++abi.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (library) {
		void *symbol = dlsym(library, "__cxa_demangle");

		memcpy(&found, &symbol, sizeof(found));
	}
	return found;
}

bool demangled(const char *name, char *ret, size_t size)
{
	demangle_fn call = strncmp(name, "_Z", 2) == 0 ? find_library() : NULL;
	int status = 0;
	char *readable;

	if (!call)
		return false;
	readable = call(name, NULL, NULL, &status);
	if (readable && !status)
		(void)snprintf(ret, size, "%s", readable);
	free(readable);
	return readable && !status;
}
