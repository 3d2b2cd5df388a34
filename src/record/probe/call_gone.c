/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ends that never come, or come late.
 *
 * A function is left without its exit by longjmp, by an exception (if the
 * compiler adds no cleanup) or by the end of a thread. The next call shows it:
 * if its stack pointer is above that of a function that counts as open, that
 * function is gone. Inlined functions share the stack pointer with the
 * function around them; then the place that called the hook shows whose code
 * it is in. An exit that does not fit the innermost function is matched with
 * one further out. Functions skipped in between are counted as repaired.
 *
 * A scope may outlive the function that began it (a helper that begins a scope
 * for its caller): the function then stays in place, marked as left, until its
 * scopes have ended.
 *
 * Too deep, or too many paths: such calls are counted by function, below one
 * node of the track for all of them, and need no frame; that node is the
 * current one until the first of them ends.
 */
#include "record/probe/call.h"

#include <signal.h>

static bool is_on_other_stack(void)
{
	stack_t now;

	return sigaltstack(NULL, &now) == 0 && now.ss_flags & SS_ONSTACK;
}

/* Was the function called from `site`, as far as that is known? */
bool tr_call_is_from(const struct tr_node *node, const struct tr_frame *frame,
		    uint32_t site)
{
	const struct tr_call_origin *origin = (const void *)&frame->start;

	return TR_LOAD(frame->aside) & TR_CALL_TIMED ||
	       TR_LOAD(origin->mark) == (uint32_t)node->items + site;
}

static uint64_t stack_of(const struct tr_frame *frame)
{
	return TR_LOAD(frame->aside) & ~(uint64_t)TR_CALL_FLAGS;
}

/*
 * The function whose machine code owns a stack frame: the outermost of those
 * that share the frame; all others are inlined.
 */
static const struct tr_node *owner_of(const struct tr_thread *thread,
				      const struct tr_node *node,
				      const struct tr_frame *frame)
{
	const struct tr_node *above = tr_node_at(thread, node->parent);

	while (tr_node_is_function(above) && frame - 1 > thread->frames &&
	       stack_of(frame - 1) == stack_of(frame)) {
		node = above;
		above = tr_node_at(thread, node->parent);
		frame--;
	}
	return node;
}

/*
 * Does the call have its own stack frame? Then its hook was called from its
 * own code: that code begins before the hook's call site, and the owner's code
 * does not begin in between.
 */
static bool has_own_frame(const struct tr_node *owner,
			  const struct tr_call *call)
{
	uint64_t at = call->address + call->here;

	if (call->address == owner->items)
		return (owner->site & TR_NODE_HERE) ==
		       (call->here & TR_NODE_HERE);
	return call->is_after &&
	       !(call->address < owner->items && owner->items <= at);
}

/* Has the function of this frame ended unseen, as this call shows? */
static bool is_gone_by(const struct tr_thread *thread,
		       const struct tr_node *node,
		       const struct tr_frame *frame, const struct tr_call *call)
{
	if (TR_LOAD(frame->aside) == TR_CALL_LEFT ||
	    stack_of(frame) != call->stack)
		return stack_of(frame) < call->stack;
	/* The same place in the same stack frame, again? */
	if (node->items == call->address &&
	    (node->site & TR_NODE_HERE) == (call->here & TR_NODE_HERE))
		return true;
	return has_own_frame(owner_of(thread, node, frame), call);
}

/* The same for the innermost function, whatever scopes are open in it. */
bool tr_calls_are_gone(const struct tr_thread *thread,
			      const struct tr_call *call)
{
	const struct tr_track *track = thread->own_track;
	const struct tr_frame *frame = thread->top;
	uint32_t off = TR_LOAD(track->current), root = TR_LOAD(track->root);
	bool has_scope = false;

	for (; off && off != root && frame > thread->frames; frame--) {
		const struct tr_node *node = tr_node_at(thread, off);
		bool is_left = TR_LOAD(frame->aside) == TR_CALL_LEFT;

		/* A function that was left waits for the scopes in it. */
		if (tr_node_is_function(node) && !(is_left && has_scope))
			return is_gone_by(thread, node, frame, call);
		has_scope |= !tr_node_is_function(node);
		off = node->parent;
	}
	return false;
}

void tr_calls_drop(struct tr_thread *thread)
{
	struct tr_track *track = thread->own_track;
	const struct tr_node *node = tr_node_at(thread, track->current);
	uint32_t next = node->parent;

	if (node->items == TR_ADDRESS_OTHERS) {
		TR_STORE(track->lost.repairs, track->lost.repairs +
						      thread->deep);
		thread->deep = 0;
		next = node->back ? node->back : track->root;
	} else if (TR_LOAD(thread->top->aside) != TR_CALL_LEFT) {
		TR_STORE(track->lost.repairs, track->lost.repairs + 1);
	}
	TR_STORE(track->current, next);
	thread->top--;
}

/*
 * Drops frames up to and including the innermost function that was not left
 * before.
 */
static void drop_innermost(struct tr_thread *thread)
{
	const struct tr_frame *to = thread->top;
	uint32_t off = thread->own_track->current;
	bool has_scope = false;

	for (;; to--) {
		const struct tr_node *node = tr_node_at(thread, off);
		bool is_left = TR_LOAD(to->aside) == TR_CALL_LEFT;

		if (tr_node_is_function(node) && !(is_left && has_scope))
			break;
		has_scope |= !tr_node_is_function(node);
		off = node->parent;
	}
	tr_scope_repair(thread, to - 1);
}

void tr_calls_drop_gone(struct tr_thread *thread, const struct tr_call *call)
{
	bool asked = false;

	while (tr_calls_are_gone(thread, call)) {
		/* A signal handler's stack may be anywhere. */
		if (!asked && is_on_other_stack())
			return;
		asked = true;
		drop_innermost(thread);
	}
}

/* ---- functions in a scope that has ended ------------------------------- */

/*
 * A helper that ends a scope for its caller is inside that scope, and ends
 * after it: neither its missing end nor its late one is an error.
 */
void tr_calls_orphan(struct tr_thread *thread, const struct tr_frame *to)
{
	const struct tr_frame *at = thread->top;
	uint32_t off = thread->own_track->current, n = 0;

	for (; at > to; at--) {
		const struct tr_node *node = tr_node_at(thread, off);

		if (!tr_node_is_function(node) ||
		    node->items == TR_ADDRESS_OTHERS)
			return;
		off = node->parent;
		n++;
	}
	if (!n)
		return;
	thread->orphans = n;
	thread->orphan_at = TR_LOAD(to[1].aside) & ~(uint64_t)TR_CALL_FLAGS;
}

/* The stack pointer at a function's end exceeds its begin's by less, bytes. */
#define TR_CALL_REACH 4096u

bool tr_call_is_orphan(struct tr_thread *thread, const struct tr_call *call)
{
	struct tr_losses *lost = &thread->own_track->lost;

	if (!thread->orphans)
		return false;
	if (call->stack > thread->orphan_at + TR_CALL_REACH) {
		thread->orphans = 0; /* their ends never came */
		return false;
	}
	thread->orphans--;
	TR_STORE(lost->repairs, lost->repairs - 1);
	return true;
}

/* ---- functions without a place ----------------------------------------- */

/* Without a node for deep calls nothing is kept. Busy. */
static void go_deep(struct tr_thread *thread, const struct tr_call *call)
{
	struct tr_track *track = thread->own_track;
	uint32_t off = tr_tree_others(thread);
	struct tr_frame *frame;

	if (!off)
		return;
	TR_STORE(tr_node_at(thread, off)->back, track->current);
	frame = tr_scope_push(thread, track, off);
	TR_STORE(frame->aside, call->stack);
	thread->deep_at = call->stack;
}

static bool is_deep(const struct tr_thread *thread)
{
	const struct tr_node *node = tr_node_at(thread,
						thread->own_track->current);

	return tr_node_is_function(node) && node->items == TR_ADDRESS_OTHERS;
}

void tr_calls_enter_deep(struct tr_thread *thread, const struct tr_call *call)
{
	struct tr_track *track = thread->own_track;
	uint32_t off;

	if (!thread->deep)
		go_deep(thread, call);
	thread->deep++;
	off = tr_tree_elsewhere(thread, is_deep(thread) ? track->current : 0,
				call->address);
	TR_STORE(track->lost.overflow_nodes, track->lost.overflow_nodes + 1);
	if (off)
		tare_slot_add_(&tr_node_at(thread, off)->untimed, 1);
	else
		tr_thread_lose(thread);
}

/* False: no deep call is open, and this ends another function. */
bool tr_calls_exit_deep(struct tr_thread *thread, const struct tr_call *call)
{
	bool is_gone = thread->deep > 1 && call->stack > thread->deep_at;

	if (!is_gone && --thread->deep)
		return true;
	if (is_deep(thread))
		tr_calls_drop(thread);
	thread->deep = 0;
	return !is_gone;
}
