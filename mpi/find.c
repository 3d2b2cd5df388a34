/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the real MPI functions. They are after this library in symbol order if
 * the program was linked with MPI; else in a library loaded at run time, as
 * Python does, which is recognised by its name.
 */
#include "wrap.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__thread const char *wrap_inside;

/* libmpi.so.40, libmpich.so.12, also with a path. */
static bool is_mpi(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return strncmp(name, "libmpi.so", 9) == 0 ||
	       strncmp(name, "libmpich.so", 11) == 0;
}

struct sought {
	const char *name;
	void *at;
};

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct sought *sought = arg;
	void *library;

	(void)size;
	if (!info->dlpi_name || !is_mpi(info->dlpi_name))
		return 0;
	library = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
	if (!library)
		return 0;
	sought->at = dlsym(library, sought->name);
	(void)dlclose(library);
	return sought->at != NULL;
}

static void *find_from(void *first, const char *name)
{
	struct sought sought = { .name = name };
	const char *said;

	sought.at = dlsym(first, name);
	if (!sought.at)
		(void)dl_iterate_phdr(look_at, &sought);
	(void)dlerror(); /* hide our errors from the program */
	if (sought.at)
		return sought.at;
	/* The program calls a function that does not exist: abort. */
	said = getenv("TARE_WARNINGS");
	if (!said || strcmp(said, "none") != 0)
		(void)dprintf(STDERR_FILENO, "tare: no '%s' in any library of "
					     "this program\n", name);
	abort();
}

void *wrap_find(const char *name)
{
	return find_from(RTLD_NEXT, name);
}

void *wrap_find_handle(const char *name)
{
	return find_from(RTLD_DEFAULT, name);
}

void wrap_failed(tare_scope scope, int error)
{
	char text[48];
	int class = error;

	(void)WRAP_PMPI(Error_class)(error, &class);
	(void)snprintf(text, sizeof(text), "MPI error class %d", class);
	tare_scope_fail(scope, text);
}
