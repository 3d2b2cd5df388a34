/* SPDX-License-Identifier: Apache-2.0 */
#include "preload.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "program.h"

/* The CUDA driver loads the library of this name into each program. */
#define INJECTION "CUDA_INJECTION64_PATH"

/* Relative to the folder of this program: as built, and as installed. */
static const char *const folders[] = { "../preload", "../mpi", "../gpu",
				       "../" TARE_LIBDIR "/tare" };

static bool is_there(char *path, size_t size, const char *folder,
		     const char *name)
{
	return (size_t)snprintf(path, size, "%s/%s", folder, name) < size &&
	       access(path, R_OK) == 0;
}

static bool find_library(const char *name, char *path, size_t size)
{
	const char *chosen = getenv("TARE_PRELOAD_DIR");
	char self[PATH_MAX], folder[PATH_MAX + 64];

	if (chosen && chosen[0])
		return is_there(path, size, chosen, name);
	if (!program_folder(self))
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		(void)snprintf(folder, sizeof(folder), "%s/%s", self,
			       folders[i]);
		if (is_there(path, size, folder, name))
			return true;
	}
	return false;
}

/*
 * A path from the program's folder to the root that only glibc understands: the
 * linker of another C library finds no such file and continues without it.
 * Given the library's plain path, it would not start the program, which may be
 * any child.
 */
#if defined(__GLIBC__)
#define UP4 "../../../../"
#define UP16 UP4 UP4 UP4 UP4
#define TO_ROOT "$ORIGIN/" UP16 UP16 UP16 UP16 "."
#else
#define TO_ROOT ""
#endif

bool preload_find(const char *name, char ret_path[PATH_MAX])
{
	char path[PATH_MAX + 128];

	return find_library(name, path, sizeof(path)) &&
	       realpath(path, ret_path);
}

/* The library's real path, if LD_PRELOAD can have it; false after a message. */
static bool find_real(const char *name, char real[PATH_MAX])
{
	if (!preload_find(name, real)) {
		message("cannot find '%s': set TARE_PRELOAD_DIR to its folder",
			name);
		return false;
	}
	if (strpbrk(real, ": ")) {
		message("cannot load '%s': its path has a colon or a space",
			real);
		return false;
	}
	return true;
}

static int put_first(const char *library)
{
	const char *before = getenv("LD_PRELOAD");
	size_t size = sizeof(TO_ROOT) + strlen(library) +
		      (before ? strlen(before) : 0) + 2;
	char *value = malloc(size);
	int failed;

	if (!value)
		return message_error("set", "LD_PRELOAD", ENOMEM);
	(void)snprintf(value, size, TO_ROOT "%s%s%s", library,
		       before && before[0] ? ":" : "",
		       before && before[0] ? before : "");
	failed = setenv("LD_PRELOAD", value, 1) ? errno : 0;
	free(value);
	return failed ? message_error("set", "LD_PRELOAD", failed) : CODE_OK;
}

/* Without it the program runs, and its kernels are not recorded. */
void preload_inject(void)
{
	const char *before = getenv(INJECTION);
	char real[PATH_MAX];

	if (before && before[0]) {
		message("GPU kernels are not recorded: " INJECTION " is '%s', "
			"and the driver loads one library only", before);
		return;
	}
	if (!preload_find("libtare-gpu.so", real))
		message("cannot find 'libtare-gpu.so': set TARE_PRELOAD_DIR to "
			"its folder");
	else if (setenv(INJECTION, real, 1))
		(void)message_error("set", INJECTION, errno);
}

int preload_set(bool with_alloc, enum mpi_kind mpi)
{
	char real[PATH_MAX];
	int code = CODE_OK;

	/* It comes after the other library, whose functions it calls. */
	if (mpi != MPI_NONE &&
	    find_real(mpi == MPI_OPENMPI ? "libtare-mpi-openmpi.so" :
					   "libtare-mpi-mpich.so",
		      real))
		code = put_first(real);
	if (!code && !find_real(with_alloc ? "libtare-alloc.so" :
					     "libtare-preload.so",
				real))
		return CODE_IO;
	return code ? code : put_first(real);
}
