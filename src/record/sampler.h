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
	/* Opens the ledger, if there is none yet. Signal-safe. */
	bool (*open)(void);
	/* The monitor calls tr_sampler_look(): samples need not. And what
	 * finds no place in a folder is of use to the program itself. */
	bool has_monitor_thread;
};

/*
 * Samples all threads from now on, the calling one first. In a child of fork
 * it goes on by itself. False: there is no memory, or no timer.
 */
bool tr_sampler_start(const struct tr_sampler_setup *setup);
/*
 * None until it is called again with false. Of each thread, the time that has
 * no sample yet is kept for its next one: however short the parts between two
 * pauses are, all of them together are counted.
 */
void tr_sampler_pause(bool is_paused);
/* No more samples; adds the rest of each thread's CPU time. */
void tr_sampler_stop(void);
/* Books each thread's time up to now; all goes on. Signal-safe. */
void tr_sampler_flush(void);
/* A new ledger is there: what its header says of samples. */
void tr_sampler_opened(void);
/* Follows threads that came without a word. Signal-safe. */
void tr_sampler_look(void);
/* The calling thread begins, at that function, and ends. */
void tr_sampler_thread_begins(const void *start);
void tr_sampler_thread_ends(void);

/* Waits of the calling thread that a sample alone ended, in 32 bits. */
uint32_t tr_sampler_count(void);
/* System calls of this thread at whose end, with a result, a sample came. */
uint32_t tr_sampler_cuts(void);
/* An address of the code that makes those calls; before, none is seen. */
void tr_sampler_calls_at(uint64_t code);
/* Opens the ledger now: later it may not be possible. */
void tr_sampler_settle(void);

/* ---- sampler_signal.c -------------------------------------------------- */

/* The signal that is ours; 0: none is. */
int tr_sampler_signal(void);
/* One that is free now; 0: there is none. */
int tr_sampler_free(void);
/* Is ours, or was: its action is to be asked for and set here. */
bool tr_sampler_had(int number);
/*
 * sigaction() of such a signal, for the host: it has an action of its own, for
 * those that do not come from us.
 */
struct sigaction;
void tr_sampler_action(int number, const struct sigaction *action,
		       struct sigaction *ret_before);
/*
 * The host wants these (a sigset_t): another one becomes ours. False: it is
 * one of them, and there is no other.
 */
bool tr_sampler_yield(const void *wanted);
/*
 * There is no other, and the host has an action for it. Programs that take all
 * signals make system calls of their own (Go), also exec, where a signal that
 * is pending ends the next program: the kernel forgets those of timers, not
 * those of events. So there are no events from now on.
 */
void tr_sampler_share(void);
/* The calling thread's clock sends the one that is ours now. */
void tr_sampler_catch_up(void);
/* The one of ours that the host blocks in this thread, and that is not. */
int tr_sampler_blocked(void);
void tr_sampler_set_blocked(bool is_blocked);
/*
 * What the next program inherits is as the host wants it: signals of ours that
 * it ignores, a bit each. Then, where there is no next program, as before.
 */
uint64_t tr_sampler_before_exec(void);
void tr_sampler_after_exec(uint64_t ignored);
/* The calling thread's event is off, on. */
void tr_sampler_hold(bool is_held);

#endif
