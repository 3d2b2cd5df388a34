/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Demangles with the C++ run-time library, which is loaded at the first mangled
 * name: most programs have none. Without the library, mangled names are shown.
 */
#include "parts.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *(*demangle_fn)(const char *name, char *buffer, size_t *size,
			     int *status);

#define NAME_MOST 8192u /* longer names would take too long */

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

/* "foo.constprop.0", "_ZN3fooEv.part.1": compiler-made clones of foo. */
static size_t length_without_clones(const char *name)
{
	const char *dot = name[0] == '.' ? NULL : strchr(name, '.');

	return dot ? (size_t)(dot - name) : strlen(name);
}

/* "memcpy@@GLIBC_2.14" */
static size_t length_without_version(const char *name)
{
	const char *at = name[0] == '@' ? NULL : strchr(name, '@');

	return at ? (size_t)(at - name) : strlen(name);
}

const char *demangle(struct texts *texts, const char *name)
{
	demangle_fn call;
	char plain[NAME_MOST], *readable = NULL;
	const char *kept;
	size_t len;
	int status = 0;

	if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "___Z", 4) != 0)
		len = length_without_version(name);
	else
		len = length_without_clones(name);
	if (len >= sizeof(plain))
		len = sizeof(plain) - 1;
	memcpy(plain, name, len);
	plain[len] = '\0';
	call = strncmp(name, "_Z", 2) == 0 ? find_library() : NULL;
	if (call)
		readable = call(plain, NULL, NULL, &status);
	kept = texts_keep(texts, readable && !status ? readable : plain);
	free(readable);
	return kept;
}
