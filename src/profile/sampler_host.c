/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's own action for the signal that samples come by. It has one, is
 * told of it when it asks, and gets the signals that others send.
 */
#include "profile/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

/*
 * Written to a copy that is not in use, then named: a handler may come at any
 * moment, and changes are far too rare to catch up with it.
 */
#define TR_HOST_ACTIONS 16u
static struct sigaction host_action[TR_HOST_ACTIONS];
static uint32_t host_actions, host_action_at;

void tr_sampler_action(const struct sigaction *action,
		       struct sigaction *ret_before)
{
	struct sigaction before = host_action[TR_ACQUIRE(host_action_at)];
	uint32_t at;

	if (action) {
		at = (TR_ADD(host_actions, 1) + 1) % TR_HOST_ACTIONS;
		host_action[at] = *action;
		TR_PUBLISH(host_action_at, at);
	}
	if (ret_before)
		*ret_before = before;
}

/* As the kernel would have called it. */
void tr_sampler_call_host(int number, void *info, void *context)
{
	struct sigaction action = host_action[TR_ACQUIRE(host_action_at)];
	struct sigaction none = { .sa_handler = SIG_DFL };
	const ucontext_t *from = context;
	sigset_t mask;

	if (!(action.sa_flags & SA_SIGINFO) &&
	    (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN))
		return;
	if (action.sa_flags & (int)SA_RESETHAND)
		tr_sampler_action(&none, NULL);
	/* Not the one that our own handler has. */
	(void)sigorset(&mask, &from->uc_sigmask, &action.sa_mask);
	if (!(action.sa_flags & (int)SA_NODEFER))
		(void)sigaddset(&mask, number);
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

/* ---- calls that wait --------------------------------------------------- */

/* What the call where the thread was gave; 0: it was in none. */
static int64_t result_of(const ucontext_t *from)
{
#if defined(__x86_64__)
	return from->uc_mcontext.gregs[REG_RAX];
#elif defined(__aarch64__)
	return (int64_t)from->uc_mcontext.regs[0];
#else
	(void)from;
	return -EINTR;
#endif
}

/* Does the host do something at this signal? */
static bool is_handled(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 &&
	       (action.sa_flags & SA_SIGINFO ||
		(action.sa_handler != SIG_DFL &&
		 action.sa_handler != SIG_IGN));
}

/*
 * Where a signal of the host's came first, its handler is what this one came
 * in at, and not the call. One that comes after waits until this ends, unless
 * it is blocked where the call was (as with ppoll() and sigsuspend(), which
 * let it in): then it ends the next call.
 */
bool tr_sample_ends_wait(const void *context)
{
	const ucontext_t *from = context;
	sigset_t pending;

	if (result_of(from) != -EINTR || sigpending(&pending))
		return false;
	for (int number = 1; number <= SIGRTMAX; number++)
		if (sigismember(&pending, number) == 1 &&
		    sigismember(&from->uc_sigmask, number) != 1 &&
		    number != TR_SAMPLE_SIGNAL && is_handled(number))
			return false;
	return true;
}

static uintptr_t calls_at; /* code of libc; 0: not known */

void tr_sampler_calls_at(uint64_t code)
{
	calls_at = (uintptr_t)code;
}

/* Code that may be read: any other may be for execution only. */
static bool is_of_libc(uintptr_t pc)
{
	const uintptr_t reach = 2u << 20;

	return calls_at && pc % 4096 >= 4 && pc - calls_at + reach < 2 * reach;
}

/* The instruction before is that of a system call. */
bool tr_sample_cuts_call(const void *context)
{
	const ucontext_t *from = context;
#if defined(__x86_64__)
	uintptr_t pc = (uintptr_t)from->uc_mcontext.gregs[REG_RIP];
	const unsigned char *code = (const void *)pc;

	return result_of(from) > 0 && is_of_libc(pc) && code[-2] == 0x0f &&
	       code[-1] == 0x05;
#elif defined(__aarch64__)
	uintptr_t pc = (uintptr_t)from->uc_mcontext.pc;
	const uint32_t *code = (const void *)pc;

	return result_of(from) > 0 && is_of_libc(pc) &&
	       code[-1] == 0xd4000001u;
#else
	(void)from;
	return false;
#endif
}
