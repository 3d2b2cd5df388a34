/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: functions of the host, told by the hooks of -finstrument-functions
 * (preload/hooks.c), as nodes of the call tree that scopes are in.
 *
 * A call that has no time costs a look at the guessed node, one count and
 * three words in its frame. Every instruction here is paid twice by each
 * function of the host, so what is not so simple (another node than guessed,
 * inlined functions, a first call) is done by functions that are called last,
 * and save no registers in the common case.
 *
 * The count is taken when a call begins: a function that never returns, or is
 * left by longjmp or kill, was called all the same. It counts down to the
 * next call that shall have a time, so one subtraction tells that, too.
 * What belongs together (`untimed` and `cell`, `calls` and `sum`) is stored by
 * one instruction, so that a kill finds both or neither.
 *
 * Signals: as at scopes, a handler leaves node and frame as it found them.
 * The fast paths need no mark that the track is busy, and heed none: they add
 * nothing to the log, and change a node's own fields while it is the current
 * one, so what a handler calls is below it, and never the same node.
 */
#ifndef TR_RECORD_PROBE_CALLS_H
#define TR_RECORD_PROBE_CALLS_H

#include "record/probe.h"

/* Used by preload/hooks.c alone, which the two-file build does not have. */
#define TR_HOOK TR_INLINE __attribute__((unused))

struct tr_hooks {
	uint32_t mode; /* enum tr_calls; off: no call is begun */
	uint32_t ends; /* the same, also while calls are paused */
	uint32_t generation;
	const uint32_t *gate; /* 0 behind it: off for now */
};

extern struct tr_hooks tr_hooks __attribute__((visibility("hidden")));

/* One comparison with memory, which an atomic load is not. */
#if defined(__SANITIZE_THREAD__)
#define TR_CALLS_MODE() TR_LOAD(tr_hooks.mode)
#define TR_CALLS_ENDS() TR_LOAD(tr_hooks.ends)
#else
#define TR_CALLS_MODE() (tr_hooks.mode)
#define TR_CALLS_ENDS() (tr_hooks.ends)
#endif

/*
 * Where a hook was called, from the stack pointer there: so the hook itself
 * need not load it. NULL where that is not possible.
 */
TR_INLINE const void *tr_call_here(const void *stack, const void *here)
{
#if defined(__x86_64__)
	return here ? here : ((void *const *)stack)[-1];
#else
	(void)stack;
	return here;
#endif
}

/* Another node than guessed, not called by a function, or inlined. */
void tr_calls_enter_other(void *function, void *site, const void *stack,
			  const void *here);
/* All that can happen. */
void tr_calls_enter_slow(void *function, void *site, const void *stack,
			 const void *here);
/* A call that is due to have a time, if the mode has any. */
void tr_calls_time(struct tr_thread *thread, struct tr_node *node,
		   struct tr_frame *frame);
/* All that can happen. */
void tr_calls_exit_slow(void *function, void *site, const void *stack);
/* The innermost function, with a time; or another. */
void tr_calls_exit_timed(void *function, void *site, const void *stack);

/* One less, in one instruction where there is one; true: that was the last. */
TR_INLINE bool tr_slot_down(uint32_t *slot)
{
#if defined(__x86_64__)
	bool is_zero;

	__asm__ volatile("subl $1, %0" : "+m"(*slot), "=@ccz"(is_zero));
	return is_zero;
#else
	uint32_t left = TR_LOAD(*slot) - 1;

	TR_STORE(*slot, left);
	return !left;
#endif
}

/* What is in `start` of a frame that has no time. */
struct tr_call_origin {
	uint32_t parent; /* node, so that its end need not look it up */
	uint32_t mark;	 /* see tr_call_mark() */
};

/* Tells functions and where they were called from: lower halves of both. */
TR_INLINE uint32_t tr_call_mark(const void *function, const void *site)
{
	return (uint32_t)((uintptr_t)function + (uintptr_t)site);
}

/*
 * A call at one place of one path is nearly always of the same function, so
 * that is where to look first. Not at the child found last: functions that
 * call several others in turn would never find it.
 */
TR_INLINE uint32_t *tr_call_guess(const struct tr_thread *thread,
				  uint32_t parent, const void *site)
{
	/* In bytes; nodes lie on lines, and calls are longer than one. */
	uint32_t at = (parent + (uint32_t)(uintptr_t)site) &
		      (TR_GUESSES - 1) * 4;

	return (void *)((char *)thread->guess + at);
}

/*
 * Only this thread writes what is read plainly here, and the compiler folds
 * such a read into the instruction that needs it.
 */
TR_INLINE void tr_calls_begin(struct tr_thread *thread, struct tr_track *track,
			      uint32_t parent, uint32_t off, uint32_t mark,
			      const void *stack)
{
	struct tr_node *node = tr_node_at(thread, off);
	struct tr_frame *frame = tr_scope_push(thread, track, off);
	struct tr_call_origin *origin = (void *)&frame->start;

	TR_STORE(origin->parent, parent);
	TR_STORE(origin->mark, mark);
	TR_STORE(frame->aside, (uintptr_t)stack);
	if (TR_UNLIKELY(tr_slot_down(&node->cell)))
		tr_calls_time(thread, node, frame);
}

/*
 * `site`: where `function` was called, `stack`: the stack pointer there
 * where it called the hook, `here`: that place, or NULL: see tr_call_here().
 */
TR_HOOK void tr_calls_enter(void *function, void *site, const void *stack,
			    const void *here)
{
	struct tr_thread *thread;
	struct tr_track *track;
	uint32_t parent, off;

	if (TR_LIKELY(!TR_CALLS_MODE()))
		return;
	thread = tr_this_thread();
	track = thread->calls;
	if (TR_UNLIKELY(!track)) {
		tr_calls_enter_slow(function, site, stack, here);
		return;
	}
	parent = track->current;
	off = *tr_call_guess(thread, parent, site);
	/* Above a scope there is any word; then the other way knows better. */
	if (TR_UNLIKELY(tr_node_at(thread, off)->items !=
			(uintptr_t)function) ||
	    TR_UNLIKELY(tr_node_at(thread, off)->parent != parent) ||
	    TR_UNLIKELY(thread->top->aside <= (uintptr_t)stack)) {
		tr_calls_enter_other(function, site, stack, here);
		return;
	}
	tr_calls_begin(thread, track, parent, off, tr_call_mark(function, site),
		       stack);
}

/* The innermost function ends; it is still the current node. */
TR_INLINE void tr_calls_pop(struct tr_thread *thread, struct tr_track *track,
			    uint32_t parent)
{
	struct tr_frame *below = thread->top - 1;

	TR_STORE(track->current, parent);
	TR_FENCE();
	__atomic_store_n(&thread->top, below, TR_OWNER_ORDER);
}

TR_HOOK void tr_calls_exit(void *function, void *site, const void *stack)
{
	const struct tr_call_origin *origin;
	struct tr_track *track;
	struct tr_thread *thread;

	if (TR_LIKELY(!TR_CALLS_ENDS()))
		return;
	thread = tr_this_thread();
	track = thread->calls;
	if (TR_UNLIKELY(!track)) {
		tr_calls_exit_slow(function, site, stack);
		return;
	}
	if (TR_UNLIKELY(thread->top->aside & TR_CALL_TIMED)) {
		tr_calls_exit_timed(function, site, stack);
		return;
	}
	/* A scope's frame has a time there, or a bit that no address has. */
	origin = (const void *)&thread->top->start;
	if (TR_UNLIKELY(origin->mark != tr_call_mark(function, site))) {
		tr_calls_exit_slow(function, site, stack);
		return;
	}
	tr_calls_pop(thread, track, origin->parent);
}

#endif
