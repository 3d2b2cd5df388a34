/* SPDX-License-Identifier: Apache-2.0 */
#include "base/platform.h"

#include <tare/error.h>

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

void *tr_memory_map(size_t bytes)
{
	int saved = errno; /* probes call this: keep the host's errno */
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			    0);

	errno = saved;
	return memory == MAP_FAILED ? NULL : memory;
}

bool tr_memory_map_once(void **memory, size_t bytes)
{
	void *none = NULL, *fresh;

	if (__atomic_load_n(memory, __ATOMIC_ACQUIRE))
		return true;
	fresh = tr_memory_map(bytes);
	if (!fresh)
		return false;
	if (!__atomic_compare_exchange_n(memory, &none, fresh, false,
					 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		tr_memory_unmap(fresh, bytes);
	return true;
}

void tr_memory_unmap(void *memory, size_t bytes)
{
	int saved = errno;

	if (memory)
		(void)munmap(memory, bytes);
	errno = saved;
}

void tr_memory_not_in_children(void *memory, size_t bytes)
{
	int saved = errno;

	(void)madvise(memory, bytes, MADV_DONTFORK);
	errno = saved;
}

void *tr_memory_map_wiped(size_t bytes, bool *ret_wiped)
{
	void *memory = tr_memory_map(bytes);

	if (!memory)
		return NULL;
	*ret_wiped = madvise(memory, bytes, MADV_WIPEONFORK) == 0;
	return memory;
}

/*
 * On a file system on disk the first access to a hole fills the page cache
 * with the disk's readahead around it, even if all of this is a hole: 8 MiB of
 * zeros take 7 ms.
 */
void tr_memory_no_readahead(void *at, size_t bytes)
{
	int saved = errno;

	(void)madvise(at, bytes, MADV_RANDOM);
	errno = saved;
}

/*
 * Kernels before 5.14 have no MADV_POPULATE_WRITE, and fallocate through
 * /proc/self/map_files needs rights that we may not have. There the caller
 * reserves the pages by posix_fallocate() on a second descriptor of its file,
 * opened at the start (see ledger/write/file.c). This function only reports
 * that the kernel cannot.
 */
int tr_memory_reserve(void *at, size_t bytes)
{
	int saved = errno, err = 0;

	while (madvise(at, bytes, MADV_POPULATE_WRITE)) {
		if (errno == EINTR || errno == EAGAIN)
			continue;
		err = errno == EINVAL ? TARE_EINVAL : TARE_EFULL;
		break;
	}
	errno = saved;
	return err;
}

uint64_t tr_memory_space(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

/* A number in a file such as memory.max; UINT64_MAX for "max" or absence. */
static uint64_t limit_in_file(const char *path)
{
	char text[32];
	uint64_t value = 0;
	int64_t n = tr_file_read(path, text, sizeof(text));

	if (n <= 0 || text[0] < '0' || text[0] > '9')
		return UINT64_MAX;
	for (int64_t i = 0; i < n && text[i] >= '0' && text[i] <= '9'; i++)
		value = value * 10 + (uint64_t)(text[i] - '0');
	return value ? value : UINT64_MAX;
}

uint64_t tr_memory_limit(void)
{
	uint64_t v2 = limit_in_file("/sys/fs/cgroup/memory.max");
	uint64_t v1 = limit_in_file("/sys/fs/cgroup/memory/"
				    "memory.limit_in_bytes");
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t all = pages > 0 && page > 0 ?
			       (uint64_t)pages * (uint64_t)page :
			       UINT64_MAX;

	if (v2 < all)
		all = v2;
	return v1 < all ? v1 : all;
}
