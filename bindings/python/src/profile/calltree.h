/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calling-context tree of one thread.
 *
 * A node is a path of functions. It holds its own start time: a path is open
 * at most once in a thread, so that no second stack is needed. A call finds
 * its node by a guess (the last child of the current node), else by one hash
 * table per thread of (parent, key).
 *
 * Calls are counted, and all are timed at first. Once 64 calls of a path were
 * short, less than 50 times what timing costs (1 or 2 us), 1 of 16 is timed,
 * drawn at random: to read the clock twice may take as long as the call. The
 * time of the others is that of those timed. Calls of more than 50 us are no
 * part of means; where they have more than 1/8 of a path's time, the path is
 * irregular and all its calls are timed. A long call that is not timed shows
 * in the coarse clock, which is read at 1 of 4.
 *
 * While other programs have the processor, a call that is timed becomes long.
 * Those not timed get their part of that wait from the kernel's count of it,
 * else all of it would be the caller's own time: see delay.h.
 *
 * Keys: the address of a code object, kept alive by the node; or the address
 * of a method definition with the lowest bit set, for functions in C.
 *
 * Nodes of all threads share one budget. When it is used up, calls of paths
 * without a node are counted at the node that they left from: other_calls,
 * other_ticks. What they call is not seen one by one.
 *
 * Who writes: the thread itself, which holds the interpreter's lock. Readers
 * hold it, too.
 */
#ifndef TR_PY_CALLTREE_H
#define TR_PY_CALLTREE_H

#include "frames.h" /* first: Python.h says which interfaces of libc */

#include "clock.h"
#include "delay.h"

struct tr_session;

struct tr_node {
	uintptr_t key;
	struct tr_node *parent;
	struct tr_node *hot; /* the child entered last */
	uint64_t n_calls;
	uint64_t start; /* of the open call; 0: it is not timed */
	uint64_t ticks; /* of timed calls that were not long */
	uint32_t n_timed;
	uint32_t countdown; /* calls until the next one that is timed */
	uint64_t first_ticks; /* of the calls before is_sampled */
	uint64_t long_ticks;
	uint64_t suspect_ticks; /* of long calls, also those not timed */
	uint64_t other_ticks;
	uint32_t n_first;
	uint32_t n_long;
	uint32_t n_suspect;
	uint32_t other_calls;
	uint32_t index; /* in a reader's columns; set and used by readers */
	bool is_irregular; /* time every call */
	bool is_sampled;   /* n_first calls were timed; then 1 of 16 */
};

struct tr_chunk {
	struct tr_chunk *next;
	size_t n_used, n_slots;
	struct tr_node node[];
};

struct tr_thread {
	struct tr_node *current;
	/* Below it, ends of calls are those of calls begun before. */
	struct tr_node *floor;
	uintptr_t stack_low; /* a C stack below it is nearly full */
	struct tr_node root;
	struct tr_node other; /* stands for all paths without a node */
	uint64_t other_depth, other_start;
	uint64_t coarse_ns; /* at the last untimed end of a call, or 0 */
	uint64_t random;
	long n_preempted; /* switches to other processes, when last read */
	struct tr_node **slot; /* hash table, a power of 2 */
	size_t n_slots, n_nodes;
	struct tr_chunk *first_chunk, *last_chunk;
	struct tr_session *session;
	struct tr_thread *next;
	Py_tracefunc host_hook; /* what the host had installed, or NULL */
	uint64_t state_id;	/* PyThreadState.id */
	unsigned long ident;	/* threading.get_ident() */
	pid_t tid;		/* while it is measured, else 0 */
	struct tr_delay begin, delay; /* delay: of completed periods */
	bool is_ended;
};

/* The calling thread's tree, valid while `generation` is the active one. */
struct tr_self {
	uint64_t generation;
	struct tr_thread *thread;
};

extern __thread struct tr_self tr_self
	__attribute__((tls_model("initial-exec")));

/* Number of the running measurement, 0 if none runs. */
extern uint64_t tr_active;

/* Attaches the calling thread. NULL: it is not measured. */
struct tr_thread *tr_thread_attach(void);

static inline struct tr_thread *tr_thread_get(void)
{
	if (TR_LIKELY(tr_self.generation == tr_active))
		return tr_self.thread;
	return tr_thread_attach();
}

/*
 * The child of the current node with this key, made if need be. `function`
 * is the code object or the callable that the key belongs to.
 */
struct tr_node *tr_child(struct tr_thread *thread, uintptr_t key,
			 PyObject *function);
/* When the next call of a short path is timed. */
void tr_space_out(struct tr_thread *thread, struct tr_node *node);
/* A long call, unless another process took the CPU. */
void tr_note_long(struct tr_thread *thread, struct tr_node *node,
		  uint64_t ticks);
void tr_leave_other(struct tr_thread *thread, uint64_t now);
/* Closes calls down to the innermost open one with `key`, if there is one. */
void tr_leave_until(struct tr_thread *thread, uintptr_t key);
/* How long the thread waited for a processor, so far. */
struct tr_delay tr_thread_delay(const struct tr_thread *thread);
/* From here on it is measured; ends a period of it. */
void tr_thread_begin(struct tr_thread *thread);
void tr_thread_end(struct tr_thread *thread);
/* Closes all open calls. */
void tr_thread_close(struct tr_thread *thread, uint64_t now);
/* Forgets open calls without adding their times. */
void tr_thread_drop_open(struct tr_thread *thread);
void tr_thread_init(struct tr_thread *thread, struct tr_session *session);
/* Frees the nodes and what they keep alive. */
void tr_thread_release(struct tr_thread *thread);

#define TR_FIRST_CALLS 64u /* these are timed in any case */

/* Limits in ticks; set when the module is loaded. */
extern uint64_t tr_short_ticks, tr_long_ticks;

/* The clock is read last here and first in tr_leave(). */
static inline struct tr_node *tr_enter(struct tr_thread *thread, uintptr_t key,
				       PyObject *function)
{
	struct tr_node *node = thread->current->hot;

	if (TR_UNLIKELY(node->key != key))
		node = tr_child(thread, key, function);
	node->n_calls++;
	thread->current = node;
	if (node->countdown) {
		node->countdown--;
		node->start = 0;
	} else {
		node->start = tr_ticks();
	}
	return node;
}

/* Two ticks of the coarse clock and more: some call here was long. */
#define TR_COARSE_GAP_NS 7000000u

static inline void tr_leave_untimed(struct tr_thread *thread,
				    struct tr_node *node)
{
	uint64_t now;

	/* Even a coarse clock costs more than all the rest here. */
	if (node->countdown & 3)
		return;
	now = tr_clock_coarse_ns();
	if (TR_UNLIKELY(now - thread->coarse_ns > TR_COARSE_GAP_NS)) {
		if (thread->coarse_ns)
			tr_note_long(thread, node, tr_long_ticks * 140);
		thread->coarse_ns = now;
	}
}

static inline void tr_leave_timed(struct tr_thread *thread,
				  struct tr_node *node)
{
	uint64_t took = tr_ticks() - node->start;

	thread->coarse_ns = 0;
	if (TR_UNLIKELY(took > tr_long_ticks)) {
		node->long_ticks += took;
		node->n_long++;
		tr_note_long(thread, node, took);
		return;
	}
	node->ticks += took;
	node->n_timed++;
	if ((node->n_timed >= TR_FIRST_CALLS || node->is_sampled) &&
	    node->ticks < node->n_timed * tr_short_ticks)
		tr_space_out(thread, node);
}

static inline void tr_leave(struct tr_thread *thread, struct tr_node *node)
{
	if (TR_UNLIKELY(node == &thread->other)) {
		tr_leave_other(thread, tr_ticks());
		return;
	}
	if (node->start)
		tr_leave_timed(thread, node);
	else
		tr_leave_untimed(thread, node);
	thread->current = node->parent;
	if (TR_UNLIKELY(thread->floor == node))
		thread->floor = node->parent;
}

/* The end of a call as an event of the interpreter reports it. */
static inline void tr_leave_event(struct tr_thread *thread, uintptr_t key)
{
	struct tr_node *node = thread->current;

	if (node == thread->floor)
		return;
	if (TR_LIKELY(node->key == key) || node == &thread->other)
		tr_leave(thread, node);
	else
		tr_leave_until(thread, key);
}

#endif
