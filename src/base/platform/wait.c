/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting on a word. Not a condition variable: one that a fork wipes only has
 * the wall clock, which may step during a wait. Tests that replace the clock
 * still wait in real time.
 */
#include "base/platform.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int64_t tr_wait_end(int64_t ns)
{
	struct timespec now;

	if (clock_gettime(CLOCK_MONOTONIC, &now))
		return 0;
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + ns;
}

/* Returns 0 or the error; keeps the host's errno. */
static int wait_on(const uint32_t *word, uint32_t value, int64_t end, int flags)
{
	/* What this call expects on every architecture, whatever time_t is. */
	struct {
		long seconds, ns;
	} until = { (long)(end / 1000000000), (long)(end % 1000000000) };
	int saved = errno, error = 0;

	/* BITSET for its absolute time: signals do not prolong the wait. */
	if (syscall(SYS_futex, word, FUTEX_WAIT_BITSET | flags, value,
		    end == TR_WAIT_FOREVER ? NULL : &until, NULL,
		    FUTEX_BITSET_MATCH_ANY))
		error = errno;
	errno = saved;
	return error;
}

static void wake_on(const uint32_t *word, int flags)
{
	int saved = errno;

	(void)syscall(SYS_futex, word, FUTEX_WAKE | flags, INT32_MAX, NULL,
		      NULL, 0);
	errno = saved;
}

bool tr_wait(const uint32_t *word, uint32_t value, int64_t end)
{
	return wait_on(word, value, end, FUTEX_PRIVATE_FLAG) != ETIMEDOUT;
}

void tr_wake(const uint32_t *word)
{
	wake_on(word, FUTEX_PRIVATE_FLAG);
}

bool tr_wait_shared(const uint32_t *word, uint32_t value, int64_t end)
{
	int error = wait_on(word, value, end, 0);

	return !error || error == EAGAIN || error == EINTR ||
	       error == ETIMEDOUT;
}

void tr_wake_shared(const uint32_t *word)
{
	wake_on(word, 0);
}

/* 0: free, 1: held, 2: held with waiters. */
void tr_wait_lock(uint32_t *lock)
{
	uint32_t idle = 0;

	if (__atomic_compare_exchange_n(lock, &idle, 1, false,
					__ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE))
		(void)tr_wait(lock, 2, TR_WAIT_FOREVER);
}

void tr_wait_unlock(uint32_t *lock)
{
	if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
		tr_wake(lock);
}

/* 0, or the id of the process whose thread holds it. */
bool tr_process_try_lock(uint32_t *lock)
{
	uint32_t pid = (uint32_t)getpid();
	uint32_t held = __atomic_load_n(lock, __ATOMIC_RELAXED);

	return held != pid &&
	       __atomic_compare_exchange_n(lock, &held, pid, false,
					   __ATOMIC_ACQUIRE,
					   __ATOMIC_RELAXED);
}

void tr_process_lock(uint32_t *lock)
{
	while (!tr_process_try_lock(lock))
		(void)sched_yield();
}

void tr_process_unlock(uint32_t *lock)
{
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}
