/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call times: which calls of a function are timed, and where the time goes.
 *
 * In mode sparse all calls are timed at first. Of a function whose own time is
 * less than ten times the cost of timing, one in 64 calls is timed, at random,
 * since a fixed pattern might coincide with one in the program. The time of
 * callees is subtracted: `within` of a node is roughly that time, each timed
 * call weighted with the number of calls that it represents.
 */
#include "record/probe/call.h"

#define TR_CALL_FIRST 16u	  /* calls timed before the decision */
#define TR_CALL_JUDGED (1u << 20) /* and after which it is final */
#define TR_CALL_MEAN 64.5f	  /* mean of the random gaps */
#define TR_CALL_LONG 65536u	  /* a gap without timed calls */
#define TR_CALL_WORTH 10	  /* times the cost of timing */

static float ticks_within(const struct tr_node *node)
{
	union {
		uint32_t bits;
		float ticks;
	} u = { TR_LOAD(node->within) };

	return u.ticks;
}

static void add_within(struct tr_node *node, float ticks)
{
	union {
		float ticks;
		uint32_t bits;
	} u = { ticks_within(node) + ticks };

	TR_STORE(node->within, u.bits);
}

/* Is the own time long enough to time each call? */
static bool is_worth(const struct tr_node *node)
{
	const struct tr_header *header = tr_ledger->header;
	double cost = header->inside_ticks + header->outside_ticks;
	double timed = (double)TR_LOAD(node->calls);
	double all = (double)TR_LOAD(node->untimed);

	return (double)TR_LOAD(node->sum) / timed -
		       (double)ticks_within(node) / all >=
	       TR_CALL_WORTH * cost;
}

typedef uint64_t tr_pair
	__attribute__((vector_size(16), may_alias, aligned(16)));

/* Stores both words at once: a kill leaves both or neither. */
TR_INLINE void store_pair(uint64_t *both, uint64_t first, uint64_t second)
{
#if defined(__SANITIZE_THREAD__)
	TR_STORE(both[0], first);
	TR_STORE(both[1], second);
#else
	*(tr_pair *)(void *)both = (tr_pair){ first, second };
#endif
}

_Static_assert(offsetof(struct tr_node, calls) % 16 == 0 &&
		       offsetof(struct tr_node, sum) ==
			       offsetof(struct tr_node, calls) + 8,
	       "a pair");
_Static_assert(offsetof(struct tr_node, untimed) % 16 == 0 &&
		       offsetof(struct tr_node, cell) ==
			       offsetof(struct tr_node, untimed) + 8 &&
		       offsetof(struct tr_node, next) ==
			       offsetof(struct tr_node, untimed) + 12,
	       "a pair");

/* The next timed call is `gap` calls from now. */
TR_INLINE void set_gap(struct tr_node *node, uint32_t gap)
{
	store_pair(&node->untimed, node->untimed + gap,
		   (uint64_t)node->next << 32 | gap);
}

static TR_COLD void start_slow_clock(struct tr_frame *frame)
{
	TR_STORE(frame->start, tr_ledger_ticks());
}

TR_INLINE void start_time(struct tr_thread *thread, struct tr_frame *frame,
			  unsigned flags)
{
	TR_STORE(frame->aside, frame->aside | flags);
	if (TR_UNLIKELY(!thread->fast)) {
		start_slow_clock(frame);
		return;
	}
	TR_STORE(frame->start, tr_counter());
}

static TR_NOINLINE void time_sparse(struct tr_thread *thread,
				    struct tr_node *node,
				    struct tr_frame *frame)
{
	uint64_t timed = node->calls;
	bool was_drawn = node->site & TR_NODE_RARE, is_rare = was_drawn;
	uint32_t gap = 1;

	if (timed % TR_CALL_FIRST == 0) {
		tr_calls_look(thread);
		if (timed && timed < TR_CALL_JUDGED)
			is_rare = !is_worth(node);
		if (is_rare != was_drawn)
			TR_STORE(node->site, node->site ^ TR_NODE_RARE);
	}
	if (is_rare)
		gap += tr_thread_draw(thread) & 127;
	set_gap(node, gap);
	start_time(thread, frame,
		   TR_CALL_TIMED | (was_drawn ? TR_CALL_DRAWN : 0));
}

void tr_calls_time(struct tr_thread *thread, struct tr_node *node,
		   struct tr_frame *frame)
{
	uint32_t mode = TR_CALLS_MODE();

	if (TR_UNLIKELY(mode == TR_CALLS_SPARSE)) {
		time_sparse(thread, node, frame);
		return;
	}
	if (TR_UNLIKELY(mode == TR_CALLS_COUNTS)) {
		set_gap(node, TR_CALL_LONG);
		tr_calls_look(thread);
		return;
	}
	set_gap(node, 1);
	start_time(thread, frame, TR_CALL_TIMED);
}

/* Stores the time of a call, while its node is the current one. */
TR_INLINE void note_time(struct tr_thread *thread, struct tr_node *node,
			 uint64_t aside, uint64_t duration)
{
	struct tr_node *above;

	store_pair(&node->calls, node->calls + 1, node->sum + duration);
	if (TR_CALLS_MODE() != TR_CALLS_SPARSE)
		return;
	above = tr_node_at(thread, node->parent);
	if (tr_node_is_function(above))
		add_within(above, (float)duration *
					  (aside & TR_CALL_DRAWN ?
						   TR_CALL_MEAN :
						   1));
}

/* Stores the time of a function that ends. Busy. */
void tr_call_finish(struct tr_thread *thread, uint32_t off,
			const struct tr_frame *frame)
{
	uint64_t aside = TR_LOAD(frame->aside), start, duration;

	if (!(aside & TR_CALL_TIMED))
		return;
	start = TR_LOAD(frame->start);
	duration = tr_scope_duration(thread, start,
				     thread->fast ? tr_counter() :
						    tr_ledger_ticks());
	if (TR_LOAD(tr_ledger->tracing))
		tr_scope_append(thread, off, start, duration, TR_ENTRY_CALL);
	else
		note_time(thread, tr_node_at(thread, off), aside, duration);
}

static TR_NOINLINE void exit_logged(struct tr_thread *thread, uint32_t off)
{
	const struct tr_frame *frame = thread->top;
	struct tr_track *track = thread->own_track;

	if (!tr_thread_enter(thread))
		return;
	tr_call_finish(thread, off, frame);
	tr_calls_pop(thread, track, tr_node_at(thread, off)->parent);
	tr_thread_leave(thread);
}

/* A new slice: does the periodic work. */
static TR_NOINLINE void turn_slice(struct tr_thread *thread, uint32_t slice)
{
	thread->call_slice = slice;
	tr_ledger_anchor(slice);
	tr_calls_look(thread);
}

void tr_calls_exit_timed(void *function, void *site, const void *stack)
{
	uint64_t end = tr_counter(), duration;
	struct tr_thread *thread = tr_this_thread();
	struct tr_track *track = thread->calls;
	const struct tr_frame *frame = thread->top;
	uint32_t off = track->current;
	struct tr_node *node = tr_node_at(thread, off);

	if (TR_UNLIKELY(node->items != (uintptr_t)function) ||
	    TR_UNLIKELY(!tr_node_is_function(node))) {
		tr_calls_exit_slow(function, site, stack);
		return;
	}
	duration = end - frame->start;
	if (TR_UNLIKELY(duration >> 40) ||
	    TR_UNLIKELY(TR_LOAD(tr_ledger->tracing))) {
		exit_logged(thread, off);
		return;
	}
	note_time(thread, node, frame->aside, duration);
	TR_FENCE();
	tr_calls_pop(thread, track, node->parent);
	if (TR_UNLIKELY((uint32_t)(end >> thread->shift) != thread->call_slice))
		turn_slice(thread, (uint32_t)(end >> thread->shift));
}
