/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sampler's signal is not the host's to block, to wait for, or to give a
 * handler to. All calls about other signals pass as they are. What the host
 * wants done at that signal is kept, answered, and done for those that others
 * send.
 */
#include "preload.h"

#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "profile/profile.h"

/* `set` without ours, in `copy` if need be. */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy,
				    const void *caller)
{
	int ours = set && !preload_is_own(caller) ? tr_sampler_signal() : 0;

	if (!ours || sigismember(set, ours) != 1)
		return set;
	*copy = *set;
	(void)sigdelset(copy, ours);
	return copy;
}

static bool is_ours(int number, const void *caller)
{
	return !preload_is_own(caller) && number == tr_sampler_signal();
}

/* ---- masks ------------------------------------------------------------- */

PRELOAD_API int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	sigset_t copy;

	if (how != SIG_UNBLOCK)
		set = without_ours(set, &copy, PRELOAD_CALLER());
	return PRELOAD_NEXT(pthread_sigmask)(how, set, before);
}

PRELOAD_API int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	sigset_t copy;

	if (how != SIG_UNBLOCK)
		set = without_ours(set, &copy, PRELOAD_CALLER());
	return PRELOAD_NEXT(sigprocmask)(how, set, before);
}

/* ---- waiting ----------------------------------------------------------- */

PRELOAD_API int sigwait(const sigset_t *set, int *ret_number)
{
	sigset_t copy;

	return PRELOAD_NEXT(sigwait)(
		without_ours(set, &copy, PRELOAD_CALLER()), ret_number);
}

PRELOAD_API int sigwaitinfo(const sigset_t *set, siginfo_t *ret_info)
{
	sigset_t copy;

	set = without_ours(set, &copy, PRELOAD_CALLER());
	return PRELOAD_WAIT(PRELOAD_NEXT(sigwaitinfo)(set, ret_info));
}

PRELOAD_API int sigtimedwait(const sigset_t *set, siginfo_t *ret_info,
			     const struct timespec *most)
{
	int64_t began = most ? preload_now_ns() : 0;
	const struct timespec *time = most;
	struct timespec left;
	sigset_t copy;

	set = without_ours(set, &copy, PRELOAD_CALLER());
	return PRELOAD_WAIT_THEN(
		PRELOAD_NEXT(sigtimedwait)(set, ret_info, time),
		time = preload_left_of(most, began, &left));
}

/* They end at a handler, and a sample's is none of the host's. */
PRELOAD_API int pause(void)
{
	return PRELOAD_WAIT(PRELOAD_NEXT(pause)());
}

PRELOAD_API int sigsuspend(const sigset_t *mask)
{
	return PRELOAD_WAIT(PRELOAD_NEXT(sigsuspend)(mask));
}

PRELOAD_API int signalfd(int fd, const sigset_t *set, int flags)
{
	sigset_t copy;

	return PRELOAD_NEXT(signalfd)(
		fd, without_ours(set, &copy, PRELOAD_CALLER()), flags);
}

/* ---- actions ----------------------------------------------------------- */

PRELOAD_API int sigaction(int number, const struct sigaction *action,
			  struct sigaction *before)
{
	if (!is_ours(number, PRELOAD_CALLER()))
		return PRELOAD_NEXT(sigaction)(number, action, before);
	tr_sampler_action(action, before);
	return 0;
}

static sighandler_t set_handler(sighandler_t handler, int flags)
{
	struct sigaction action, before;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	(void)sigemptyset(&action.sa_mask);
	tr_sampler_action(&action, &before);
	return before.sa_handler;
}

PRELOAD_API sighandler_t signal(int number, sighandler_t handler)
{
	if (!is_ours(number, PRELOAD_CALLER()))
		return PRELOAD_NEXT(signal)(number, handler);
	return set_handler(handler, SA_RESTART);
}

sighandler_t bsd_signal(int number, sighandler_t handler);
PRELOAD_API sighandler_t bsd_signal(int number, sighandler_t handler)
{
	if (!is_ours(number, PRELOAD_CALLER()))
		return PRELOAD_NEXT(bsd_signal)(number, handler);
	return set_handler(handler, SA_RESTART);
}

PRELOAD_API sighandler_t sysv_signal(int number, sighandler_t handler)
{
	if (!is_ours(number, PRELOAD_CALLER()))
		return PRELOAD_NEXT(sysv_signal)(number, handler);
	return set_handler(handler, (int)SA_RESETHAND | SA_NODEFER);
}

PRELOAD_API sighandler_t __sysv_signal(int number, sighandler_t handler)
{
	if (!is_ours(number, PRELOAD_CALLER()))
		return PRELOAD_NEXT(__sysv_signal)(number, handler);
	return set_handler(handler, (int)SA_RESETHAND | SA_NODEFER);
}
