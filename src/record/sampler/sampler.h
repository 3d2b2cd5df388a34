/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shared by the files of the sampler: the followed threads, and the clock of
 * each of them.
 */
#ifndef TR_RECORD_SAMPLER_SAMPLER_H
#define TR_RECORD_SAMPLER_SAMPLER_H

#include <signal.h>

#include "record/sampler.h"
#include "record/unwind.h"


/* A thread with a timer. In memory that forks wipe. */
struct tr_followed {
	uint32_t thread; /* 0: free, TR_FOLLOWED_ENDING, TR_FOLLOWED_GONE */
	uint32_t state;	 /* TR_FOLLOWED_FILLING to TR_FOLLOWED_LEFT */
	int32_t timer;	 /* the kernel's timer id + 1; 0: none */
	int32_t event;	 /* descriptor of the perf event + 1; 0: none */
	uint64_t event_id;
	uint64_t event_ns; /* the event's period */
	uint64_t began_ns; /* its clock when it was first followed */
	uint64_t last_ns; /* its clock at its last sample */
	uint64_t kept_ns; /* time before a pause: for its next sample */
	uint64_t start;	  /* address of its first function, if known */
	uint32_t stack;	  /* of its last sample; 0: none yet */
	uint32_t count;	  /* waits that a sample interrupted */
	uint32_t was;	  /* the last thread here, after its end */
	uint32_t number;  /* signal that its clock sends */
	uint32_t is_fired; /* the event, since the last timer signal */
	uint32_t cuts;	  /* calls with a result that a sample interrupted */
	uint32_t is_held; /* its event sends nothing: an exec is under way */
};

#define TR_FOLLOWED_ENDING (UINT32_MAX - 1) /* being removed */
#define TR_FOLLOWED_GONE UINT32_MAX	    /* a thread was here */

#define TR_FOLLOWED_FILLING 0u /* by its claimant; also if free */
#define TR_FOLLOWED_READY 1u
#define TR_FOLLOWED_TAKING 2u /* in its handler */
#define TR_FOLLOWED_LEFT 3u   /* removed while being filled */

#define TR_SUSPECTS 64u

/* One per process. In memory that forks wipe. */
struct tr_sampler {
	uint32_t on;
	uint32_t pid;
	uint32_t opened, opening; /* the ledger, by a first sample */
	uint32_t clock;	  /* enum tr_sampling_clock */
	uint32_t size;	  /* of `followed`, a power of two */
	uint32_t live;	  /* threads that are followed */
	uint32_t side;	  /* a thread uses the large stack */
	uint32_t own;	  /* the library's threads at the last look */
	uint32_t events;  /* descriptors in use */
	uint32_t threads; /* followed so far */
	uint32_t unfollowed;
	int64_t start_ns;
	int64_t look_ns;  /* when to look for threads next */
	uint64_t period_ns;
	bool has_monitor_thread;
	uint32_t suspect[TR_SUSPECTS]; /* threads that were not announced */
	uint64_t waiting_ns; /* of ended threads that had no sample */
	uint64_t tick_ns;    /* on which timers fire; 0: at any time */
	uint32_t phase;	     /* of the next thread, see first_period() */
	uint32_t has_events; /* one was opened: its signal may come late */
	uint64_t early_ns;   /* period at the process's start; 0: as usual */
	uint64_t taken_ns;   /* weight of all samples */
	uint32_t early;	     /* signals of events at the start */
	uint32_t early_over; /* the events of the start are closed */
	struct tr_followed followed[];
};

extern struct tr_sampler *tr_sampler;

/* ---- sampler_clock.c --------------------------------------------------- */

/* The best clock available for this rate. */
enum tr_sampling_clock tr_sample_clock_choose(const struct tr_config *config);
/* A timer that sends the signal to its thread; false: none available. */
bool tr_sample_clock_arm(struct tr_followed *followed, uint32_t thread);
void tr_sample_clock_disarm(struct tr_followed *followed);
/*
 * A host may close all descriptors: then a timer replaces the event. In the
 * thread's handler.
 */
bool tr_sample_clock_is_lost(struct tr_followed *followed);
/* After a signal: lets the event send the next one. In the handler. */
void tr_sample_clock_go_on(struct tr_followed *followed, bool is_timer);
/* Closes the thread's event, if any; its timer goes on. */
void tr_sample_clock_close_event(struct tr_followed *followed);
/* Is there room in this user's queue of signals? */
bool tr_sample_clock_has_queue(void);
/* A thread's clock; 0: the thread is gone. */
uint64_t tr_sample_clock_ns(uint32_t thread);
uint64_t tr_sample_clock_own_ns(void);
/* In a child: closes the parent's descriptors. */
void tr_sample_clock_forget(void);

/* ---- sampler_early.c --------------------------------------------------- */

/* The period at the start of a process; 0: none of its own. */
uint64_t tr_sample_early_choose(const struct tr_config *config);
/* The period of events now; 0: the start is over. */
uint64_t tr_sample_early_ns(void);
/* A signal of such an event was handled. */
void tr_sample_early_count(void);
/* When the start is over: closes events of threads that do not run. */
void tr_sample_early_end(void);

/* ---- sampler_threads.c ------------------------------------------------- */

/* False: the state is not `from`. */
static inline bool tr_followed_become(struct tr_followed *followed,
				      uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&followed->state, &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}

/* The followed thread with this id, or NULL. */
struct tr_followed *tr_followed_find(uint32_t thread);
/* Follows a thread; `start`: its first function, 0 if not known. */
struct tr_followed *tr_followed_add(uint32_t thread, uint64_t start);
/*
 * The thread ends, or is gone. Several callers may find this at once, and
 * another thread may be there by then: does nothing unless `thread` still is.
 */
void tr_followed_remove(struct tr_followed *followed, uint32_t thread);
/* Finds threads that came or went unannounced. Signal-safe. */
void tr_followed_look(void);
/* Is it our signal, sent by this thread's timer or event? */
bool tr_followed_sent(const struct tr_followed *followed, const void *info);

/* ---- sampler_action.c -------------------------------------------------- */

extern void (*tr_signal_handler)(int number, siginfo_t *info, void *context);
/* Installs the handler for this signal; the host's action is kept. */
bool tr_signal_install(int number);
/* Does the host have a handler for it? */
bool tr_signal_is_handled(int number);
/* Does what the host's action says; takes a handler's arguments. */
void tr_signal_call_host(int number, siginfo_t *info, void *context);
/* Has the host installed its own handler in place of ours? */
bool tr_sampler_is_replaced(void);

/* ---- sampler_signal.c -------------------------------------------------- */

/* The signal for samples; 0: none is chosen. */
uint32_t tr_sample_number(void);
/* Finds a free signal, and installs this handler. */
bool tr_sampler_choose(void (*handler)(int, siginfo_t *, void *));
/* Does the host have an action for it, too? Then no perf events. */
bool tr_sample_is_shared(void);
/* In a thread that begins to be sampled: unblocks our signal. */
void tr_sampler_unblock(void);
/*
 * Our signal, but not a sample: it is for the host. True: it is blocked, and
 * pending again. In the handler, with its arguments.
 */
bool tr_sampler_pass_on(struct tr_followed *self, int number, void *info,
			void *context);
/* A sample came by a signal that was given up. In the handler. */
void tr_sampler_came_late(struct tr_followed *self, void *context);

/* ---- sampler_host.c ---------------------------------------------------- */

/* Did this sample, and no signal for the host, interrupt a blocking call? */
bool tr_sample_ends_wait(const void *context);
/*
 * Is the previous instruction a system call of libc? The signal of a clock that
 * ran out in the kernel comes when the call returns.
 */
bool tr_sample_is_in_kernel(const void *context);
/* Did it come at the end of a system call that has transferred something? */
bool tr_sample_cuts_call(const void *context);

/* ---- sampler_stack.c --------------------------------------------------- */

/* Maps that stack, unless it is there; false: no memory. Signal-safe. */
bool tr_side_init(void);
/*
 * Runs `call` on a large stack, with the host's signals blocked. False:
 * another thread is using it.
 */
bool tr_side_call(void (*call)(void *arg), void *arg);
/* All signals except those of faults; a sigset_t. */
void tr_sampler_mask(void *ret_set);

/* ---- sampler_take.c ---------------------------------------------------- */

/* Sampling is paused. Not wiped by a fork. */
extern uint32_t tr_sampler_paused;
/* Is the ledger complete, with its table of stacks? */
bool tr_sampler_has_ledger(void);
/* One thread opens the ledger; false: another does, or there is none. */
bool tr_sampler_open(struct tr_followed *followed);
/* Takes a sample of this thread, from a handler's third argument. */
void tr_sampler_take(struct tr_followed *followed, const void *context);
/* Adds the thread's time since its last sample to its last stack. */
void tr_sampler_rest(struct tr_followed *followed, uint32_t thread);
/* Stores CPU time and number of threads in the header. */
void tr_sampler_show_usage(void);

/* ---- sampler.c --------------------------------------------------------- */

/* Not wiped by a fork: a child starts as its parent did. */
extern struct tr_sampler_setup tr_sampling;
/*
 * Of struct tr_unwind_frame, TR_SAMPLE_FRAMES() per thread: one for the
 * kernel, native ones, and as many Python ones. NULL until there is a ledger.
 */
#define TR_SAMPLE_FRAMES(depth) (2 * (depth) + 1)
extern void *tr_sample_frames;
/* The calling thread's entry, if it is followed. */
struct tr_followed *tr_sampler_self(void);

#endif
