/* SPDX-License-Identifier: Apache-2.0 */
#include "calltree.h"

#include "session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define FIRST_NODES 39u	   /* with the chunk's head: less than a page */
#define MOST_NODES 16384u  /* of a chunk: 1 MiB */
#define FIRST_SLOTS 128u
#define NO_KEY 0u /* no code object and no method definition is there */

/* The child of a node that has none: its key is no function's. */
static struct tr_node nothing = { .key = NO_KEY };
uint64_t tr_short_ticks, tr_long_ticks;

static void *map_zeros(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return memory == MAP_FAILED ? NULL : memory;
}

void tr_thread_init(struct tr_thread *thread, struct tr_session *session)
{
	thread->session = session;
	thread->root.hot = &nothing;
	thread->other.hot = &nothing;
	thread->current = &thread->root;
	thread->floor = &thread->root;
	thread->random = tr_ticks() | 1;
}

static size_t chunk_bytes(size_t n_slots)
{
	return sizeof(struct tr_chunk) + n_slots * sizeof(struct tr_node);
}

static struct tr_chunk *add_chunk(struct tr_thread *thread)
{
	struct tr_chunk *last = thread->last_chunk, *chunk;
	size_t n_slots = last ? last->n_slots * 2 : FIRST_NODES;

	if (n_slots > MOST_NODES)
		n_slots = MOST_NODES;
	chunk = map_zeros(chunk_bytes(n_slots));
	if (!chunk)
		return NULL;
	chunk->n_slots = n_slots;
	if (last)
		last->next = chunk;
	else
		thread->first_chunk = chunk;
	thread->last_chunk = chunk;
	return chunk;
}

static struct tr_node *take_node(struct tr_thread *thread)
{
	struct tr_chunk *chunk = thread->last_chunk;

	if (!tr_session_take_node(thread->session))
		return NULL;
	if (!chunk || chunk->n_used == chunk->n_slots)
		chunk = add_chunk(thread);
	return chunk ? &chunk->node[chunk->n_used++] : NULL;
}

static size_t slot_of(const struct tr_thread *thread,
		      const struct tr_node *parent, uintptr_t key)
{
	uint64_t mixed = ((uintptr_t)parent >> 6) * 0x9E3779B97F4A7C15u ^
			 (uint64_t)key * 0xC2B2AE3D27D4EB4Fu;

	return (size_t)((mixed ^ mixed >> 29) & (thread->n_slots - 1));
}

static void insert(struct tr_thread *thread, struct tr_node *node)
{
	size_t i = slot_of(thread, node->parent, node->key);

	while (thread->slot[i])
		i = (i + 1) & (thread->n_slots - 1);
	thread->slot[i] = node;
}

/* Keeps at least half of the slots free. */
static bool grow_slots(struct tr_thread *thread)
{
	struct tr_node **old = thread->slot;
	size_t n_old = thread->n_slots;
	size_t n_slots = n_old ? n_old * 2 : FIRST_SLOTS;

	if (thread->n_nodes * 2 < n_old)
		return true;
	thread->slot = map_zeros(n_slots * sizeof(*thread->slot));
	if (!thread->slot) {
		thread->slot = old;
		return false;
	}
	thread->n_slots = n_slots;
	for (size_t i = 0; i < n_old; i++)
		if (old[i])
			insert(thread, old[i]);
	if (old)
		(void)munmap(old, n_old * sizeof(*old));
	return true;
}

static struct tr_node *make_child(struct tr_thread *thread, uintptr_t key,
				  PyObject *function)
{
	struct tr_node *node;

	if (!grow_slots(thread))
		return NULL;
	node = take_node(thread);
	if (!node)
		return NULL;
	node->key = key;
	node->parent = thread->current;
	node->hot = &nothing;
	thread->n_nodes++;
	insert(thread, node);
	node->parent->hot = node;
	if (!(key & 1))
		Py_INCREF(function);
	else
		tr_session_name(thread->session, key, function);
	return node;
}

/* A call that has no node: it and all that it calls are one. */
static struct tr_node *enter_other(struct tr_thread *thread)
{
	struct tr_node *parent = thread->current;

	if (parent == &thread->other) {
		thread->other_depth++;
		parent = thread->other.parent;
	} else {
		thread->other_depth = 1;
		thread->other.parent = parent;
		thread->other_start = tr_ticks();
	}
	if (parent->other_calls < UINT32_MAX)
		parent->other_calls++;
	return &thread->other;
}

struct tr_node *tr_child(struct tr_thread *thread, uintptr_t key,
			 PyObject *function)
{
	struct tr_node *parent = thread->current, *node;

	if (parent == &thread->other)
		return enter_other(thread);
	if (thread->n_slots) {
		size_t i = slot_of(thread, parent, key);

		for (; (node = thread->slot[i]);
		     i = (i + 1) & (thread->n_slots - 1)) {
			if (node->parent != parent || node->key != key)
				continue;
			parent->hot = node;
			return node;
		}
	}
	node = make_child(thread, key, function);
	return node ? node : enter_other(thread);
}

/* 0 to 30 calls, 15 in the mean: no rhythm of the program can match it. */
void tr_space_out(struct tr_thread *thread, struct tr_node *node)
{
	if (node->is_irregular || thread->session->times_every_call)
		return;
	if (!node->is_sampled) {
		/* Exact, and slower than later ones: no part of their mean. */
		node->is_sampled = true;
		node->n_first = node->n_timed;
		node->first_ticks = node->ticks;
		node->ticks = node->n_timed = 0;
	}
	thread->random = thread->random * 6364136223846793005u + 1;
	node->countdown = (uint32_t)((thread->random >> 32) * 31 >> 32);
}

/* One long call is chance: a page from disk, or the hypervisor. */
static bool has_long_share(const struct tr_node *node)
{
	double mean = (double)(node->ticks + node->first_ticks) /
		      ((double)node->n_timed + node->n_first + 1);

	return node->n_suspect >= 2 &&
	       (double)node->suspect_ticks * 8 > mean * (double)node->n_calls;
}

void tr_note_long(struct tr_thread *thread, struct tr_node *node,
		  uint64_t ticks)
{
	struct rusage usage;

	if (node->is_irregular || getrusage(RUSAGE_THREAD, &usage))
		return;
	if (usage.ru_nivcsw == thread->n_preempted) {
		node->n_suspect++;
		node->suspect_ticks += ticks;
		node->is_irregular = has_long_share(node);
	}
	thread->n_preempted = usage.ru_nivcsw;
	if (node->is_irregular)
		node->countdown = 0;
}

void tr_leave_other(struct tr_thread *thread, uint64_t now)
{
	struct tr_node *parent = thread->other.parent;

	if (thread->other_depth > 1) {
		thread->other_depth--;
		return;
	}
	thread->other_depth = 0;
	parent->other_ticks += now - thread->other_start;
	thread->current = parent;
}

void tr_leave_until(struct tr_thread *thread, uintptr_t key)
{
	struct tr_node *node = thread->current;

	while (node && node != thread->floor && node->key != key)
		node = node->parent;
	if (!node || node == thread->floor)
		return;
	while (thread->current != node)
		tr_leave(thread, thread->current);
	tr_leave(thread, node);
}

/* ---- how long a thread waited for a processor -------------------------- */

struct tr_delay tr_thread_delay(const struct tr_thread *thread)
{
	pid_t tid = __atomic_load_n(&thread->tid, __ATOMIC_ACQUIRE);

	if (!tid)
		return thread->delay;
	return tr_delay_sum(thread->delay, thread->begin, tr_delay_read(tid));
}

void tr_thread_begin(struct tr_thread *thread)
{
	pid_t tid = gettid();

	thread->begin = tr_delay_read(tid);
	__atomic_store_n(&thread->tid, tid, __ATOMIC_RELEASE);
}

/* By the thread at its end or by the one that stops: the first one adds. */
void tr_thread_end(struct tr_thread *thread)
{
	pid_t tid = __atomic_exchange_n(&thread->tid, 0, __ATOMIC_ACQ_REL);

	if (tid)
		thread->delay = tr_delay_sum(thread->delay, thread->begin,
					     tr_delay_read(tid));
}

/* ---- the end ----------------------------------------------------------- */

void tr_thread_close(struct tr_thread *thread, uint64_t now)
{
	tr_thread_end(thread);
	if (thread->current == &thread->other) {
		thread->other_depth = 1;
		tr_leave_other(thread, now);
	}
	for (struct tr_node *node = thread->current;
	     node && node != &thread->root; node = node->parent) {
		if (!node->start)
			continue;
		node->long_ticks += now - node->start;
		node->n_long++;
	}
	tr_thread_drop_open(thread);
}

void tr_thread_drop_open(struct tr_thread *thread)
{
	thread->current = &thread->root;
	thread->floor = &thread->root;
	thread->other_depth = 0;
}

void tr_thread_release(struct tr_thread *thread)
{
	struct tr_chunk *chunk = thread->first_chunk, *next;

	for (; chunk; chunk = next) {
		next = chunk->next;
		for (size_t i = 0; i < chunk->n_used; i++)
			if (!(chunk->node[i].key & 1))
				Py_DECREF((PyObject *)chunk->node[i].key);
		(void)munmap(chunk, chunk_bytes(chunk->n_slots));
	}
	if (thread->slot)
		(void)munmap(thread->slot,
			     thread->n_slots * sizeof(*thread->slot));
	thread->first_chunk = thread->last_chunk = NULL;
	thread->slot = NULL;
	thread->n_slots = thread->n_nodes = 0;
	memset(&thread->root, 0, sizeof(thread->root));
	memset(&thread->other, 0, sizeof(thread->other));
	tr_thread_init(thread, thread->session);
}
