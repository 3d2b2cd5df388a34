/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Guard: a truncated ledger must not end the host.
 *
 * A store into a page that the file no longer has raises SIGBUS. If its
 * address is inside our mapping, a new ledger replaces the old one and the
 * store is repeated. Any other SIGBUS goes to the handler that was installed
 * before, or to the default: a fault happens again, a signal sent by a process
 * is sent again.
 *
 * A host that installs its own handler later replaces ours, as it should.
 */
#include "record/runtime.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct sigaction before;
static bool installed;

static bool is_ours(const void *address)
{
	uint64_t at = (uint64_t)(uintptr_t)address, base;

	if (!tr_ledger || !TR_LOAD(tr_ledger->ready))
		return false;
	/*
	 * Not tr_ledger->base: it changes while a thread replaces the ledger.
	 */
	base = tr_ledger->saved_header.base_address;
	return base && at - base < tr_ledger->map_bytes;
}

/* No room for a new file: plain memory, for the rest of the run. */
static bool go_on_in_memory(void)
{
	void *at = mmap(tr_ledger->base, tr_ledger->map_bytes,
			PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED |
				MAP_NORESERVE,
			-1, 0);

	if (at == MAP_FAILED)
		return false;
	TR_STORE(tr_ledger->control->enabled, 0);
	tr_control_bump(tr_ledger->control);
	return true;
}

/*
 * A memory error found by the kernel (BUS_MCEERR_AO) is not an access of this
 * thread.
 */
static bool is_fault(const siginfo_t *info)
{
	return info->si_code > 0 && info->si_code != BUS_MCEERR_AO;
}

/* Sends it to this thread, in which it is not blocked: SA_NODEFER. */
static void send_again(int signal, siginfo_t *info)
{
	int saved = errno;

	if (syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)tr_thread_id(),
		    signal, info))
		(void)raise(signal);
	errno = saved;
}

static void pass_on(int signal, siginfo_t *info, void *context)
{
	if (before.sa_flags & SA_SIGINFO) {
		before.sa_sigaction(signal, info, context);
		return;
	}
	if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
		before.sa_handler(signal);
		return;
	}
	if (!is_fault(info) && before.sa_handler == SIG_IGN)
		return;
	/*
	 * The default acts at the repeated access, with the host's own stack.
	 */
	(void)sigaction(SIGBUS, &before, NULL);
	if (!is_fault(info))
		send_again(signal, info);
}

static void on_bus_error(int signal, siginfo_t *info, void *context)
{
	if (is_fault(info) && is_ours(info->si_addr) &&
	    (tr_ledger_replace() || go_on_in_memory()))
		return;
	pass_on(signal, info, context);
}

void tr_guard_install(void)
{
	struct sigaction action;

	if (installed)
		return;
	memset(&action, 0, sizeof(action));
	action.sa_sigaction = on_bus_error;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
	(void)sigemptyset(&action.sa_mask);
	installed = sigaction(SIGBUS, &action, &before) == 0;
}
