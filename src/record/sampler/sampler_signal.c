/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The signal for samples: which one, and how it is hidden from the host.
 *
 * If the library interposes libc calls, it is a free real-time signal. It is
 * given up for another one as soon as the host uses it: sets an action, blocks
 * or waits for it but not for others, or gets one from another process. Our
 * handler stays installed for a signal that was given up, for samples that are
 * still pending, and passes the others on.
 *
 * If the host blocks all signals, no other one is better: ours stays
 * unblocked, and the host sees it as blocked. If the host uses all of them (as
 * Go does), ours stays, too, and signals from other senders are passed on.
 *
 * If the library does not interpose these calls it is SIGURG, whose default
 * action is to ignore: a host that resets all actions must not be ended by a
 * sample.
 */
#include "record/sampler/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static uint32_t sample_signal; /* 0: none yet */
static uint32_t sample_shared; /* the host has an action for it, too */

/*
 * Of the calling thread: does the host block our signal, which stays
 * unblocked?
 */
static __thread struct {
	uint32_t number; /* the signal this is about */
	bool blocks;
	bool child_blocks; /* the same in a vfork child */
	uint32_t child;
} host
#if !defined(TARE_TLS_DYNAMIC)
	__attribute__((tls_model("initial-exec")))
#endif
	;

uint32_t tr_sample_number(void)
{
	return TR_LOAD(sample_signal);
}

/* ---- choosing ---------------------------------------------------------- */

/*
 * From the middle of the real-time signals down, then up: the first ones are
 * used by libc, by run-time systems that take the first free one (Mono, .NET)
 * and by programs that users send signals to, the last but two by Java, the
 * last by Valgrind. systemd uses some, but not this one.
 */
#define TR_SIGNAL_FIRST 19 /* from SIGRTMIN */

static int candidate(int i)
{
	int first = SIGRTMIN + TR_SIGNAL_FIRST;
	int number = first - i > SIGRTMIN ? first - i :
					    SIGRTMIN + 1 + i;

	return number < SIGRTMAX - 2 ? number : 0;
}

static bool is_free(int number)
{
	struct sigaction action;

	return !tr_sampler_had(number) &&
	       sigaction(number, NULL, &action) == 0 &&
	       !(action.sa_flags & SA_SIGINFO) &&
	       action.sa_handler == SIG_DFL;
}

/* A free signal that is in neither set; 0: there is none. */
static int find_free(const sigset_t *wanted, const sigset_t *blocked)
{
	int number;

	for (int i = 0; (number = candidate(i)); i++)
		if ((!wanted || sigismember(wanted, number) != 1) &&
		    (!blocked || sigismember(blocked, number) != 1) &&
		    is_free(number))
			return number;
	return 0;
}

int tr_sampler_free(void)
{
	sigset_t blocked;
	int number;

	(void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	number = find_free(NULL, &blocked);
	return number ? number : find_free(NULL, NULL);
}

bool tr_sampler_choose(void (*handler)(int, siginfo_t *, void *))
{
	int number;

	if (TR_LOAD(sample_signal))
		return true;
	tr_signal_handler = handler;
	number = tr_sampling.has_monitor_thread ? SIGURG : tr_sampler_free();
	if (!number || !tr_signal_install(number))
		return false;
	TR_PUBLISH(sample_signal, (uint32_t)number);
	return true;
}

/* ---- giving it up ------------------------------------------------------ */

static bool move(const sigset_t *wanted)
{
	uint32_t old = TR_LOAD(sample_signal);
	sigset_t blocked;
	int number;

	if (tr_sampling.has_monitor_thread)
		return false;
	/* In a handler all are blocked. */
	(void)pthread_sigmask(SIG_BLOCK, NULL, &blocked);
	number = find_free(wanted, wanted ? &blocked : NULL);
	if (!number || !tr_signal_install(number))
		return false;
	(void)__atomic_compare_exchange_n(&sample_signal, &old,
					  (uint32_t)number, false,
					  __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
	if (tr_sampler && tr_sampler_has_ledger())
		TR_STORE(tr_ledger->header->sampling.signal,
			 TR_LOAD(sample_signal));
	return true;
}

/* The mask of a thread whose sampler signal changes. */
static void change_mask(sigset_t *mask, uint32_t number)
{
	if (host.blocks && host.number)
		(void)sigaddset(mask, (int)host.number);
	host.blocks = sigismember(mask, (int)number) == 1;
	host.number = number;
	(void)sigdelset(mask, (int)number);
}

void tr_sampler_unblock(void)
{
	uint32_t number = TR_LOAD(sample_signal);
	sigset_t mask;

	if (host.number == number) {
		/* The thread, or a child, inherited it from another. */
		(void)sigemptyset(&mask);
		(void)sigaddset(&mask, (int)number);
		(void)pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
		return;
	}
	(void)pthread_sigmask(SIG_BLOCK, NULL, &mask);
	change_mask(&mask, number);
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static bool is_sample(const siginfo_t *info)
{
	return info->si_code == SI_TIMER &&
	       info->si_value.sival_ptr == (void *)tr_sampler;
}

/*
 * It stays pending, for the thread that waits for it. Only the first thread
 * may keep the sender of a signal from kill(); else the sender is this
 * process.
 */
static void send_again(int number, siginfo_t *info)
{
	if (info->si_code == SI_TKILL)
		(void)syscall(SYS_rt_tgsigqueueinfo, getpid(),
			      (pid_t)tr_thread_id(), number, info);
	else if (syscall(SYS_rt_sigqueueinfo, getpid(), number, info))
		(void)kill(getpid(), number);
}

/* Drops a pending sample, which the host must not find. */
static void drop_pending(uint32_t number)
{
	const struct timespec at_once = { 0, 0 };
	uint64_t set = UINT64_C(1) << (number - 1);
	siginfo_t info;

	while (syscall(SYS_rt_sigtimedwait, &set, &info, &at_once, 8) > 0)
		if (!is_sample(&info) && info.si_code <= 0) {
			send_again((int)number, &info);
			break;
		}
}

/* Changes the signal of this thread's clock; the caller blocks samples. */
static void change_number(struct tr_followed *self, sigset_t *mask)
{
	uint32_t old = TR_LOAD(self->number);

	tr_sample_clock_disarm(self);
	drop_pending(old);
	change_mask(mask, TR_LOAD(sample_signal));
	(void)tr_sample_clock_arm(self, tr_thread_id());
}

/* True: the thread has another signal now. */
static bool catch_up(struct tr_followed *self, sigset_t *mask)
{
	if (!self || TR_LOAD(self->number) == TR_LOAD(sample_signal) ||
	    !tr_followed_become(self, TR_FOLLOWED_READY, TR_FOLLOWED_TAKING))
		return false;
	change_number(self, mask);
	(void)tr_followed_become(self, TR_FOLLOWED_TAKING, TR_FOLLOWED_READY);
	return true;
}

void tr_sampler_catch_up(void)
{
	int saved = errno;
	sigset_t mask;

	if (!host.number || host.number == TR_LOAD(sample_signal))
		return;
	(void)pthread_sigmask(SIG_BLOCK, NULL, &mask);
	if (!catch_up(tr_sampler_self(), &mask))
		change_mask(&mask, TR_LOAD(sample_signal));
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	errno = saved;
}

bool tr_sampler_yield(const void *wanted)
{
	uint32_t number = TR_LOAD(sample_signal);

	tr_sampler_catch_up();
	if (!number || sigismember(wanted, (int)number) != 1)
		return true;
	if (!move(wanted))
		return false;
	tr_sampler_catch_up();
	return true;
}

bool tr_sample_is_shared(void)
{
	return TR_LOAD(sample_shared);
}

void tr_sampler_share(void)
{
	struct tr_followed *self = tr_sampler_self();

	TR_STORE(sample_shared, 1);
	if (!self || !TR_LOAD(self->event) ||
	    !tr_followed_become(self, TR_FOLLOWED_READY, TR_FOLLOWED_TAKING))
		return;
	tr_sample_clock_disarm(self);
	(void)tr_sample_clock_arm(self, tr_thread_id());
	(void)tr_followed_become(self, TR_FOLLOWED_TAKING, TR_FOLLOWED_READY);
}

/* ---- the host's mask --------------------------------------------------- */

/* A vfork child has its own flag, in its parent's memory. */
static bool *blocks_here(void)
{
	uint32_t pid = (uint32_t)getpid();

	if (tr_sampler && TR_LOAD(tr_sampler->pid) == pid)
		return &host.blocks;
	if (host.child != pid) {
		host.child = pid;
		host.child_blocks = host.blocks;
	}
	return &host.child_blocks;
}

int tr_sampler_blocked(void)
{
	/* No system call if it is not: the host may be confined (seccomp). */
	if (!host.number || (!host.blocks && !host.child_blocks))
		return 0;
	return *blocks_here() ? (int)host.number : 0;
}

void tr_sampler_set_blocked(bool is_blocked)
{
	if (!host.number)
		host.number = TR_LOAD(sample_signal);
	*blocks_here() = is_blocked;
}

/* ---- signals of others ------------------------------------------------- */

/*
 * A signal of an event that has been closed: its descriptor is gone. A host
 * that uses such signals has a handler, and has the number alone.
 */
static bool is_late_event(int number, const siginfo_t *info)
{
	if (!tr_sampler || !TR_LOAD(tr_sampler->has_events) ||
	    info->si_code < POLL_IN || info->si_code > POLL_HUP)
		return false;
	return TR_LOAD(sample_signal) == (uint32_t)number ||
	       !tr_signal_is_handled(number);
}

bool tr_sampler_pass_on(struct tr_followed *self, int number, void *info,
			void *context)
{
	ucontext_t *from = context;

	if (is_late_event(number, info))
		return false;
	if (!host.blocks || host.number != (uint32_t)number) {
		tr_signal_call_host(number, info, context);
		return false;
	}
	/* The host blocks it: now it is really blocked. */
	if (TR_LOAD(sample_signal) == (uint32_t)number)
		(void)move(NULL);
	if (!catch_up(self, &from->uc_sigmask))
		(void)sigaddset(&from->uc_sigmask, number);
	send_again(number, info);
	return true;
}

void tr_sampler_came_late(struct tr_followed *self, void *context)
{
	ucontext_t *from = context;

	change_number(self, &from->uc_sigmask);
}
