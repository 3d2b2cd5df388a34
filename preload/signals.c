/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hides the sampler's signal from the host: calls about it answer as if it
 * were free, and give the sampler another one if the host uses it
 * (record/sampler/sampler_signal.c). Calls about other signals are passed
 * through.
 */
#include "preload.h"
#include "record/sampler.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>


/* Does the call come from the host, in a process that is sampled? */
static bool is_sampled(const void *caller)
{
	return !preload_is_own(caller) && tr_sampler_signal();
}

/*
 * `set` for the host: the sampler takes another signal, or else its signal is
 * removed from the set, in `copy`.
 */
static const sigset_t *without_ours(const sigset_t *set, sigset_t *copy)
{
	if (!set || tr_sampler_yield(set))
		return set;
	*copy = *set;
	(void)sigdelset(copy, tr_sampler_signal());
	return copy;
}

/* The host sets an action for that signal. */
static void want(int number)
{
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	if (!tr_sampler_yield(&set))
		tr_sampler_share();
}

/* ---- masks ------------------------------------------------------------- */

/* A vfork child has no samples: its mask is what it sets. */
static void note_child(int how, const sigset_t *set)
{
	int ours = tr_sampler_blocked();

	if (ours && set && (how == SIG_SETMASK ||
			    (how == SIG_UNBLOCK &&
			     sigismember(set, ours) == 1)))
		tr_sampler_set_blocked(false);
}

static void note_mask(int how, const sigset_t *set)
{
	bool is_in = set && sigismember(set, tr_sampler_signal()) == 1;

	if (set && (how == SIG_SETMASK || is_in))
		tr_sampler_set_blocked(how != SIG_UNBLOCK && is_in);
}

static int set_mask(__typeof__(&pthread_sigmask) next, int how,
		    const sigset_t *set, sigset_t *before)
{
	bool is_here = tr_sampler_signal() != 0;
	const sigset_t *wanted = set;
	sigset_t copy, kept;
	int was, err;

	/* Both may be the same object. */
	if (set && set == before)
		wanted = memcpy(&kept, set, sizeof(kept));
	set = wanted;
	if (is_here && how != SIG_UNBLOCK)
		set = without_ours(wanted, &copy);
	else if (is_here)
		tr_sampler_catch_up();
	was = tr_sampler_blocked();
	err = next(how, set, before);
	if (err)
		return err;
	if (is_here)
		note_mask(how, wanted);
	else
		note_child(how, wanted);
	if (before && was)
		(void)sigaddset(before, was);
	return 0;
}

int preload_set_mask(int how, const sigset_t *set, sigset_t *before)
{
	return set_mask(PRELOAD_NEXT(pthread_sigmask), how, set, before);
}

PRELOAD_API int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	__typeof__(&pthread_sigmask) next = PRELOAD_NEXT(pthread_sigmask);

	if (preload_is_own(PRELOAD_CALLER()))
		return next(how, set, before);
	return set_mask(next, how, set, before);
}

PRELOAD_API int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	__typeof__(&sigprocmask) next = PRELOAD_NEXT(sigprocmask);

	if (preload_is_own(PRELOAD_CALLER()))
		return next(how, set, before);
	return set_mask(next, how, set, before);
}

PRELOAD_API int sigpending(sigset_t *ret_set)
{
	int err = PRELOAD_NEXT(sigpending)(ret_set);

	if (!err && is_sampled(PRELOAD_CALLER()))
		(void)sigdelset(ret_set, tr_sampler_signal());
	return err;
}

/* ---- waiting ----------------------------------------------------------- */

/*
 * If the sampler's signal is left out of the set, the sampler may change to
 * another one during the wait, and the set must change, too. A handler ensures
 * that, except if it runs just before the wait: so no wait is longer than
 * this.
 */
static const struct timespec slice = { 1, 0 };

static const struct timespec *shorter(const struct timespec *a,
				      const struct timespec *b)
{
	return b && (b->tv_sec < a->tv_sec ||
		     (b->tv_sec == a->tv_sec && b->tv_nsec < a->tv_nsec)) ?
		       b :
		       a;
}

static int wait_for(const sigset_t *set, siginfo_t *ret_info,
		    const struct timespec *most)
{
	int64_t began = most ? preload_now_ns() : 0;
	const struct timespec *time = most, *part;
	struct timespec left;
	int result;

	for (;; time = preload_left_of(most, began, &left)) {
		uint32_t before = tr_sampler_count();
		const sigset_t *now = set;
		sigset_t copy;

		if (tr_sampler_signal())
			now = without_ours(set, &copy);
		part = now == set ? time : shorter(&slice, time);
		result = PRELOAD_NEXT(sigtimedwait)(now, ret_info, part);
		if (preload_waits_on(result, before))
			continue;
		if (result >= 0 || errno != EAGAIN || part == time)
			return result;
	}
}

/* Handlers do not interrupt it. */
PRELOAD_API int sigwait(const sigset_t *set, int *ret_number)
{
	siginfo_t info;
	int result;

	if (preload_is_own(PRELOAD_CALLER()))
		return PRELOAD_NEXT(sigwait)(set, ret_number);
	do
		result = wait_for(set, &info, NULL);
	while (result < 0 && errno == EINTR);
	if (result < 0)
		return errno;
	*ret_number = info.si_signo;
	return 0;
}

PRELOAD_API int sigwaitinfo(const sigset_t *set, siginfo_t *ret_info)
{
	if (preload_is_own(PRELOAD_CALLER()))
		return PRELOAD_NEXT(sigwaitinfo)(set, ret_info);
	return wait_for(set, ret_info, NULL);
}

PRELOAD_API int sigtimedwait(const sigset_t *set, siginfo_t *ret_info,
			     const struct timespec *most)
{
	if (preload_is_own(PRELOAD_CALLER()))
		return PRELOAD_NEXT(sigtimedwait)(set, ret_info, most);
	return wait_for(set, ret_info, most);
}

/* They end at a handler, but a sample's handler is not the host's. */
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

	if (is_sampled(PRELOAD_CALLER()))
		set = without_ours(set, &copy);
	return PRELOAD_NEXT(signalfd)(fd, set, flags);
}

/* ---- actions ----------------------------------------------------------- */

static bool is_ours(int number, const void *caller)
{
	return tr_sampler_had(number) && is_sampled(caller);
}

/* Setting the default is no reason to give the signal up. */
static void set_action(int number, const struct sigaction *action,
		       struct sigaction *before)
{
	if (action && (action->sa_flags & SA_SIGINFO ||
		       action->sa_handler != SIG_DFL))
		want(number);
	tr_sampler_action(number, action, before);
}

PRELOAD_API int sigaction(int number, const struct sigaction *action,
			  struct sigaction *before)
{
	if (!is_ours(number, PRELOAD_CALLER()))
		return PRELOAD_NEXT(sigaction)(number, action, before);
	set_action(number, action, before);
	return 0;
}

static sighandler_t set_handler(int number, sighandler_t handler, int flags)
{
	struct sigaction action, before;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = flags;
	(void)sigemptyset(&action.sa_mask);
	set_action(number, &action, &before);
	return before.sa_handler;
}

#define HANDLER(name, flags) \
	sighandler_t name(int number, sighandler_t handler); \
	PRELOAD_API sighandler_t name(int number, sighandler_t handler) \
	{ \
		if (!is_ours(number, PRELOAD_CALLER())) \
			return PRELOAD_NEXT(name)(number, handler); \
		return set_handler(number, handler, flags); \
	}

HANDLER(signal, SA_RESTART)
HANDLER(bsd_signal, SA_RESTART)
HANDLER(ssignal, SA_RESTART)
HANDLER(sysv_signal, (int)SA_RESETHAND | SA_NODEFER)
HANDLER(__sysv_signal, (int)SA_RESETHAND | SA_NODEFER)

/* ---- what is rare: another one becomes ours, and libc does it ---------- */

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define PRELOAD_WANT(number) \
	do { \
		if (is_ours(number, PRELOAD_CALLER())) \
			want(number); \
	} while (0)

/* A mask of the first 32 signals: the others are unblocked. */
PRELOAD_API int sigsetmask(int mask)
{
	int before = PRELOAD_NEXT(sigsetmask)(mask);

	if (tr_sampler_blocked() && !preload_is_own(PRELOAD_CALLER()))
		tr_sampler_set_blocked(false);
	return before;
}

PRELOAD_API sighandler_t sigset(int number, sighandler_t handler)
{
	PRELOAD_WANT(number);
	return PRELOAD_NEXT(sigset)(number, handler);
}

PRELOAD_API int sigignore(int number)
{
	PRELOAD_WANT(number);
	return PRELOAD_NEXT(sigignore)(number);
}

PRELOAD_API int sighold(int number)
{
	PRELOAD_WANT(number);
	return PRELOAD_NEXT(sighold)(number);
}

PRELOAD_API int sigrelse(int number)
{
	PRELOAD_WANT(number);
	return PRELOAD_NEXT(sigrelse)(number);
}

PRELOAD_API int siginterrupt(int number, int is_on)
{
	PRELOAD_WANT(number);
	return PRELOAD_NEXT(siginterrupt)(number, is_on);
}
