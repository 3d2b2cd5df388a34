/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Context: may a thread be created here?
 *
 * pthread_create() takes locks and calls malloc. A probe may run in a signal
 * handler that interrupted malloc, in the program's own malloc, or in a child
 * that was forked without libc's knowledge while another thread held a lock.
 * In all of these it could block for ever.
 *
 * A handler cannot be detected, but the kernel blocks a signal while its
 * handler runs. So the test is: no signal is blocked that has a handler, none
 * of those that crash handlers use, and no other handler has SA_NODEFER. About
 * 130 system calls, 15 us, only while a thread is needed and there is none.
 */
#include "record/monitor.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <unistd.h>

static bool has_own_malloc; /* the program has its own malloc */
static pid_t known;	    /* process whose libc locks are valid */

/* Weak: a program without dynamic loading has no other malloc. */
#pragma weak dladdr

static void know_child(void)
{
	known = getpid();
}

/* A sanitizer's malloc is inside the program; it contains no probes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TR_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TR_SANITIZED 1
#endif
#endif

#ifndef TR_SANITIZED
/*
 * Is the address in a segment of the program? From its headers in memory:
 * dladdr() searches a table of symbols, which takes 40 us.
 */
static bool is_in_program(uintptr_t address)
{
	const ElfW(Phdr) *part = (const void *)getauxval(AT_PHDR);
	unsigned long n = part ? getauxval(AT_PHNUM) : 0;
	uintptr_t bias = 0;

	for (unsigned long i = 0; i < n; i++)
		if (part[i].p_type == PT_PHDR)
			bias = (uintptr_t)part - part[i].p_vaddr;
	for (unsigned long i = 0; i < n; i++)
		if (part[i].p_type == PT_LOAD &&
		    address - bias - part[i].p_vaddr < part[i].p_memsz)
			return true;
	return false;
}
#endif

static bool malloc_is_in_program(void)
{
#ifndef TR_SANITIZED
	/* A function pointer is the definition that calls use. */
	return dladdr && is_in_program((uintptr_t)&calloc);
#else
	return false;
#endif
}

void tr_context_init(void)
{
	has_own_malloc = malloc_is_in_program();
	known = getpid();
	(void)pthread_atfork(NULL, NULL, know_child);
}

static bool crashes(int signal)
{
	return signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT ||
	       signal == SIGFPE || signal == SIGILL || signal == SIGTRAP;
}

/* Could this thread be in the handler of that signal? */
static bool may_be_in(int signal, const sigset_t *blocked)
{
	bool is_blocked = sigismember(blocked, signal) == 1;
	struct sigaction now;

	if (sigaction(signal, NULL, &now))
		return false; /* libc's own */
	/*
	 * A crash handler may have removed itself. SA_NODEFER is no sign of
	 * one: our own guard uses it.
	 */
	if (crashes(signal))
		return is_blocked;
	if (!(now.sa_flags & SA_SIGINFO) &&
	    (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN))
		return false;
	return is_blocked || now.sa_flags & SA_NODEFER;
}

bool tr_context_is_normal(void)
{
	sigset_t blocked;

	if (has_own_malloc || known != getpid() ||
	    pthread_sigmask(SIG_BLOCK, NULL, &blocked))
		return false;
	for (int signal = 1; signal <= SIGRTMAX; signal++)
		if (may_be_in(signal, &blocked))
			return false;
	return true;
}
