/* SPDX-License-Identifier: Apache-2.0 */
#include "lock.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "base/platform.h"
#include "record/system.h"

#define WAIT_NS 50000
#define WAITS 20000 /* one second: its owner is blocked on a file */

/*
 * The process whose thread holds the lock; 0: none. A process id and no flag:
 * a child forked while the lock was held finds its parent's id, so no thread
 * of its own holds it, and starts from the beginning.
 */
static uint32_t holder;

static bool take(uint32_t own)
{
	uint32_t seen = 0;

	/* Acquire, with the release of leave: earlier readings are visible. */
	if (TR_SWAP(holder, &seen, own))
		return true;
	if (seen == own ||
	    !TR_SWAP(holder, &seen, own))
		return false;
	tr_system_forget(); /* left half-written by the fork */
	return true;
}

bool tr_lock_enter(struct tr_lock *lock)
{
	static const struct timespec wait = { 0, WAIT_NS };
	uint32_t own = (uint32_t)getpid();

	lock->error = errno;
	/*
	 * File calls are cancellation points: no thread may be cancelled in
	 * one.
	 */
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &lock->cancel);
	for (unsigned i = 0; i < WAITS; i++) {
		if (take(own))
			return true;
		(void)nanosleep(&wait, NULL);
	}
	(void)pthread_setcancelstate(lock->cancel, NULL);
	errno = lock->error;
	return false;
}

void tr_lock_leave(struct tr_lock *lock)
{
	/* Release: the readings before the word. */
	__atomic_store_n(&holder, 0, __ATOMIC_RELEASE);
	(void)pthread_setcancelstate(lock->cancel, NULL);
	errno = lock->error;
}
