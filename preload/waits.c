/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocking calls: they end with EINTR at any signal with a handler, even with
 * SA_RESTART. A program that never got a signal may not expect that. So a call
 * that was interrupted only by a sample waits on, for the remaining time.
 *
 * If a signal for the host comes at the same moment, the call ends as it would
 * have: the sample's handler finds out which of them interrupted it
 * (record/sampler/sampler_host.c).
 */
#include "preload.h"
#include "record/sampler.h"

#include <aio.h>
#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>


bool preload_waits_on(long result, uint32_t before)
{
	return result < 0 && errno == EINTR && tr_sampler_count() != before;
}

/* ---- time that is left ------------------------------------------------- */

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

int64_t preload_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return ns_of(&now);
}

/* Remaining ms of a timeout that began at began_ns; negative: no end. */
static int left_ms(int timeout, int64_t began_ns)
{
	int64_t left = timeout - (preload_now_ns() - began_ns) / 1000000;

	if (timeout < 0)
		return timeout;
	return left > 0 ? (int)left : 0;
}

/* What is left of a timeout after `passed_ns` of it. */
static const struct timespec *left_after(const struct timespec *timeout,
					 int64_t passed_ns,
					 struct timespec *ret_left)
{
	int64_t left;

	/* Beyond 30 years: may restart, and overflows nanoseconds. */
	if (!timeout || timeout->tv_sec > 1000000000)
		return timeout;
	left = ns_of(timeout) - passed_ns;
	if (left < 0)
		left = 0;
	ret_left->tv_sec = left / 1000000000;
	ret_left->tv_nsec = left % 1000000000;
	return ret_left;
}

const struct timespec *preload_left_of(const struct timespec *timeout,
				       int64_t began_ns,
				       struct timespec *ret_left)
{
	return left_after(timeout, preload_now_ns() - began_ns, ret_left);
}

/* ---- sleeping ---------------------------------------------------------- */

/*
 * Not for the rest that the kernel reports: it ends up to 50 us late (timer
 * slack), and a sleep with a thousand samples would add that a thousand times.
 */
PRELOAD_API int nanosleep(const struct timespec *time, struct timespec *left)
{
	int64_t began = preload_now_ns();
	const struct timespec *next = time;
	struct timespec own, rest;
	int result;

	for (;; next = preload_left_of(time, began, &own)) {
		uint32_t before = tr_sampler_count();

		result = PRELOAD_NEXT(nanosleep)(next, &rest);
		if (!preload_waits_on(result, before))
			break;
	}
	if (result && errno == EINTR && left)
		*left = rest;
	return result;
}

/* A relative sleep on CLOCK_REALTIME does not follow changes of that clock. */
static int64_t sleep_now_ns(clockid_t clock)
{
	struct timespec now = { 0, 0 };
	int saved = errno;

	(void)clock_gettime(clock == CLOCK_REALTIME ? CLOCK_MONOTONIC : clock,
			    &now);
	errno = saved;
	return ns_of(&now);
}

/* Returns its error. */
PRELOAD_API int clock_nanosleep(clockid_t clock, int flags,
				const struct timespec *time,
				struct timespec *left)
{
	bool is_relative = !(flags & TIMER_ABSTIME);
	int64_t began = is_relative ? sleep_now_ns(clock) : 0;
	const struct timespec *next = time;
	struct timespec own, rest = { 0, 0 };
	int result;

	for (;;) {
		uint32_t before = tr_sampler_count();

		result = PRELOAD_NEXT(clock_nanosleep)(clock, flags, next,
						       &rest);
		if (result != EINTR || tr_sampler_count() == before)
			break;
		if (is_relative)
			next = left_after(time, sleep_now_ns(clock) - began,
					  &own);
	}
	if (result == EINTR && left && is_relative)
		*left = rest;
	return result;
}

/* Returns -1 if it was interrupted, and less for other errors. */
PRELOAD_API int thrd_sleep(const struct timespec *time, struct timespec *left)
{
	int result = clock_nanosleep(CLOCK_REALTIME, 0, time, left);

	return result == EINTR ? -1 : result ? -2 : 0;
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
	return (unsigned)left.tv_sec; /* whole seconds: as in glibc */
}

/* ---- descriptors ------------------------------------------------------- */

PRELOAD_API int poll(struct pollfd *fds, nfds_t n, int timeout)
{
	int64_t began = timeout > 0 ? preload_now_ns() : 0;
	int left = timeout;

	return PRELOAD_WAIT_THEN(PRELOAD_NEXT(poll)(fds, n, left),
				 left = left_ms(timeout, began));
}

PRELOAD_API int ppoll(struct pollfd *fds, nfds_t n,
		      const struct timespec *timeout, const sigset_t *mask)
{
	int64_t began = timeout ? preload_now_ns() : 0;
	const struct timespec *time = timeout;
	struct timespec left;

	return PRELOAD_WAIT_THEN(PRELOAD_NEXT(ppoll)(fds, n, time, mask),
				 time = preload_left_of(timeout, began, &left));
}

/*
 * The kernel stores the remaining time in *timeout, which is the caller's, and
 * leaves the sets unchanged.
 */
static void shorten(struct timeval *timeout, const struct timespec *asked,
		    int64_t began_ns)
{
	struct timespec left;

	if (!timeout || asked->tv_sec > 1000000000)
		return;
	(void)preload_left_of(asked, began_ns, &left);
	timeout->tv_sec = left.tv_sec;
	timeout->tv_usec = (left.tv_nsec + 999) / 1000 % 1000000;
	timeout->tv_sec += (left.tv_nsec + 999) / 1000 / 1000000;
}

PRELOAD_API int select(int n, fd_set *reads, fd_set *writes, fd_set *others,
		       struct timeval *timeout)
{
	int64_t began = timeout ? preload_now_ns() : 0;
	struct timespec asked = { 0, 0 };

	if (timeout) {
		asked.tv_sec = timeout->tv_sec + timeout->tv_usec / 1000000;
		asked.tv_nsec = timeout->tv_usec % 1000000 * 1000;
	}
	return PRELOAD_WAIT_THEN(
		PRELOAD_NEXT(select)(n, reads, writes, others, timeout),
		shorten(timeout, &asked, began));
}

PRELOAD_API int pselect(int n, fd_set *reads, fd_set *writes, fd_set *others,
			const struct timespec *timeout, const sigset_t *mask)
{
	int64_t began = timeout ? preload_now_ns() : 0;
	const struct timespec *time = timeout;
	struct timespec left;

	return PRELOAD_WAIT_THEN(
		PRELOAD_NEXT(pselect)(n, reads, writes, others, time, mask),
		time = preload_left_of(timeout, began, &left));
}

PRELOAD_API int epoll_wait(int fd, struct epoll_event *events, int most,
			   int timeout)
{
	int64_t began = timeout > 0 ? preload_now_ns() : 0;
	int left = timeout;

	return PRELOAD_WAIT_THEN(
		PRELOAD_NEXT(epoll_wait)(fd, events, most, left),
		left = left_ms(timeout, began));
}

PRELOAD_API int epoll_pwait(int fd, struct epoll_event *events, int most,
			    int timeout, const sigset_t *mask)
{
	int64_t began = timeout > 0 ? preload_now_ns() : 0;
	int left = timeout;

	return PRELOAD_WAIT_THEN(
		PRELOAD_NEXT(epoll_pwait)(fd, events, most, left, mask),
		left = left_ms(timeout, began));
}

PRELOAD_API int epoll_pwait2(int fd, struct epoll_event *events, int most,
			     const struct timespec *timeout,
			     const sigset_t *mask)
{
	int64_t began = timeout ? preload_now_ns() : 0;
	const struct timespec *time = timeout;
	struct timespec left;

	return PRELOAD_WAIT_THEN(
		PRELOAD_NEXT(epoll_pwait2)(fd, events, most, time, mask),
		time = preload_left_of(timeout, began, &left));
}

/* Names of the variants of poll and ppoll that check their arguments. */
int __poll_chk(struct pollfd *fds, nfds_t n, int timeout, size_t bytes);
PRELOAD_API int __poll_chk(struct pollfd *fds, nfds_t n, int timeout,
			   size_t bytes)
{
	if (bytes / sizeof(*fds) < n)
		return PRELOAD_NEXT(__poll_chk)(fds, n, timeout, bytes);
	return poll(fds, n, timeout);
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *timeout,
		const sigset_t *mask, size_t bytes);
PRELOAD_API int __ppoll_chk(struct pollfd *fds, nfds_t n,
			    const struct timespec *timeout,
			    const sigset_t *mask, size_t bytes)
{
	if (bytes / sizeof(*fds) < n)
		return PRELOAD_NEXT(__ppoll_chk)(fds, n, timeout, mask,
						 bytes);
	return ppoll(fds, n, timeout, mask);
}

/* ---- System V: no restart, whatever the handler asked for -------------- */

PRELOAD_API int semop(int id, struct sembuf *ops, size_t n)
{
	return PRELOAD_WAIT(PRELOAD_NEXT(semop)(id, ops, n));
}

PRELOAD_API int semtimedop(int id, struct sembuf *ops, size_t n,
			   const struct timespec *timeout)
{
	int64_t began = timeout ? preload_now_ns() : 0;
	const struct timespec *time = timeout;
	struct timespec left;

	return PRELOAD_WAIT_THEN(PRELOAD_NEXT(semtimedop)(id, ops, n, time),
				 time = preload_left_of(timeout, began, &left));
}

PRELOAD_API int msgsnd(int id, const void *message, size_t n, int flags)
{
	return PRELOAD_WAIT(PRELOAD_NEXT(msgsnd)(id, message, n, flags));
}

PRELOAD_API ssize_t msgrcv(int id, void *message, size_t n, long type,
			   int flags)
{
	return PRELOAD_WAIT(PRELOAD_NEXT(msgrcv)(id, message, n, type, flags));
}

/* ---- semaphores: an absolute time, or none ----------------------------- */

PRELOAD_API int sem_wait(sem_t *semaphore)
{
	return PRELOAD_WAIT(PRELOAD_NEXT(sem_wait)(semaphore));
}

PRELOAD_API int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	return PRELOAD_WAIT(PRELOAD_NEXT(sem_timedwait)(semaphore, until));
}

PRELOAD_API int sem_clockwait(sem_t *semaphore, clockid_t clock,
			      const struct timespec *until)
{
	return PRELOAD_WAIT(
		PRELOAD_NEXT(sem_clockwait)(semaphore, clock, until));
}

/* ---- asynchronous input and output ------------------------------------- */

PRELOAD_API int aio_suspend(const struct aiocb *const list[], int n,
			    const struct timespec *timeout)
{
	int64_t began = timeout ? preload_now_ns() : 0;
	const struct timespec *time = timeout;
	struct timespec left;

	return PRELOAD_WAIT_THEN(PRELOAD_NEXT(aio_suspend)(list, n, time),
				 time = preload_left_of(timeout, began, &left));
}

/* Of libaio, which returns the negative error. */
int io_getevents(void *context, long least, long most, void *events,
		 struct timespec *timeout);
PRELOAD_API int io_getevents(void *context, long least, long most,
			     void *events, struct timespec *timeout)
{
	int64_t began = timeout ? preload_now_ns() : 0;
	const struct timespec *time = timeout;
	struct timespec left;
	uint32_t before;
	int result;

	for (;; time = preload_left_of(timeout, began, &left)) {
		before = tr_sampler_count();
		result = PRELOAD_NEXT(io_getevents)(
			context, least, most, events,
			(struct timespec *)(uintptr_t)time);
		if (result != -EINTR || tr_sampler_count() == before)
			return result;
	}
}
