/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting on a word. Not a condition variable: one that a fork wipes has no
 * clock but the wall's, which may step while somebody waits. Tests that
 * replace the clock wait in real time all the same.
 */
#include "platform/platform.h"

#include <errno.h>
#include <linux/futex.h>
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

bool tr_wait(const uint32_t *word, uint32_t value, int64_t end)
{
	/* What this call takes on every architecture, whatever time_t is. */
	struct {
		long seconds, ns;
	} until = { (long)(end / 1000000000), (long)(end % 1000000000) };
	int saved = errno;
	bool in_time;

	/* The bit set is for its absolute time: signals do not prolong it. */
	in_time = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
			  end == TR_WAIT_FOREVER ? NULL : &until, NULL,
			  FUTEX_BITSET_MATCH_ANY) == 0 ||
		  errno != ETIMEDOUT;
	errno = saved;
	return in_time;
}

void tr_wake(const uint32_t *word)
{
	int saved = errno;

	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL,
		      NULL, 0);
	errno = saved;
}
