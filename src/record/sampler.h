/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of record/sampler/: stacks of all threads at intervals of CPU time or
 * of wall-clock time.
 *
 * Comes in: a signal to each thread. Goes out: weights of stacks. Called by:
 * record/runtime, and preload for the libc calls that a signal disturbs.
 */
#ifndef TR_RECORD_SAMPLER_H
#define TR_RECORD_SAMPLER_H

#include "ledger/write.h"

/* ---- sampler.c --------------------------------------------------------- */

struct tr_sampler_setup {
	const struct tr_config *config;
	/* Opens the ledger if none is open. Signal-safe. */
	bool (*open)(void);
	/*
	 * The monitor calls tr_sampler_look(), so samples need not. And a
	 * ledger in anonymous memory is useful: the program itself can read
	 * it.
	 */
	bool has_monitor_thread;
	/* More samples at the start of this process; not of its children. */
	bool has_early;
};

/*
 * Samples all threads from now on, the calling one first. Continues in a
 * forked child. False: there is no memory, or no timer.
 */
bool tr_sampler_start(const struct tr_sampler_setup *setup);
/*
 * Takes no samples until it is called again with false. Each thread keeps its
 * time since its last sample for the next one: however short the parts between
 * pauses are, their sum is counted.
 */
void tr_sampler_pause(bool is_paused);
/* No more samples; adds the rest of each thread's CPU time. */
void tr_sampler_stop(void);
/*
 * Adds each thread's time up to now to its stack; sampling continues.
 * Signal-safe.
 */
void tr_sampler_flush(void);
/* Writes the sampling fields of a new ledger's header. */
void tr_sampler_opened(void);
/* Finds threads that did not announce themselves. Signal-safe. */
void tr_sampler_look(void);
/* The calling thread begins, at function `start`; it ends. */
void tr_sampler_thread_begins(const void *start);
void tr_sampler_thread_ends(void);

/* Waits of the calling thread that only a sample interrupted; wraps at 2^32. */
uint32_t tr_sampler_count(void);
/* System calls of this thread that returned a result when a sample came. */
uint32_t tr_sampler_cuts(void);
/* An address of the code that makes those calls; none is detected before. */
void tr_sampler_calls_at(uint64_t code);
/* Opens the ledger now, because it may not be possible later. */
void tr_sampler_settle(void);

/* ---- sampler_signal.c -------------------------------------------------- */

/* The signal that the sampler uses; 0: none. */
int tr_sampler_signal(void);
/* A signal that is free now; 0: there is none. */
int tr_sampler_free(void);
/*
 * Is or was it the sampler's signal? Then the functions below get and set its
 * action.
 */
bool tr_sampler_had(int number);
/*
 * sigaction() of such a signal for the host: the host's action handles the
 * signals that the sampler did not send.
 */
struct sigaction;
void tr_sampler_action(int number, const struct sigaction *action,
		       struct sigaction *ret_before);
/*
 * The host uses these signals (a sigset_t): the sampler takes another one.
 * False: its signal is among them, and no other is free.
 */
bool tr_sampler_yield(const void *wanted);
/*
 * No other signal is free, and the host has an action for the sampler's.
 * Programs that handle all signals make system calls directly (Go), including
 * exec, where a pending signal ends the next program: the kernel drops the
 * pending signals of timers, not of perf events. So perf events are off from
 * now on.
 */
void tr_sampler_share(void);
/* The calling thread's timer or event sends the sampler's present signal. */
void tr_sampler_catch_up(void);
/*
 * The sampler signal that the host wants blocked in this thread; it stays
 * unblocked. 0: none.
 */
int tr_sampler_blocked(void);
void tr_sampler_set_blocked(bool is_blocked);
/*
 * Makes signals for the next program as the host set them; returns the
 * sampler's signals that the host ignores, one bit each. The second call
 * undoes this if exec failed.
 */
uint64_t tr_sampler_before_exec(void);
void tr_sampler_after_exec(uint64_t ignored);
/* Switches the calling thread's perf event off or on. */
void tr_sampler_hold(bool is_held);

#endif
