/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Usage: resources used by a thread and its process so far, by two system calls
 * and two files.
 *
 * No descriptor is kept open: if the program closed it, we might read another
 * file under its number.
 */
#include "base/platform.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define UNKNOWN UINT64_MAX

/* Bytes of files that this thread read here, because the kernel counts them. */
static __thread uint64_t own_read
#if !defined(TARE_TLS_DYNAMIC)
	__attribute__((tls_model("initial-exec")))
#endif
	;

/* The file below tr_root as text; false if there is none. */
static bool read_text(const char *name, char *text, size_t size)
{
	size_t root = strlen(tr_root), len = strlen(name);
	char path[256];

	if (root + len >= sizeof(path))
		return false;
	memcpy(path, tr_root, root);
	memcpy(path + root, name, len + 1);
	if (!tr_file_text(path, text, size))
		return false;
	own_read += strlen(text);
	return true;
}

/* A number of at most 19 digits: no kernel counter is longer. */
static uint64_t number_at(const char *at)
{
	uint64_t value = 0;
	int digits = 0;

	while (*at == ' ' || *at == '\t')
		at++;
	for (; *at >= '0' && *at <= '9'; at++) {
		if (++digits > 19)
			return UNKNOWN;
		value = value * 10 + (uint64_t)(*at - '0');
	}
	return digits ? value : UNKNOWN;
}

/* ---- memory ------------------------------------------------------------ */

uint64_t tr_usage_rss(void)
{
	long page = sysconf(_SC_PAGESIZE);
	uint64_t pages = UNKNOWN;
	const char *second;
	char text[128];

	if (page <= 0 || !read_text("/proc/self/statm", text, sizeof(text)))
		return UNKNOWN;
	second = strchr(text, ' ');
	if (second)
		pages = number_at(second);
	return pages < UNKNOWN / (uint64_t)page ? pages * (uint64_t)page :
						  UNKNOWN;
}

/* ---- system calls ------------------------------------------------------ */

static uint64_t time_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void read_process(struct tr_usage *u)
{
	struct rusage r;

	if (getrusage(RUSAGE_SELF, &r))
		return;
	u->process_cpu_ns = time_ns(r.ru_utime) + time_ns(r.ru_stime);
	u->peak_rss = (uint64_t)r.ru_maxrss * 1024;
}

static void read_thread(struct tr_usage *u)
{
	struct rusage r;

	if (getrusage(RUSAGE_THREAD, &r))
		return;
	u->minor_faults = (uint64_t)r.ru_minflt;
	u->major_faults = (uint64_t)r.ru_majflt;
	u->switches = (uint64_t)r.ru_nvcsw;
	u->preemptions = (uint64_t)r.ru_nivcsw;
}

static void read_cpu(struct tr_usage *u)
{
	struct timespec t;

	if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t) == 0)
		u->cpu_ns = (uint64_t)t.tv_sec * 1000000000u +
			    (uint64_t)t.tv_nsec;
}

/* ---- input and output -------------------------------------------------- */

static uint64_t line_of(const char *text, const char *name)
{
	const char *at = strstr(text, name);

	/* Not inside another name: cancelled_write_bytes has write_bytes. */
	while (at && at != text && at[-1] != '\n')
		at = strstr(at + 1, name);
	return at ? number_at(at + strlen(name)) : UNKNOWN;
}

/* The kernel counts a read after it is done: a text has all earlier reads. */
static void read_io(struct tr_usage *u)
{
	uint64_t own = own_read;
	char text[512];

	if (!read_text("/proc/thread-self/io", text, sizeof(text)))
		return;
	u->io_read = line_of(text, "rchar:");
	if (u->io_read != UNKNOWN)
		u->io_read -= own < u->io_read ? own : u->io_read;
	u->io_written = line_of(text, "wchar:");
	u->storage_read = line_of(text, "read_bytes:");
	u->storage_written = line_of(text, "write_bytes:");
}

void tr_usage_read(struct tr_usage *ret_usage, bool is_end)
{
	int saved = errno;
	struct tr_usage u;

	memset(&u, 0xff, sizeof(u)); /* all unknown */
	if (is_end) {
		read_cpu(&u);
		read_thread(&u);
		read_process(&u);
	}
	u.rss = tr_usage_rss();
	read_io(&u);
	if (!is_end) {
		read_process(&u);
		read_thread(&u);
		read_cpu(&u);
	}
	*ret_usage = u;
	errno = saved;
}
