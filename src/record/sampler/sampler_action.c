/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's own actions for signals that samples use, or used. The host gets
 * them when it asks, and receives the signals that the sampler did not send.
 */
#include "record/sampler/sampler.h"

#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

static uint64_t sample_used; /* numbers that were ours, one bit each */

void (*tr_signal_handler)(int number, siginfo_t *info, void *context);

static uint64_t bit_of(int number)
{
	return UINT64_C(1) << (number - 1);
}

bool tr_sampler_had(int number)
{
	return number > 0 && number < 65 &&
	       TR_LOAD(sample_used) & bit_of(number);
}

/* ---- the host's actions ------------------------------------------------ */

/*
 * A change is written to an unused copy, then published: a handler may run at
 * any moment, and changes are too rare for its copy to be reused meanwhile.
 */
#define TR_HOST_ACTIONS 256u
static struct sigaction host_action[TR_HOST_ACTIONS];
static uint32_t host_actions;
/* 0: the default. Beside small variables, as tr_config. */
static _Alignas(4) uint32_t host_action_at[65];

static bool is_named(uint32_t at)
{
	for (int number = 1; number < 65; number++)
		if (TR_LOAD(host_action_at[number]) == at)
			return true;
	return false;
}

static bool is_default(const struct sigaction *action)
{
	return action->sa_handler == SIG_DFL && !action->sa_flags &&
	       sigisemptyset(&action->sa_mask);
}

static void keep_action(int number, const struct sigaction *action)
{
	uint32_t at;

	/* Nearly always: one page less in use. */
	if (is_default(action)) {
		if (TR_LOAD(host_action_at[number]))
			TR_PUBLISH(host_action_at[number], 0);
		return;
	}
	do
		at = 1 + TR_ADD(host_actions, 1) % (TR_HOST_ACTIONS - 1);
	while (is_named(at));
	host_action[at] = *action;
	TR_PUBLISH(host_action_at[number], at);
}

static bool is_handler(const struct sigaction *action)
{
	return action->sa_flags & SA_SIGINFO ||
	       (action->sa_handler != SIG_DFL &&
		action->sa_handler != SIG_IGN);
}

/* A signal that was given up gets the flags and mask that the host set. */
static void restore_flags(int number, const struct sigaction *action)
{
	struct sigaction ours;

	if (!is_handler(action) || sigaction(number, NULL, &ours))
		return;
	ours.sa_mask = action->sa_mask;
	ours.sa_flags = (action->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
	(void)sigaction(number, &ours, NULL);
}

void tr_sampler_action(int number, const struct sigaction *action,
		       struct sigaction *ret_before)
{
	struct sigaction before =
		host_action[TR_ACQUIRE(host_action_at[number])];

	if (action) {
		keep_action(number, action);
		if (tr_sample_number() != (uint32_t)number)
			restore_flags(number, action);
	}
	if (ret_before)
		*ret_before = before;
}

/* The default action ends the process, except for SIGURG. */
static void die_of(int number, siginfo_t *info)
{
	struct sigaction none = { .sa_handler = SIG_DFL };
	sigset_t set;

	if (number == SIGURG || sigaction(number, &none, NULL))
		return;
	(void)syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)tr_thread_id(),
		      number, info);
	(void)sigemptyset(&set);
	(void)sigaddset(&set, number);
	(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

/* Calls the host's handler as the kernel would have called it. */
void tr_signal_call_host(int number, siginfo_t *info, void *context)
{
	struct sigaction action =
		host_action[TR_ACQUIRE(host_action_at[number])];
	struct sigaction none = { .sa_handler = SIG_DFL };
	const ucontext_t *from = context;
	sigset_t mask;

	if (!is_handler(&action)) {
		if (action.sa_handler == SIG_DFL)
			die_of(number, info);
		return;
	}
	if (action.sa_flags & (int)SA_RESETHAND)
		tr_sampler_action(number, &none, NULL);
	/* Not our own handler's mask. */
	(void)sigorset(&mask, &from->uc_sigmask, &action.sa_mask);
	if (!(action.sa_flags & (int)SA_NODEFER))
		(void)sigaddset(&mask, number);
	(void)pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
}

bool tr_signal_is_handled(int number)
{
	return is_handler(&host_action[TR_ACQUIRE(host_action_at[number])]);
}

/* ---- our own ----------------------------------------------------------- */

static bool set_ours(int number)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_sigaction = tr_signal_handler;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
	/* The host's handlers run after ours: they may never return. */
	tr_sampler_mask(&action.sa_mask);
	return sigaction(number, &action, NULL) == 0;
}

bool tr_signal_install(int number)
{
	struct sigaction before;

	if (sigaction(number, NULL, &before))
		return false;
	keep_action(number, &before);
	if (!set_ours(number))
		return false;
	(void)__atomic_fetch_or(&sample_used, bit_of(number),
				__ATOMIC_SEQ_CST);
	return true;
}

bool tr_sampler_is_replaced(void)
{
	struct sigaction action;

	return sigaction((int)tr_sample_number(), NULL, &action) == 0 &&
	       is_handler(&action) && action.sa_sigaction != tr_signal_handler;
}

/* ---- exec -------------------------------------------------------------- */

uint64_t tr_sampler_before_exec(void)
{
	uint64_t ignored = 0, used = TR_LOAD(sample_used);

	for (int number = 1; used && number < 65; number++) {
		const struct sigaction *action =
			&host_action[TR_ACQUIRE(host_action_at[number])];
		struct sigaction none = { .sa_handler = SIG_IGN };

		if (used & bit_of(number) && !is_handler(action) &&
		    action->sa_handler == SIG_IGN &&
		    sigaction(number, &none, NULL) == 0)
			ignored |= bit_of(number);
	}
	return ignored;
}

void tr_sampler_after_exec(uint64_t ignored)
{
	for (int number = 1; ignored && number < 65; number++)
		if (ignored & bit_of(number))
			(void)set_ours(number);
}
