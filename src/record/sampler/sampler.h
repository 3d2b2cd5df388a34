/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the sampler share: the threads that are followed, and the
 * clock that each of them has.
 */
#ifndef TR_RECORD_SAMPLER_SAMPLER_H
#define TR_RECORD_SAMPLER_SAMPLER_H

#include <signal.h>

#include "record/sampler.h"
#include "record/unwind.h"


/* A thread that has a timer. In memory that forks wipe. */
struct tr_followed {
	uint32_t thread; /* 0: free, TR_FOLLOWED_ENDING, TR_FOLLOWED_GONE */
	uint32_t state;	 /* TR_FOLLOWED_FILLING to TR_FOLLOWED_LEFT */
	int32_t timer;	 /* the kernel's number of it + 1; 0: none */
	int32_t event;	 /* descriptor of the perf event + 1; 0: none */
	uint64_t event_id;
	uint64_t last_ns; /* what its clock said at its last sample */
	uint64_t kept_ns; /* of the time before a pause: for its next sample */
	uint64_t start;	  /* address of its first function, where known */
	uint32_t stack;	  /* of its last sample; 0: none yet */
	uint32_t count;	  /* waits that a sample ended */
	uint32_t was;	  /* the last thread here, when it is gone */
	uint32_t number;  /* signal that its clock sends */
	uint32_t is_fired; /* the event, since the timer beside it */
	uint32_t cuts;	  /* calls with a result that a sample ended */
};

#define TR_FOLLOWED_ENDING (UINT32_MAX - 1) /* being taken out */
#define TR_FOLLOWED_GONE UINT32_MAX	    /* a thread was here */

#define TR_FOLLOWED_FILLING 0u /* by its claimant; also of what is free */
#define TR_FOLLOWED_READY 1u
#define TR_FOLLOWED_TAKING 2u /* in its handler */
#define TR_FOLLOWED_LEFT 3u   /* taken out while it is filled */

#define TR_SUSPECTS 64u

/* One a process. In memory that forks wipe. */
struct tr_sampler {
	uint32_t on;
	uint32_t pid;
	uint32_t opened, opening; /* the ledger, by a first sample */
	uint32_t clock;	  /* enum tr_sampling_clock */
	uint32_t size;	  /* of `followed`, a power of two */
	uint32_t live;	  /* threads that are followed */
	uint32_t side;	  /* a thread is on the stack for what is long */
	uint32_t own;	  /* of the library, seen at the last look */
	uint32_t events;  /* descriptors in use */
	uint32_t threads; /* that ever were followed */
	uint32_t unfollowed;
	int64_t start_ns;
	int64_t look_ns;  /* when to look for others next */
	uint64_t period_ns;
	bool has_monitor_thread;
	uint32_t suspect[TR_SUSPECTS]; /* threads that were not reported */
	uint64_t waiting_ns; /* of short threads, until there is a ledger */
	struct tr_followed followed[];
};

extern struct tr_sampler *tr_sampler;

/* ---- sampler_clock.c --------------------------------------------------- */

/* What can be had for this rate. */
enum tr_sampling_clock tr_sample_clock_choose(const struct tr_config *config);
/* A timer that sends the signal to its thread; false: there is none. */
bool tr_sample_clock_arm(struct tr_followed *followed, uint32_t thread);
void tr_sample_clock_disarm(struct tr_followed *followed);
/*
 * A host may close all descriptors: then a timer takes the event's place. In
 * the thread's handler.
 */
bool tr_sample_clock_is_lost(struct tr_followed *followed);
/* After a signal: the event may send the next one. In the handler. */
void tr_sample_clock_go_on(struct tr_followed *followed, bool is_timer);
/* What a thread's clock says; 0: the thread is gone. */
uint64_t tr_sample_clock_ns(uint32_t thread);
uint64_t tr_sample_clock_own_ns(void);
/* In a child: the parent's descriptors. */
void tr_sample_clock_forget(void);

/* ---- sampler_threads.c ------------------------------------------------- */

/* False: it is not `from`. */
static inline bool tr_followed_become(struct tr_followed *followed,
				      uint32_t from, uint32_t to)
{
	return __atomic_compare_exchange_n(&followed->state, &from, to, false,
					   __ATOMIC_SEQ_CST, __ATOMIC_ACQUIRE);
}

/* That of this thread id, or NULL. */
struct tr_followed *tr_followed_find(uint32_t thread);
/* Follows a thread; `start`: its first function, 0 if not known. */
struct tr_followed *tr_followed_add(uint32_t thread, uint64_t start);
/*
 * That thread ends, or is gone. Several may find out at once, and another
 * thread may be there by then: it does nothing unless `thread` still is.
 */
void tr_followed_remove(struct tr_followed *followed, uint32_t thread);
/* Threads that came and went by themselves. Signal-safe. */
void tr_followed_look(void);
/* Is our signal, sent by this thread's timer? */
bool tr_followed_sent(const struct tr_followed *followed, const void *info);

/* ---- sampler_action.c -------------------------------------------------- */

extern void (*tr_signal_handler)(int number, siginfo_t *info, void *context);
/* That handler at this number; what the host had there is kept. */
bool tr_signal_install(int number);
/* Has the host a handler there? */
bool tr_signal_is_handled(int number);
/* What the host wants done; arguments of a handler. */
void tr_signal_call_host(int number, siginfo_t *info, void *context);
/* The host has installed a handler of its own in our place. */
bool tr_sampler_is_replaced(void);

/* ---- sampler_signal.c -------------------------------------------------- */

/* The signal of samples; 0: none is chosen. */
uint32_t tr_sample_number(void);
/* Finds one that is free, and installs this handler. */
bool tr_sampler_choose(void (*handler)(int, siginfo_t *, void *));
/* Has the host an action for it, too? Then no event of the kernel's. */
bool tr_sample_is_shared(void);
/* In a thread that begins to be sampled: ours is not blocked. */
void tr_sampler_unblock(void);
/*
 * A signal of ours that is no sample: for the host. True: it is blocked, and
 * pending again. In the handler, with its arguments.
 */
bool tr_sampler_pass_on(struct tr_followed *self, int number, void *info,
			void *context);
/* A sample came by a number that was given up. In the handler. */
void tr_sampler_came_late(struct tr_followed *self, void *context);

/* ---- sampler_host.c ---------------------------------------------------- */

/* Has this sample, and no signal of the host's, ended a call that waits? */
bool tr_sample_ends_wait(const void *context);
/* Did it come at the end of a system call that has done something? */
bool tr_sample_cuts_call(const void *context);

/* ---- sampler_stack.c --------------------------------------------------- */

bool tr_side_init(void);
/*
 * On a stack that is large, without signals of the host's. False: somebody
 * else is there.
 */
bool tr_side_call(void (*call)(void *arg), void *arg);
/* All signals but those of faults; a sigset_t. */
void tr_sampler_mask(void *ret_set);

/* ---- sampler_take.c ---------------------------------------------------- */

/* No samples for now. Not wiped by a fork. */
extern uint32_t tr_sampler_paused;
/* Complete: with its table of stacks. */
bool tr_sampler_has_ledger(void);
/* One opens it; false: another does, or there is none. */
bool tr_sampler_open(struct tr_followed *followed);
/* Of this thread, from a handler's third argument. */
void tr_sampler_take(struct tr_followed *followed, const void *context);
/* Books that thread's time since its last sample to the stack it had. */
void tr_sampler_rest(struct tr_followed *followed, uint32_t thread);
/* CPU time and threads so far, in the header. */
void tr_sampler_show_usage(void);

/* ---- sampler.c --------------------------------------------------------- */

/* Not wiped by a fork: a child starts as its parent did. */
extern struct tr_sampler_setup tr_sampling;
extern struct tr_unwind_frame *tr_sample_frames; /* stack_depth a thread */
/* The calling thread, where it is followed. */
struct tr_followed *tr_sampler_self(void);

#endif
