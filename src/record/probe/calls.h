/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: functions of the host, reported by the hooks of
 * -finstrument-functions (preload/hooks.c), as nodes of the same call tree as
 * scopes.
 *
 * An untimed call costs a look-up of the guessed node, one count and three
 * words in its frame. Each function of the host executes every instruction
 * here twice, so less common cases (another node than guessed, inlined
 * functions, a first call) are in functions that are tail-called, and the
 * common case saves no registers.
 *
 * The count changes when a call begins: a function that never returns, or is
 * left by longjmp or kill, was called nevertheless. It counts down to the next
 * timed call, so that one subtraction also decides this. Words that belong
 * together (`untimed` and `cell`, `calls` and `sum`) are stored by one
 * instruction, so that a kill leaves both or neither.
 *
 * Signals: as with scopes, a handler leaves node and frame as it found them.
 * The fast paths neither set nor test that the track is busy: they add nothing
 * to the log, and change a node's own fields only while it is the current one,
 * so the calls of a handler are below it, and never the same node.
 */
#ifndef TR_RECORD_PROBE_CALLS_H
#define TR_RECORD_PROBE_CALLS_H

#include "record/probe.h"

/* Used only by preload/hooks.c, which the two-file build does not have. */
#define TR_HOOK TR_INLINE __attribute__((unused))

struct tr_hooks {
	uint32_t mode; /* enum tr_calls; off: no call begins */
	uint32_t ends; /* the same, but stays on while paused */
	uint32_t generation;
	const uint32_t *gate; /* its word is 0: off for now */
};

extern struct tr_hooks tr_hooks __attribute__((visibility("hidden")));

/* One comparison with memory, which an atomic load does not allow. */
#if defined(__SANITIZE_THREAD__)
#define TR_CALLS_MODE() TR_LOAD(tr_hooks.mode)
#define TR_CALLS_ENDS() TR_LOAD(tr_hooks.ends)
#else
#define TR_CALLS_MODE() (tr_hooks.mode)
#define TR_CALLS_ENDS() (tr_hooks.ends)
#endif

/*
 * Where a hook was called, derived from the stack pointer, so that the hook
 * itself need not load it. NULL if that is not possible.
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

/* Not the guessed node, not called by a function, or inlined. */
void tr_calls_enter_other(void *function, void *site, const void *stack,
			  const void *here);
/* Handles every case. */
void tr_calls_enter_slow(void *function, void *site, const void *stack,
			 const void *here);
/* A call that is due to be timed, if the mode times calls. */
void tr_calls_time(struct tr_thread *thread, struct tr_node *node,
		   struct tr_frame *frame);
/* Handles every case. */
void tr_calls_exit_slow(void *function, void *site, const void *stack);
/* The innermost function, timed; or another one. */
void tr_calls_exit_timed(void *function, void *site, const void *stack);

/* Decrements, in one instruction if possible; true: it reached the end. */
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

/* Content of `start` in a frame without a time. */
struct tr_call_origin {
	uint32_t parent; /* node, so that the end need not find it */
	uint32_t mark;	 /* see tr_call_mark() */
};

/* Identifies function and call site: lower halves of both. */
TR_INLINE uint32_t tr_call_mark(const void *function, const void *site)
{
	return (uint32_t)((uintptr_t)function + (uintptr_t)site);
}

/*
 * A call at one place of one path is nearly always of the same function, so
 * the guess is by place. Not the child found last: it is wrong for functions
 * that call several others in turn.
 */
TR_INLINE uint32_t *tr_call_guess(const struct tr_thread *thread,
				  uint32_t parent, const void *site)
{
	/*
	 * In bytes; nodes are aligned to cache lines, and a call instruction
	 * is longer than one byte.
	 */
	uint32_t at = (parent + (uint32_t)(uintptr_t)site) &
		      (TR_GUESSES - 1) * 4;

	return (void *)((char *)thread->guess + at);
}

/*
 * Only this thread writes the words that are read without atomics here, and
 * the compiler folds such a read into the instruction that needs it.
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
 * `site`: where `function` was called; `stack`: the stack pointer where it
 * called the hook; `here`: that place, or NULL: see tr_call_here().
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
	/* Above a scope the word is arbitrary; then the slow path decides. */
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
