/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds libcupti at run time. Several copies are about on one machine: that of
 * a toolkit, those of Python packages, one that is already in the process. The
 * one in the process is taken first, since another profiler may use it, too;
 * then the driver's major version decides, and an older major will do: drivers
 * serve older libraries, but not newer ones.
 */
#include "gpu.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "libcupti.so."

struct cupti gpu_cupti;

struct search {
	uint32_t major;
	char packages[4][PATH_MAX]; /* folders called site-packages */
	unsigned n_packages;
	char loaded[PATH_MAX]; /* one that is in the process */
};

static uint32_t driver_version(void)
{
	union {
		void *object;
		int (*call)(int *version);
	} found = { .object = dlsym(RTLD_DEFAULT, "cuDriverGetVersion") };
	void *driver;
	int version = 0;

	if (!found.object) {
		driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
		if (driver)
			found.object = dlsym(driver, "cuDriverGetVersion");
	}
	(void)dlerror();
	if (!found.object || found.call(&version) || version < 0)
		return 0;
	return (uint32_t)version;
}

static void add_package(struct search *s, const char *path)
{
	static const char *const names[] = { "/site-packages/",
					     "/dist-packages/" };

	for (unsigned i = 0; i < 2; i++) {
		const char *at = strstr(path, names[i]);
		size_t n = at ? (size_t)(at - path) + strlen(names[i]) : 0;
		bool is_known = false;

		if (!at || n >= PATH_MAX || s->n_packages == 4)
			continue;
		for (unsigned k = 0; k < s->n_packages; k++)
			is_known |= strlen(s->packages[k]) == n &&
				    strncmp(s->packages[k], path, n) == 0;
		if (is_known)
			continue;
		memcpy(s->packages[s->n_packages], path, n);
		s->packages[s->n_packages++][n] = '\0';
	}
}

static int look_at(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	const char *path = info->dlpi_name;
	const char *name = path ? strrchr(path, '/') : NULL;

	(void)size;
	if (!path)
		return 0;
	name = name ? name + 1 : path;
	if (strncmp(name, NAME, strlen(NAME)) == 0 && !s->loaded[0] &&
	    strlen(path) < sizeof(s->loaded))
		memcpy(s->loaded, path, strlen(path) + 1);
	add_package(s, path);
	return 0;
}

/* 12 of "/x/libcupti.so.12", and of the file behind "/x/libcupti.so". */
static uint32_t major_of(const char *path)
{
	const char *at = strstr(path, NAME);
	char real[PATH_MAX];

	if (at)
		return (uint32_t)strtoul(at + strlen(NAME), NULL, 10);
	if (!realpath(path, real) || !(at = strstr(real, NAME)))
		return 0;
	return (uint32_t)strtoul(at + strlen(NAME), NULL, 10);
}

static bool bind_calls(struct cupti *cupti)
{
	bool is_complete = true;

#define BIND(call, args) \
	do { \
		union { \
			void *object; \
			int (*function) args; \
		} found = { .object = dlsym(cupti->handle, "cupti" #call) }; \
\
		cupti->call = found.function; \
		is_complete &= found.object != NULL; \
	} while (0);
	CUPTI_CALLS(BIND)
#undef BIND
	(void)dlerror();
	return is_complete;
}

/* False: there is none, or it lacks a function. */
static bool load(const char *path, uint32_t major)
{
	struct cupti cupti = { .major = major, .driver = gpu_cupti.driver };

	cupti.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	(void)dlerror();
	if (!cupti.handle)
		return false;
	if (!bind_calls(&cupti)) {
		(void)dlclose(cupti.handle);
		return false;
	}
	if (!cupti.major) {
		struct link_map *map = NULL;

		if (dlinfo(cupti.handle, RTLD_DI_LINKMAP, &map) == 0 && map)
			cupti.major = major_of(map->l_name);
	}
	gpu_cupti = cupti;
	return true;
}

static bool load_in(const char *folder, uint32_t major)
{
	char path[PATH_MAX + 64];

	if ((size_t)snprintf(path, sizeof(path), "%s/" NAME "%u", folder,
			     major) >= sizeof(path))
		return false;
	return load(path, major);
}

static bool load_of_packages(const struct search *s, uint32_t major)
{
	char folder[PATH_MAX + 64];

	for (unsigned i = 0; i < s->n_packages; i++) {
		(void)snprintf(folder, sizeof(folder),
			       "%snvidia/cuda_cupti/lib", s->packages[i]);
		if (load_in(folder, major))
			return true;
		(void)snprintf(folder, sizeof(folder), "%snvidia/cu%u/lib",
			       s->packages[i], major);
		if (load_in(folder, major))
			return true;
	}
	return false;
}

static bool load_of_toolkit(uint32_t major)
{
	static const char *const variables[] = { "CUDA_HOME", "CUDA_PATH" };
	static const char *const parts[] = { "extras/CUPTI/lib64", "lib64" };
	char folder[PATH_MAX];

	for (unsigned i = 0; i < 4; i++) {
		const char *home = i < 2 ? getenv(variables[i]) : NULL;
		char own[64];

		(void)snprintf(own, sizeof(own),
			       i == 2 ? "/usr/local/cuda-%u" :
					"/usr/local/cuda",
			       major);
		if (i < 2 && (!home || !*home))
			continue;
		for (unsigned k = 0; k < 2; k++)
			if (snprintf(folder, sizeof(folder), "%s/%s",
				     i < 2 ? home : own, parts[k]) <
				    (int)sizeof(folder) &&
			    load_in(folder, major))
				return true;
	}
	return false;
}

static bool load_major(const struct search *s, uint32_t major)
{
	char name[32];

	if (load_of_packages(s, major))
		return true;
	(void)snprintf(name, sizeof(name), NAME "%u", major);
	return load(name, major) || load_of_toolkit(major);
}

static bool is_served(uint32_t major, uint32_t driver)
{
	return !driver || major <= driver / 1000;
}

static enum tr_gpu_reason refuse(char *text, size_t size, const char *path)
{
	uint32_t major = gpu_cupti.major, driver = gpu_cupti.driver;

	if (major < CUPTI_MAJOR_LEAST || major > CUPTI_MAJOR_MOST)
		(void)snprintf(text, size,
			       "'%s' is libcupti %u, and only %u to %u are "
			       "known", path, major, CUPTI_MAJOR_LEAST,
			       CUPTI_MAJOR_MOST);
	else
		(void)snprintf(text, size,
			       "'%s' is of CUDA %u, and the driver serves "
			       "CUDA %u", path, major, driver / 1000);
	(void)dlclose(gpu_cupti.handle);
	gpu_cupti = (struct cupti){ .driver = driver };
	return TR_GPU_BAD_CUPTI;
}

static bool is_known(void)
{
	return gpu_cupti.major >= CUPTI_MAJOR_LEAST &&
	       gpu_cupti.major <= CUPTI_MAJOR_MOST &&
	       is_served(gpu_cupti.major, gpu_cupti.driver);
}

enum tr_gpu_reason gpu_cupti_find(char *text, size_t size)
{
	const char *given = getenv("TARE_CUPTI");
	struct search *s = calloc(1, sizeof(*s));
	enum tr_gpu_reason reason = TR_GPU_NO_REASON;
	uint32_t most;

	text[0] = '\0';
	if (!s)
		return TR_GPU_FAILED;
	gpu_cupti = (struct cupti){ .driver = driver_version() };
	(void)dl_iterate_phdr(look_at, s);
	most = gpu_cupti.driver / 1000;
	if (!most || most > CUPTI_MAJOR_MOST)
		most = CUPTI_MAJOR_MOST;
	if (given && *given) {
		if (!load(given, major_of(given)))
			(void)snprintf(text, size, "cannot load '%s'", given);
		else if (!is_known())
			reason = refuse(text, size, given);
	} else if (s->loaded[0] && load(s->loaded, major_of(s->loaded))) {
		if (!is_known())
			reason = refuse(text, size, s->loaded);
	} else {
		for (uint32_t i = most;
		     i >= CUPTI_MAJOR_LEAST && !load_major(s, i); i--)
			;
	}
	free(s);
	if (!reason && !gpu_cupti.handle) {
		if (!text[0])
			(void)snprintf(text, size,
				       "no libcupti for CUDA %u: install it "
				       "(pip install nvidia-cuda-cupti) or set "
				       "TARE_CUPTI to its file",
				       most);
		reason = TR_GPU_NO_CUPTI;
	}
	return reason;
}
