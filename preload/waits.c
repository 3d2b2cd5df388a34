/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that wait: they end with EINTR at any signal that has a handler, also
 * where that asked for a restart. A program that never got a signal may not
 * expect that. So one that was interrupted by a sample alone waits on, for as
 * long as was left.
 *
 * Where a signal of the host's comes in the same moment, it is handled, and
 * the call goes on as if it had come just before.
 */
#include "preload.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "profile/profile.h"

/* Was the call that gave `result` ended by a sample since `before`? */
static bool is_ours(long result, uint32_t before)
{
	return result < 0 && errno == EINTR && tr_sampler_count() != before;
}

/* ---- time that is left ------------------------------------------------- */

static int64_t now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ms of a timeout that began then; negative ones never end. */
static int left_ms(int timeout, int64_t began_ns)
{
	int64_t left = timeout - (now_ns() - began_ns) / 1000000;

	if (timeout < 0)
		return timeout;
	return left > 0 ? (int)left : 0;
}

static struct timespec left_of(const struct timespec *timeout,
			       int64_t began_ns)
{
	int64_t left = (int64_t)timeout->tv_sec * 1000000000 +
		       timeout->tv_nsec - (now_ns() - began_ns);

	if (left < 0)
		left = 0;
	return (struct timespec){ .tv_sec = left / 1000000000,
				  .tv_nsec = left % 1000000000 };
}

/* ---- sleeping ---------------------------------------------------------- */

PRELOAD_API int nanosleep(const struct timespec *time, struct timespec *left)
{
	struct timespec next, rest;
	int result;

	for (;;) {
		uint32_t before = tr_sampler_count();

		result = PRELOAD_NEXT(nanosleep)(time, &rest);
		if (!is_ours(result, before))
			break;
		next = rest;
		time = &next;
	}
	if (result && errno == EINTR && left)
		*left = rest;
	return result;
}

/* Gives its error as the result. */
PRELOAD_API int clock_nanosleep(clockid_t clock, int flags,
				const struct timespec *time,
				struct timespec *left)
{
	struct timespec next, rest = { 0, 0 };
	int result;

	for (;;) {
		uint32_t before = tr_sampler_count();

		result = PRELOAD_NEXT(clock_nanosleep)(clock, flags, time,
						       &rest);
		if (result != EINTR || tr_sampler_count() == before)
			break;
		if (!(flags & TIMER_ABSTIME)) {
			next = rest;
			time = &next;
		}
	}
	if (result == EINTR && left && !(flags & TIMER_ABSTIME))
		*left = rest;
	return result;
}

PRELOAD_API int usleep(useconds_t us)
{
	struct timespec time = { .tv_sec = us / 1000000,
				 .tv_nsec = us % 1000000 * 1000 };

	return nanosleep(&time, NULL);
}

PRELOAD_API unsigned sleep(unsigned seconds)
{
	struct timespec time = { .tv_sec = seconds }, left = { 0, 0 };
	int saved = errno;

	if (nanosleep(&time, &left) == 0) {
		errno = saved;
		return 0;
	}
	return (unsigned)left.tv_sec + (left.tv_nsec >= 500000000);
}

/* ---- descriptors ------------------------------------------------------- */

PRELOAD_API int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	int64_t began = timeout > 0 ? now_ns() : 0;
	int left = timeout, result;

	for (;;) {
		uint32_t before = tr_sampler_count();

		result = PRELOAD_NEXT(poll)(fds, n, left);
		if (!is_ours(result, before))
			return result;
		left = left_ms(timeout, began);
	}
}

PRELOAD_API int ppoll(struct pollfd *fds, nfds_t n,
		      const struct timespec *timeout, const sigset_t *mask)
{
	int64_t began = timeout ? now_ns() : 0;
	struct timespec left;
	const struct timespec *time = timeout;
	int result;

	for (;;) {
		uint32_t before = tr_sampler_count();

		result = PRELOAD_NEXT(ppoll)(fds, n, time, mask);
		if (!is_ours(result, before))
			return result;
		if (timeout) {
			left = left_of(timeout, began);
			time = &left;
		}
	}
}

/* The kernel leaves in *timeout what is left, and the sets as they were. */
PRELOAD_API int select(int n, fd_set *reads, fd_set *writes, fd_set *others,
		       struct timeval *timeout)
{
	int result;

	for (;;) {
		uint32_t before = tr_sampler_count();

		result = PRELOAD_NEXT(select)(n, reads, writes, others,
					      timeout);
		if (!is_ours(result, before))
			return result;
	}
}

PRELOAD_API int pselect(int n, fd_set *reads, fd_set *writes, fd_set *others,
			const struct timespec *timeout, const sigset_t *mask)
{
	int64_t began = timeout ? now_ns() : 0;
	struct timespec left;
	const struct timespec *time = timeout;
	int result;

	for (;;) {
		uint32_t before = tr_sampler_count();

		result = PRELOAD_NEXT(pselect)(n, reads, writes, others, time,
					       mask);
		if (!is_ours(result, before))
			return result;
		if (timeout) {
			left = left_of(timeout, began);
			time = &left;
		}
	}
}

PRELOAD_API int epoll_wait(int fd, struct epoll_event *events, int most,
			   int timeout)
{
	int64_t began = timeout > 0 ? now_ns() : 0;
	int left = timeout, result;

	for (;;) {
		uint32_t before = tr_sampler_count();

		result = PRELOAD_NEXT(epoll_wait)(fd, events, most, left);
		if (!is_ours(result, before))
			return result;
		left = left_ms(timeout, began);
	}
}

PRELOAD_API int epoll_pwait(int fd, struct epoll_event *events, int most,
			    int timeout, const sigset_t *mask)
{
	int64_t began = timeout > 0 ? now_ns() : 0;
	int left = timeout, result;

	for (;;) {
		uint32_t before = tr_sampler_count();

		result = PRELOAD_NEXT(epoll_pwait)(fd, events, most, left,
						   mask);
		if (!is_ours(result, before))
			return result;
		left = left_ms(timeout, began);
	}
}

/* ---- semaphores: an absolute time, or none ------------------------------ */

PRELOAD_API int sem_wait(sem_t *semaphore)
{
	uint32_t before;
	int result;

	do {
		before = tr_sampler_count();
		result = PRELOAD_NEXT(sem_wait)(semaphore);
	} while (is_ours(result, before));
	return result;
}

PRELOAD_API int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	uint32_t before;
	int result;

	do {
		before = tr_sampler_count();
		result = PRELOAD_NEXT(sem_timedwait)(semaphore, until);
	} while (is_ours(result, before));
	return result;
}
