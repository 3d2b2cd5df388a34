/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a sample does to the system call that its thread is in: it may
 * interrupt a wait, or end a transfer after part of its bytes.
 */
#include "record/sampler/sampler.h"

#include <errno.h>
#include <signal.h>
#include <ucontext.h>

/* ---- calls that wait --------------------------------------------------- */

/* Result of the system call at which the thread was; 0: there was none. */
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

/* Does the host handle this signal? */
static bool is_handled(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 &&
	       (action.sa_flags & SA_SIGINFO ||
		(action.sa_handler != SIG_DFL &&
		 action.sa_handler != SIG_IGN));
}

/*
 * If a signal for the host came first, the sample interrupted its handler, and
 * not the call. A signal that comes later waits until this handler ends,
 * unless it is blocked outside the call (ppoll() and sigsuspend() unblock it):
 * then it interrupts the next call.
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
		    number != (int)tr_sample_number() && is_handled(number))
			return false;
	return true;
}

static uintptr_t calls_at; /* code of libc; 0: not known */

void tr_sampler_calls_at(uint64_t code)
{
	calls_at = (uintptr_t)code;
}

/* Only libc's code is known to be readable: other code may be execute-only. */
static bool is_of_libc(uintptr_t pc)
{
	const uintptr_t reach = 2u << 20;

	return calls_at && pc % 4096 >= 4 && pc - calls_at + reach < 2 * reach;
}

bool tr_sample_is_in_kernel(const void *context)
{
	const ucontext_t *from = context;
#if defined(__x86_64__)
	uintptr_t pc = (uintptr_t)from->uc_mcontext.gregs[REG_RIP];
	const unsigned char *code = (const void *)pc;

	return is_of_libc(pc) && code[-2] == 0x0f && code[-1] == 0x05;
#elif defined(__aarch64__)
	uintptr_t pc = (uintptr_t)from->uc_mcontext.pc;
	const uint32_t *code = (const void *)pc;

	return is_of_libc(pc) && code[-1] == 0xd4000001u;
#else
	(void)from;
	return false;
#endif
}

bool tr_sample_cuts_call(const void *context)
{
	return result_of(context) > 0 && tr_sample_is_in_kernel(context);
}
