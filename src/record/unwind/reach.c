/* SPDX-License-Identifier: Apache-2.0 */
#include "record/unwind.h"
#include "record/unwind/reach.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define TR_REACH_PAGE UINT64_C(4096)
/* A stack's end is searched at most this far from its beginning. */
#define TR_REACH_MAIN (UINT64_C(64) << 20)
#define TR_REACH_THREAD (UINT64_C(16) << 20)
/* A larger frame is checked page by page. */
#define TR_REACH_FRAME (UINT64_C(1) << 20)

__thread struct tr_reach tr_reach_own;
static __thread struct tr_reach reach_other; /* not the thread's own */

enum reach_way { REACH_BY_MASK, REACH_BY_READ, REACH_BLIND };

static uint64_t main_end;  /* of the first thread's stack */
static enum reach_way way; /* method of checking a page */
static bool can_read = true;

/*
 * The kernel reads the mask before it rejects -1 as a way to set it: the
 * cheapest check of an address, and permitted everywhere.
 */
static bool probe_by_mask(uint64_t at)
{
	return syscall(SYS_rt_sigprocmask, -1, (void *)(uintptr_t)at, NULL,
		       8) == 0 || errno != EFAULT;
}

static bool read_own(uint64_t at, void *to, uint32_t n)
{
	struct iovec mine = { to, n };
	struct iovec theirs = { (void *)(uintptr_t)at, n };

	return syscall(SYS_process_vm_readv, getpid(), &mine, 1ul, &theirs,
		       1ul, 0ul) == (long)n;
}

bool tr_reach_probe(uint64_t at)
{
	int saved = errno;
	uint64_t word;
	bool is_there = false;

	at &= ~(TR_REACH_PAGE - 1);
	if (!at)
		return false; /* the kernel takes 0 for "no mask" */
	if (way == REACH_BY_MASK)
		is_there = probe_by_mask(at);
	else if (way == REACH_BY_READ)
		is_there = read_own(at, &word, sizeof(word));
	errno = saved;
	return is_there;
}

bool tr_unwind_can_read(uint64_t at)
{
	return tr_reach_probe(at);
}

/* If the call is forbidden: reads what was mapped a moment before. */
static bool copy_plainly(uint64_t at, void *to, uint32_t n)
{
	for (uint64_t page = at & ~(TR_REACH_PAGE - 1); page < at + n;
	     page += TR_REACH_PAGE)
		if (!tr_reach_probe(page))
			return false;
	memcpy(to, (const void *)(uintptr_t)at, n);
	return true;
}

bool tr_reach_copy(uint64_t at, void *to, uint32_t n)
{
	int saved = errno;
	bool done;

	if (at + n < at)
		return false;
	done = can_read ? read_own(at, to, n) : copy_plainly(at, to, n);
	errno = saved;
	return done;
}

void tr_reach_init(void)
{
	uint64_t here = 1, word;
	uint64_t at = (uint64_t)(uintptr_t)&here;
	int saved = errno;

	/* At the upper end of the first stack, above all frames. */
	main_end = (getauxval(AT_RANDOM) | (TR_REACH_PAGE - 1)) + 1;
	can_read = read_own(at, &word, 8) && !read_own(8, &word, 8);
	if (probe_by_mask(at & ~UINT64_C(7)) && !probe_by_mask(8))
		way = REACH_BY_MASK;
	else
		way = can_read ? REACH_BY_READ : REACH_BLIND;
	errno = saved;
}

/* The thread's descriptor, above its stack. */
static uint64_t thread_end(void)
{
	uint64_t end = 0;

#if defined(__x86_64__)
	__asm__("movq %%fs:0, %0" : "=r"(end));
#elif defined(__aarch64__)
	__asm__("mrs %0, tpidr_el0" : "=r"(end));
#endif
	return end & ~UINT64_C(7);
}

/* Is everything mapped from `lo` to `end`? *ret_hi: up to where. */
static bool reach_all(uint64_t lo, uint64_t end, uint64_t *ret_hi)
{
	uint64_t at = lo;

	while (at < end && tr_reach_probe(at))
		at += TR_REACH_PAGE;
	*ret_hi = at;
	return at >= end;
}

/* Keeps the range consistent for a handler in between: hi is stored once. */
static struct tr_reach reach_keep(uint64_t lo, uint64_t hi)
{
	struct tr_reach reach = { lo, hi };

	if (!tr_reach_own.hi) {
		tr_reach_own.lo = UINT64_MAX;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		tr_reach_own.hi = hi;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	}
	tr_reach_own.lo = lo;
	return reach;
}

/* Checks that `sp` is in the stack that ends at `end`. */
static bool reach_try(uint64_t sp, uint64_t end, uint64_t most,
		      struct tr_reach *ret_reach)
{
	uint64_t lo = sp & ~(TR_REACH_PAGE - 1), known = end, hi;

	if (!end || sp >= end || end - sp > most)
		return false;
	if (tr_reach_own.hi == end && sp < tr_reach_own.lo)
		known = tr_reach_own.lo < end ? tr_reach_own.lo : end;
	else if (tr_reach_own.hi && tr_reach_own.hi != end)
		return false;
	if (reach_all(lo, known, &hi)) {
		*ret_reach = reach_keep(lo, end);
		return true;
	}
	reach_other.lo = lo;
	reach_other.hi = hi;
	return false;
}

struct tr_reach tr_reach_find(uint64_t sp)
{
	uint64_t page = sp & ~(TR_REACH_PAGE - 1);
	struct tr_reach reach = { page, page };

	if (sp >= reach_other.lo && sp < reach_other.hi) {
		reach.hi = page + TR_REACH_PAGE;
		if (!tr_reach_probe(page))
			reach.hi = page;
		return reach;
	}
	if (reach_try(sp, main_end, TR_REACH_MAIN, &reach) ||
	    reach_try(sp, thread_end(), TR_REACH_THREAD, &reach))
		return reach;
	if (tr_reach_probe(page))
		reach.hi = page + TR_REACH_PAGE;
	return reach;
}

bool tr_reach_more(struct tr_reach *reach, uint64_t at)
{
	uint64_t page = at & ~(TR_REACH_PAGE - 1);

	if (at < reach->hi || at - reach->hi > TR_REACH_MAIN)
		return false;
	if (at - reach->hi > TR_REACH_FRAME)
		return tr_reach_probe(page);
	while (reach->hi <= page) {
		if (!tr_reach_probe(reach->hi))
			return false;
		reach->hi += TR_REACH_PAGE;
	}
	return true;
}
