/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall(): calls by number. Blocking calls continue after a sample, like
 * those of libc; installing a seccomp filter is detected. System calls that a
 * program makes by its own instructions are not seen.
 */
#include "preload.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/runtime.h"
#include "record/sampler.h"

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_io_pgetevents
#define SYS_io_pgetevents -2
#endif

/* Arguments beyond those that were given are arbitrary. */
#define TAKE_ARGS(last, args) \
	do { \
		va_list list_; \
\
		va_start(list_, last); \
		for (int i_ = 0; i_ < 6; i_++) \
			(args)[i_] = va_arg(list_, unsigned long); \
		va_end(list_); \
	} while (0)

/* ---- filters ----------------------------------------------------------- */

/*
 * A process that confines itself gets no further calls of ours: one that its
 * filter does not allow would end it. With no filter, the host only asks
 * whether filters are supported.
 */
static bool sets_filter(const unsigned long *args)
{
	return args[0] == PR_SET_SECCOMP &&
	       (args[1] == SECCOMP_MODE_STRICT || args[2]);
}

bool preload_is_confined;

static void confine(void)
{
	preload_is_confined = true;
	tr_confine();
}

PRELOAD_API int prctl(int what, ...)
{
	unsigned long args[7];

	args[0] = (unsigned)what;
	TAKE_ARGS(what, args + 1);
	if (sets_filter(args) && !preload_is_own(PRELOAD_CALLER()))
		confine();
	return PRELOAD_NEXT(prctl)(what, args[1], args[2], args[3], args[4]);
}

static bool confines(long what, const unsigned long *args)
{
	if (what == SYS_prctl)
		return sets_filter(args);
	return what == SYS_seccomp &&
	       (args[0] == SECCOMP_SET_MODE_STRICT ||
		(args[0] == SECCOMP_SET_MODE_FILTER && args[2]));
}

/* ---- waits ------------------------------------------------------------- */

/* What to do before such a call is repeated. */
enum wait {
	WAIT_NONE,   /* does not block, or is repeated by the kernel */
	WAIT_AGAIN,  /* nothing: no timeout, a deadline, or in the kernel */
	WAIT_MS,     /* a timeout in ms, in this argument */
	WAIT_TIME,   /* a struct timespec at this argument */
	WAIT_REST,   /* the same; the next argument is the rest */
	WAIT_READ,   /* the socket's timeout */
	WAIT_WRITE,
};

static enum wait wait_of_futex(unsigned long op)
{
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
		return WAIT_TIME;
	case FUTEX_WAIT_BITSET:
	case FUTEX_WAIT_REQUEUE_PI:
		return WAIT_AGAIN; /* until a deadline */
	default:
		return WAIT_NONE;
	}
}

static enum wait wait_of(long what, const unsigned long *args, int *ret_at)
{
	*ret_at = 0;
	switch (what) {
	case SYS_futex:
		*ret_at = 3;
		return wait_of_futex(args[1]);
	case SYS_epoll_pwait2:
	case SYS_semtimedop:
		*ret_at = 3;
		return WAIT_TIME;
	case SYS_rt_sigtimedwait:
		*ret_at = 2;
		return WAIT_TIME;
	case SYS_io_getevents:
	case SYS_io_pgetevents:
		*ret_at = 4;
		return WAIT_TIME;
	case SYS_nanosleep:
		return WAIT_REST;
	case SYS_clock_nanosleep:
		*ret_at = 2;
		return args[1] & TIMER_ABSTIME ? WAIT_AGAIN : WAIT_REST;
	case SYS_epoll_pwait:
#ifdef SYS_epoll_wait
	case SYS_epoll_wait:
#endif
		*ret_at = 3;
		return WAIT_MS;
#ifdef SYS_poll
	case SYS_poll:
		*ret_at = 2;
		return WAIT_MS;
	case SYS_select:
	case SYS_pause:
#endif
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_rt_sigsuspend:
	case SYS_futex_waitv:
#ifdef SYS_semop
	case SYS_semop:
#endif
	case SYS_msgsnd:
	case SYS_msgrcv:
		return WAIT_AGAIN;
	case SYS_read:
	case SYS_readv:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_accept:
	case SYS_accept4:
		return WAIT_READ;
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_sendmmsg:
	case SYS_connect:
		return WAIT_WRITE;
	default:
		return WAIT_NONE;
	}
}

struct again {
	enum wait kind;
	int at; /* argument */
	int64_t began_ns;
	unsigned long time; /* the original argument */
	struct timespec left;
	unsigned long *args;
};

/* Puts the remaining time into the arguments. False: the call has ended. */
static bool prepare_again(struct again *again)
{
	int64_t now = preload_now_ns();

	switch (again->kind) {
	case WAIT_MS:
		if ((int)again->time > 0) {
			int64_t left = (int)again->time -
				       (now - again->began_ns) / 1000000;

			again->args[again->at] =
				(unsigned long)(left > 0 ? left : 0);
		}
		return true;
	case WAIT_TIME:
	case WAIT_REST:
		again->args[again->at] = (uintptr_t)preload_left_of(
			(const struct timespec *)again->time, again->began_ns,
			&again->left);
		return true;
	case WAIT_READ:
		return preload_socket_waits_on((int)again->args[0], POLLIN,
					       again->began_ns);
	case WAIT_WRITE:
		return preload_socket_waits_on((int)again->args[0], POLLOUT,
					       again->began_ns);
	default:
		return true;
	}
}

static long call(long what, const unsigned long *args)
{
	return PRELOAD_NEXT(syscall)(what, args[0], args[1], args[2], args[3],
				     args[4], args[5]);
}

/* As exec.c does for libc's calls: no sample is pending in the next program. */
static long run_program(long what, const unsigned long *args)
{
	struct preload_exec exec;
	long result;

	preload_before_exec(&exec, true);
	result = call(what, args);
	preload_after_exec(&exec, true);
	return result;
}

/* ---- signals ----------------------------------------------------------- */

#define SET_BYTES 8u /* of the kernel's sets */

static long set_mask(const unsigned long *args)
{
	sigset_t set, before;
	int err;

	if (args[3] != SET_BYTES)
		return call(SYS_rt_sigprocmask, args);
	(void)sigemptyset(&set);
	(void)sigemptyset(&before);
	if (args[1])
		memcpy(&set, (const void *)args[1], SET_BYTES);
	err = preload_set_mask((int)args[0], args[1] ? &set : NULL, &before);
	if (err) {
		errno = err;
		return -1;
	}
	if (args[2])
		memcpy((void *)args[2], &before, SET_BYTES);
	return 0;
}

/* The sampler takes another signal; if there is none, it stays. */
static bool takes_ours(const unsigned long *args)
{
	sigset_t set;

	if (!args[1] || (int)args[0] != tr_sampler_signal())
		return false;
	(void)sigemptyset(&set);
	(void)sigaddset(&set, (int)args[0]);
	return !tr_sampler_yield(&set);
}

PRELOAD_API long syscall(long what, ...)
{
	unsigned long args[6];
	struct again again = { .args = args };
	uint32_t before;
	long result;

	TAKE_ARGS(what, args);
	if (preload_is_own(PRELOAD_CALLER()))
		return call(what, args);
	if (confines(what, args))
		confine();
	if (what == SYS_rt_sigprocmask)
		return set_mask(args);
	if (what == SYS_rt_sigaction && takes_ours(args))
		return 0;
	if (what == SYS_execve || what == SYS_execveat)
		return run_program(what, args);
	again.kind = wait_of(what, args, &again.at);
	if (again.kind == WAIT_NONE)
		return call(what, args);
	again.began_ns = again.kind >= WAIT_READ ? preload_tick_ns() :
						   preload_now_ns();
	again.time = args[again.at];
	do {
		before = tr_sampler_count();
		result = call(what, args);
	} while (preload_waits_on(result, before) && prepare_again(&again));
	return result;
}
