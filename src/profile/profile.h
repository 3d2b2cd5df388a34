/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of profile/: what a program does without probes. Modules and stacks
 * in the ledger, the sampler, the books of allocations.
 */
#ifndef TR_PROFILE_H
#define TR_PROFILE_H

#include "ledger/ledger.h"
#include "unwind/unwind.h"

/* ---- profile.c --------------------------------------------------------- */

/*
 * Prepares what the options ask for. After the ledger is opened: at the
 * start of a process, or at a forked child's first event, which may be in a
 * signal handler.
 */
void tr_profile_start(const struct tr_config *config);
/* Before there is a ledger: then the above may be in a handler. */
void tr_profile_prepare(const struct tr_config *config);

/* ---- modules.c --------------------------------------------------------- */

/*
 * Brings the ledger's table of modules up to date. At the start, after
 * dlopen and dlclose, now and then. Not for signal handlers.
 */
void tr_modules_look(void);
/*
 * The same of those that are known, where the ledger is a new one: without
 * the dynamic linker. Signal-safe.
 */
void tr_modules_repeat(void);
/*
 * The same without the dynamic linker's lock, of those that are wanted
 * (tr_unwind_wants_look()). True: some came or went. One that finds nothing
 * makes the next wait twice as long, up to 2 s: code may lie in no module at
 * all. Signal-safe.
 */
bool tr_modules_look_here(void);
/* Looks so if this address is in no module. Signal-safe. */
void tr_modules_know(uint64_t address);
/* Before there is a ledger. Not for signal handlers. */
void tr_modules_learn(void);

/* ---- stacks.c ---------------------------------------------------------- */

/* Memory for the table; at the start. False: none, all stacks are lost. */
bool tr_stacks_init(void);

/*
 * Number of the stack (place of its innermost frame in the ledger's region),
 * found or made. Frames innermost first. TR_STACK_LOST where there is no
 * room, and counted. Any thread, signal-safe, no lock.
 */
uint32_t tr_stack_intern(const struct tr_unwind_frame *frames, uint32_t n,
			 bool is_whole, bool is_exact);

/* Its node, or NULL. */
struct tr_stack *tr_stack_at(uint32_t number);

/* ---- alloc.c ----------------------------------------------------------- */

/*
 * The books of allocations, if the options ask for them. At the start and in
 * a child; after tr_stacks_init(). False: they are off.
 */
bool tr_alloc_start(const struct tr_config *config);
/*
 * From now on the first event opens them: by `open`, which opens the ledger,
 * if there is none yet, and is signal-safe. Also in a forked child.
 */
void tr_alloc_prepare(const struct tr_config *config, bool (*open)(void));
/* Nothing is noted any more. */
void tr_alloc_halt(void);
bool tr_alloc_is_on(void);
/* enum tr_heap_mode; 0: no books are wanted. Stays in a child. */
extern uint32_t tr_alloc_mode;

/*
 * A block came, of an even address. For the last call of an allocator, which
 * returns what it gives back, the block: the stack is that of its caller, and
 * the allocator itself is not on it. Any thread, signal-safe.
 */
void *tr_alloc_added(void *block, size_t size);
/* The same with nothing known but the caller. */
void tr_alloc_added_at(const void *block, size_t size, uint64_t pc);
/* It goes. Before it does: its address may come again at once. */
void tr_alloc_removed(const void *block);

/* Called at each that is noted, with its bytes; NULL: no caller asks. */
extern void (*tr_alloc_seen)(uint64_t bytes);

/* The same in steps, for realloc: taken out, and then gone or kept. */
struct tr_alloc_taken {
	uint64_t key, what;
	bool is_known, is_aside;
};
void tr_alloc_take(const void *block, struct tr_alloc_taken *ret_taken);
void tr_alloc_gone(const struct tr_alloc_taken *taken);
void tr_alloc_kept(const struct tr_alloc_taken *taken);

/*
 * Sampled: take the size off tr_alloc_left; below 0, tr_alloc_sampled(). A
 * block is to be removed only if its place in the filter is not 0.
 */
#define TR_ALLOC_FILTER 65536u
extern __thread int64_t tr_alloc_left
#if !defined(TARE_TLS_DYNAMIC)
	__attribute__((tls_model("initial-exec"), visibility("hidden")));
#else
	__attribute__((visibility("hidden")));
#endif
extern uint8_t tr_alloc_filter[TR_ALLOC_FILTER];
void *tr_alloc_sampled(void *block, size_t size);

TR_INLINE uint32_t tr_alloc_filter_of(uint64_t key)
{
	return (uint32_t)((key >> 4) * UINT64_C(0x9E3779B97F4A7C15) >> 48);
}
/* ---- alloc_map.c ------------------------------------------------------- */

/* The program maps memory itself, and that is to be noted. */
extern bool tr_alloc_maps;
/* It did; the caller's caller is noted. */
void tr_alloc_map(const void *at, size_t n);
/* It will unmap all or a part of what it mapped, or did. True: was noted. */
bool tr_alloc_unmap(const void *at, size_t n);

/* ---- snapshot.c -------------------------------------------------------- */

/*
 * Which stack has more live bytes than at the last tr_alloc_mark(), and most
 * so? False: none, or the books are off. One thread at a time.
 */
struct tr_alloc_growth {
	uint32_t stack;
	uint64_t bytes;
};
void tr_alloc_mark(void);
bool tr_alloc_growth(struct tr_alloc_growth *ret_growth);

/* ---- sampler.c --------------------------------------------------------- */

struct tr_sampler_setup {
	const struct tr_config *config;
	/* Opens the ledger, if there is none yet. Signal-safe. */
	bool (*open)(void);
	/* Somebody else calls tr_sampler_look(): samples need not. And what
	 * finds no place in a folder is of use to the program itself. */
	bool is_looked_after;
};

/*
 * Samples all threads from now on, the calling one first. In a child of fork
 * it goes on by itself. False: there is no memory, or no timer.
 */
bool tr_sampler_start(const struct tr_sampler_setup *setup);
/*
 * None until it is called again with false. Of each thread, the time that has
 * no sample yet is kept for its next one: however short the parts between two
 * pauses are, all of them together are booked.
 */
void tr_sampler_pause(bool is_paused);
/* No more samples; what is left of each thread's time is booked. */
void tr_sampler_stop(void);
/* Books each thread's time up to now; all goes on. Signal-safe. */
void tr_sampler_book(void);
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
