/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stack for long work: a handler may run on a stack of 8 KiB, half of which
 * the kernel takes, and threads may have 16 KiB. Opening a ledger takes more.
 * So opening, and the search for threads, run on a stack of our own.
 *
 * One thread at a time. The host's signals are blocked meanwhile: a handler
 * might never return. Signals of faults are not blocked (see runtime/guard.c).
 * They would start at the top of the thread's signal stack, over the handler
 * that called this: so that stack is disabled meanwhile.
 */
#include "record/sampler/sampler.h"

#include <signal.h>

#define TR_SIDE_BYTES 65536u

static void *side_stack;

bool tr_side_init(void)
{
	return tr_memory_map_once(&side_stack, TR_SIDE_BYTES);
}

void tr_sampler_mask(void *ret_set)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL,
				      SIGTRAP, SIGSYS, SIGABRT };
	sigset_t *set = ret_set;

	(void)sigfillset(set);
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		(void)sigdelset(set, faults[i]);
}

struct side_call {
	void (*call)(void *arg);
	void *arg;
};

static void call_there(void *arg)
{
	const struct side_call *what = arg;
	stack_t none = { .ss_flags = SS_DISABLE }, before;
	bool is_off = sigaltstack(&none, &before) == 0;

	what->call(what->arg);
	if (is_off && !(before.ss_flags & SS_DISABLE))
		(void)sigaltstack(&before, NULL);
}

#if defined(__has_attribute)
#if __has_attribute(noipa)
#define TR_SIDE_OPAQUE __attribute__((noipa))
#endif
#endif
#ifndef TR_SIDE_OPAQUE
#define TR_SIDE_OPAQUE
#endif

/* With a frame pointer, so that a debugger can unwind. */
static TR_NOINLINE TR_SIDE_OPAQUE void switch_stack(void (*call)(void *),
						    void *arg, char *top)
{
	__asm__ volatile("" : : "r"(__builtin_frame_address(0)));
#if defined(__x86_64__)
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "call *%[call]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(arg), [call] "+a"(call), [top] "+d"(top)
			 :
			 : "rbx", "rcx", "rsi", "r8", "r9", "r10", "r11",
			   "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5",
			   "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
			   "xmm12", "xmm13", "xmm14", "xmm15", "cc",
			   "memory");
#elif defined(__aarch64__)
	register void *x0 __asm__("x0") = arg;

	__asm__ volatile("mov x19, sp\n\t"
			 "mov sp, %[top]\n\t"
			 "blr %[call]\n\t"
			 "mov sp, x19"
			 : "+r"(x0)
			 : [call] "r"(call), [top] "r"(top)
			 : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8",
			   "x9", "x10", "x11", "x12", "x13", "x14", "x15",
			   "x16", "x17", "x19", "x30", "v0", "v1", "v2", "v3",
			   "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19",
			   "v20", "v21", "v22", "v23", "v24", "v25", "v26",
			   "v27", "v28", "v29", "v30", "v31", "cc", "memory");
#else
	(void)top;
	call(arg);
#endif
}

bool tr_side_call(void (*call)(void *arg), void *arg)
{
	struct side_call what = { call, arg };
	sigset_t all, before;

	/* Signals that the host blocks stay blocked: one may be pending. */
	tr_sampler_mask(&all);
	(void)pthread_sigmask(SIG_BLOCK, &all, &before);
	if (__atomic_exchange_n(&tr_sampler->side, 1, __ATOMIC_ACQUIRE)) {
		(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
		return false;
	}
	switch_stack(call_there, &what, (char *)side_stack + TR_SIDE_BYTES);
	TR_PUBLISH(tr_sampler->side, 0);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return true;
}
