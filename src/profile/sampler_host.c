/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's own action for the signal that samples come by. It has one, is
 * told of it when it asks, and gets the signals that others send.
 */
#include "profile/sampler.h"

#include <pthread.h>
#include <signal.h>

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
	sigset_t before;

	if (!(action.sa_flags & SA_SIGINFO) &&
	    (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN))
		return;
	if (action.sa_flags & (int)SA_RESETHAND)
		tr_sampler_action(&none, NULL);
	(void)pthread_sigmask(SIG_BLOCK, &action.sa_mask, &before);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(number, info, context);
	else
		action.sa_handler(number);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}
