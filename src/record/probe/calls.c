/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: begin and end of functions, except for the common case in calls.h.
 */
#include "record/probe/call.h"

struct tr_hooks tr_hooks = { .gate = &tr_gate_off };

#define TR_CALL_LEFT_MOST 4u /* functions that a scope may outlive */

static struct tr_call call_of(const void *function, const void *site,
			      const void *stack, const void *here)
{
	return (struct tr_call){
		(uintptr_t)function,
		(uintptr_t)stack,
		(uintptr_t)here - (uintptr_t)function,
		(uint32_t)(uintptr_t)site,
		here >= function,
	};
}

/* ---- switches ---------------------------------------------------------- */

static void set_gates(const uint32_t *gate, uint32_t generation)
{
	__atomic_store_n(&tr_hooks.gate, gate, __ATOMIC_RELAXED);
	TR_PUBLISH(tr_hooks.generation, generation);
}

static uint32_t gate_now(void)
{
	return TR_LOAD(*__atomic_load_n(&tr_hooks.gate, __ATOMIC_RELAXED));
}

/* As tr_site_refresh(). */
static bool refresh(void)
{
	struct tr_control *control =
		tr_ledger_is_ready() ? tr_ledger->control : NULL;
	uint32_t generation;

	if (!control) {
		set_gates(&tr_gate_off, 0);
		return false;
	}
	generation = TR_ACQUIRE(control->generation);
	if (!TR_LOAD(control->enabled) || !tr_ledger->base) {
		set_gates(&control->sleep[generation < TR_CONTROL_SLEEP ?
						  generation :
						  0],
			  0);
		return false;
	}
	set_gates(&control->generation, generation);
	return true;
}

static void (*know_code)(uint64_t address);
static uint32_t calls_paused;
static bool has_paused; /* some ends then have no begin: no error */

void tr_calls_use(enum tr_calls mode, void (*know)(uint64_t address))
{
	uint32_t wanted = tr_probe_forward ? TR_CALLS_OFF : mode;

	know_code = know;
	TR_PUBLISH(tr_hooks.ends, wanted);
	TR_PUBLISH(tr_hooks.mode, TR_LOAD(calls_paused) ? TR_CALLS_OFF :
							   wanted);
}

/* Functions that are open continue to their ends. */
void tr_calls_pause(bool is_paused)
{
	if (is_paused)
		TR_STORE(has_paused, true);
	TR_STORE(calls_paused, is_paused);
	TR_PUBLISH(tr_hooks.mode, is_paused ? TR_CALLS_OFF :
					      TR_LOAD(tr_hooks.ends));
}

/* Is it switched off from outside? Each thread checks at times. */
void tr_calls_look(struct tr_thread *thread)
{
	if (TR_UNLIKELY(TR_ACQUIRE(tr_hooks.generation) != gate_now()))
		thread->calls = NULL; /* the next call checks the switches */
}

static bool has_guesses(struct tr_thread *thread)
{
	size_t bytes = TR_GUESSES * sizeof(*thread->guess);
	uint32_t *guess;

	if (!thread->guess) {
		guess = tr_memory_map(bytes);
		if (guess)
			tr_memory_not_in_children(guess, bytes);
		thread->guess = guess;
	}
	return thread->guess != NULL;
}

static struct tr_thread *ready_thread(void)
{
	struct tr_thread *thread = tr_this_thread();
	uint32_t gate = gate_now();

	if (!gate)
		return NULL;
	if (!tr_probe_has_ledger()) {
		(void)refresh();
		return NULL;
	}
	/* At its first event it may have the switches of a parent process. */
	if ((!thread->own_track || TR_ACQUIRE(tr_hooks.generation) != gate) &&
	    !refresh())
		return NULL;
	if (!thread->own_track)
		thread = tr_track_attach();
	/* With the slow clock every call takes the slow path. */
	if (thread && thread->fast && has_guesses(thread)) {
		/* Below the first frame: outside of all functions. */
		TR_STORE(thread->frames->aside, ~(uint64_t)TR_CALL_FLAGS);
		thread->calls = thread->own_track;
	}
	return thread;
}

/* ---- enter ------------------------------------------------------------- */

TR_NOINLINE void tr_calls_enter_other(void *function, void *site,
				      const void *stack, const void *here)
{
	struct tr_call call = call_of(function, site, stack,
				   tr_call_here(stack, here));
	struct tr_thread *thread = tr_this_thread();
	struct tr_track *track = thread->calls;
	uint32_t parent = TR_LOAD(track->current);
	uint32_t off = thread->deep ? 0 :
				    tr_tree_find(thread, parent, call.address);

	/* Not below the node for deep calls: it has no room for frames. */
	if (!off || tr_calls_are_gone(thread, &call)) {
		tr_calls_enter_slow(function, site, stack, here);
		return;
	}
	*tr_call_guess(thread, parent, site) = off;
	tr_calls_begin(thread, track, parent, off, tr_call_mark(function, site),
		       stack);
}

/* Busy. */
static void enter(struct tr_thread *thread, const struct tr_call *call)
{
	uint32_t off = 0, parent;
	struct tr_node *node;

	tr_ledger_heal(thread);
	tr_calls_drop_gone(thread, call);
	parent = thread->own_track->current;
	if (!thread->deep)
		off = tr_tree_function(thread, parent, call->address);
	if (!off) {
		tr_calls_enter_deep(thread, call);
		return;
	}
	node = tr_node_at(thread, off);
	if (node->site == TR_NODE_FUNCTION) {
		TR_STORE(node->site, TR_NODE_FUNCTION |
					    (uint32_t)(call->here &
						       TR_NODE_HERE));
		know_code(call->address);
	}
	tr_calls_begin(thread, thread->own_track, parent, off,
		       (uint32_t)call->address + call->site,
		       (void *)(uintptr_t)call->stack);
}

TR_COLD void tr_calls_enter_slow(void *function, void *site,
				 const void *stack, const void *here)
{
	struct tr_call call = call_of(function, site, stack,
				   tr_call_here(stack, here));
	struct tr_thread *thread = ready_thread();

	if (!thread)
		return;
	if (!tr_thread_enter(thread)) {
		if (!tr_log_defer(thread, call.address, 0, TR_PARKED_CALL))
			(void)TR_ADD(tr_ledger->header->lost.busy, 1);
		return;
	}
	enter(thread, &call);
	tr_thread_leave(thread);
}

/* ---- exit -------------------------------------------------------------- */

/* Frame of the function that ends, or NULL; *ret_off: its node. */
static struct tr_frame *find_open(const struct tr_thread *thread,
				  const struct tr_call *call, uint32_t *ret_off)
{
	const struct tr_track *track = thread->own_track;
	struct tr_frame *frame = thread->top, *found = NULL;
	uint32_t off = track->current;
	bool is_same;

	for (; off && off != track->root && frame > thread->frames; frame--) {
		const struct tr_node *node = tr_node_at(thread, off);
		uint64_t aside = TR_LOAD(frame->aside);

		if (node->items != call->address || aside == TR_CALL_LEFT ||
		    !tr_node_is_function(node)) {
			off = node->parent;
			continue;
		}
		/* The innermost, unless one further out fits better. */
		is_same = tr_call_is_from(node, frame, call->site);
		if (!found || is_same) {
			found = frame;
			*ret_off = off;
		}
		if (is_same && TR_LOAD(frame[-1].aside) >= call->stack)
			break;
		off = node->parent;
	}
	return found;
}

/* Is nothing open in the function but scopes that may outlive it? */
static bool is_outlived(const struct tr_thread *thread,
			const struct tr_frame *frame)
{
	const struct tr_frame *at = thread->top;
	uint32_t off = thread->own_track->current, n_left = 0;
	bool has_scope = false;

	for (; at > frame; at--) {
		const struct tr_node *node = tr_node_at(thread, off);

		if (!tr_node_is_function(node))
			has_scope = true;
		else if (TR_LOAD(at->aside) != TR_CALL_LEFT ||
			 ++n_left >= TR_CALL_LEFT_MOST)
			return false;
		off = node->parent;
	}
	return has_scope;
}

static void count_stray(void)
{
	if (TR_LOAD(has_paused))
		return;
	(void)TR_ADD(tr_ledger->header->lost.stray_ends, 1);
}

static void leave(struct tr_thread *thread, const struct tr_call *call)
{
	struct tr_track *track = thread->own_track;
	uint32_t off = 0;
	struct tr_frame *frame;

	tr_ledger_heal(thread);
	if (thread->deep && tr_calls_exit_deep(thread, call))
		return;
	frame = find_open(thread, call, &off);
	if (!frame) {
		if (!tr_call_is_orphan(thread, call))
			count_stray();
		/* Open when the ledger was replaced: only its frame is left. */
		if (track->current == track->root &&
		    thread->top > thread->frames)
			thread->top--;
		return;
	}
	tr_call_finish(thread, off, frame);
	if (is_outlived(thread, frame)) {
		TR_STORE(frame->aside, TR_CALL_LEFT);
		return;
	}
	tr_scope_repair(thread, frame);
	tr_calls_pop(thread, track, tr_node_at(thread, off)->parent);
}

/* While off: only functions that began while it was on. */
static bool is_open_function(const struct tr_thread *thread,
			     const struct tr_call *call)
{
	const struct tr_node *node;

	if (thread->top == thread->frames)
		return false;
	node = tr_node_at(thread, TR_LOAD(thread->own_track->current));
	return tr_node_is_function(node) && (node->items == TR_ADDRESS_OTHERS ||
					     node->items == call->address);
}

TR_COLD void tr_calls_exit_slow(void *function, void *site, const void *stack)
{
	struct tr_call call = call_of(function, site, stack, function);
	struct tr_thread *thread = tr_this_thread();
	bool is_on = gate_now() != 0 && TR_CALLS_MODE();

	if (!thread->own_track) {
		/* Begun before a fork, or before hooks were switched on. */
		if (is_on && tr_ledger_is_open())
			count_stray();
		return;
	}
	if (!is_on && !is_open_function(thread, &call))
		return;
	if (!tr_thread_enter(thread))
		return; /* in a handler: counted at its begin */
	leave(thread, &call);
	tr_thread_leave(thread);
}
