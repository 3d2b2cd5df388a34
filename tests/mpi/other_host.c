/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a process look as if it ran on another host, for mpi_test.sh: its
 * wall clock is OTHER_HOST_AHEAD_NS ahead, and its kernel has another boot
 * id. To be preloaded; no part of tare.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define API __attribute__((visibility("default")))

API int clock_gettime(clockid_t clock, struct timespec *time)
{
	const char *ahead = getenv("OTHER_HOST_AHEAD_NS");
	int result = (int)syscall(SYS_clock_gettime, clock, time);

	if (!result && clock == CLOCK_REALTIME && ahead) {
		long long ns = time->tv_nsec + strtoll(ahead, NULL, 10);

		time->tv_sec += ns / 1000000000;
		time->tv_nsec = ns % 1000000000;
	}
	return result;
}

static const char *redirect(const char *path)
{
	const char *boot = getenv("OTHER_HOST_BOOT_ID");

	return boot && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ?
		       boot :
		       path;
}

#define OPEN(name) \
	API int name(const char *path, int flags, ...) \
	{ \
		va_list list; \
		int mode; \
\
		va_start(list, flags); \
		mode = flags & O_CREAT ? va_arg(list, int) : 0; \
		va_end(list); \
		return (int)syscall(SYS_openat, AT_FDCWD, redirect(path), \
				    flags, mode); \
	}

int open64(const char *path, int flags, ...);
OPEN(open64)
#undef open
int open(const char *path, int flags, ...);
OPEN(open)
