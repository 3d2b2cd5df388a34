/* SPDX-License-Identifier: Apache-2.0 */
#include "parts.h"

#include <signal.h>

sigjmp_buf guard_back;

static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE };
#define N_FAULTS (sizeof(faults) / sizeof(faults[0]))
static struct sigaction before[N_FAULTS];

static void come_back(int signal)
{
	(void)signal;
	siglongjmp(guard_back, 1);
}

void guard_begin(void)
{
	struct sigaction action = { .sa_handler = come_back };

	(void)sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < N_FAULTS; i++)
		(void)sigaction(faults[i], &action, &before[i]);
}

void guard_end(void)
{
	for (size_t i = 0; i < N_FAULTS; i++)
		(void)sigaction(faults[i], &before[i], NULL);
}
