/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Heap: memory held by malloc and its part in use, by mallinfo2().
 *
 * mallinfo2() takes the lock of each arena in turn and counts its free
 * chunks. So it is called only
 *
 * - if malloc is glibc's own: another allocator leaves glibc's empty;
 * - in a process that was started by exec or fork(): glibc frees its locks
 *   there. In a child of clone() they may be locked for ever;
 * - as often as a thousandth of a CPU allows: with a million free chunks it
 *   takes 0.1 s, during which the host's malloc waits. In between, the last
 *   result is used. If a call takes over 1 ms, only callers that ask for
 *   detailed readings get a result; others are refused, and it is tried for
 *   them as often as a 10,000th allows: the heap may be less fragmented.
 */
#include "readings.h"

#include <time.h>

#include "lock.h"
#include "record/system.h"

#if defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 33)
#define HAS_MALLINFO2 1
#endif
#endif

#ifdef HAS_MALLINFO2

#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

#include "base/platform.h"

#pragma weak mallinfo2 /* built here, run with an older libc */
/* Weak: works in a program without dynamic loading. */
#pragma weak dladdr
#pragma weak dlsym

#define CHEAP_NS 50000
#define DEAR_NS 1000000
#define SHARE 1000 /* one part of 1000 */
#define DEAR_SHARE 10000

/* Guarded by the lock, except `owner`, which a child's only thread writes. */
static struct {
	uint32_t owner; /* the process in which glibc's locks are valid */
	bool is_looked; /* whose malloc it is has been determined */
	bool is_libc;
	bool is_kept;
	int64_t cost_ns, at_ns; /* of the last call */
	struct tr_malloced kept;
} heap;

static void in_child(void)
{
	heap.owner = (uint32_t)getpid();
	heap.is_kept = false;
}

/* Compares addresses: an allocator that is loaded first defines the name. */
static bool malloc_is_libc(void)
{
	Dl_info mine, theirs;
	void *found, *asked;

	if (!dlsym || !dladdr)
		return true;
	found = dlsym(RTLD_DEFAULT, "malloc");
	asked = dlsym(RTLD_DEFAULT, "mallinfo2");
	/* A program without a dynamic linker: all of libc is in it. */
	if (!found || !asked)
		return true;
	return dladdr(found, &mine) && dladdr(asked, &theirs) &&
	       mine.dli_fbase == theirs.dli_fbase;
}

static void ask(void)
{
	int64_t from = tr_clock_ns(CLOCK_THREAD_CPUTIME_ID);
	struct mallinfo2 info = mallinfo2();

	heap.cost_ns = tr_clock_ns(CLOCK_THREAD_CPUTIME_ID) - from;
	heap.at_ns = tr_monotonic_ns();
	heap.kept.used = info.uordblks + info.hblkhd;
	heap.kept.held = info.arena + info.hblkhd;
	heap.is_kept = true;
}

/* Has enough time passed for the cost of the last call? */
static bool is_due(int64_t share)
{
	return !heap.is_kept || heap.cost_ns <= CHEAP_NS ||
	       tr_monotonic_ns() - heap.at_ns >= heap.cost_ns * share;
}

void tr_heap_forget(void)
{
	heap.is_kept = false;
}

static const char *refusal(void)
{
	if (!mallinfo2)
		return "this libc has no mallinfo2";
	if (!heap.is_looked) {
		heap.is_libc = malloc_is_libc();
		heap.is_looked = true;
	}
	if (!heap.is_libc)
		return "malloc is not the one of libc";
	if (!heap.owner) {
		if (pthread_atfork(NULL, NULL, in_child))
			return "no memory for a handler of forks";
		heap.owner = (uint32_t)getpid();
	}
	if (heap.owner != (uint32_t)getpid())
		return "the process was made behind the back of libc";
	return NULL;
}

bool tr_heap_read(bool is_detailed, struct tr_malloced *ret,
		  const char **ret_reason)
{
	bool is_dear;

	*ret_reason = refusal();
	if (*ret_reason)
		return false;
	is_dear = heap.is_kept && heap.cost_ns > DEAR_NS && !is_detailed;
	if (is_due(is_dear ? DEAR_SHARE : SHARE))
		ask();
	else if (is_dear) {
		*ret_reason = "to count its many free pieces would hold the "
			      "program up";
		return false;
	}
	*ret = heap.kept;
	return true;
}

#else

void tr_heap_forget(void)
{
}

bool tr_heap_read(bool is_detailed, struct tr_malloced *ret,
		  const char **ret_reason)
{
	(void)is_detailed;
	(void)ret;
	*ret_reason = "this libc has no mallinfo2";
	return false;
}

#endif

uint64_t tr_heap_used(void)
{
	struct tr_malloced now;
	const char *reason;
	struct tr_lock lock;
	bool is_read;

	if (!tr_lock_enter(&lock))
		return UINT64_MAX;
	is_read = tr_heap_read(false, &now, &reason);
	tr_lock_leave(&lock);
	return is_read ? now.used : UINT64_MAX;
}
