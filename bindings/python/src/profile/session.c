/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <pthread.h>
#include <stdlib.h>

/*
 * Below that many threads, the tree of an ended thread is kept apart. Above,
 * new threads go on with the trees of ended ones, so that a program that
 * makes threads forever needs no memory forever.
 */
#define MANY_THREADS 64u
#define STACK_RESERVE (192u << 10) /* for C functions above a frame */

__thread struct tr_self tr_self __attribute__((tls_model("initial-exec")));
uint64_t tr_active;
struct tr_session *tr_running;

static uint64_t last_generation;
static pthread_key_t end_key;
static pthread_once_t end_key_once = PTHREAD_ONCE_INIT;

bool tr_session_take_node(struct tr_session *session)
{
	if (session->n_nodes >= session->max_nodes)
		return false;
	session->n_nodes++;
	return true;
}

void tr_session_name(struct tr_session *session, uintptr_t key,
		     PyObject *function)
{
	PyObject *type, *value, *trace, *address, *name;

	PyErr_Fetch(&type, &value, &trace);
	address = PyLong_FromVoidPtr((void *)key);
	if (address && !PyDict_Contains(session->names, address)) {
		name = tr_function_name(function);
		if (name)
			(void)PyDict_SetItem(session->names, address, name);
		Py_XDECREF(name);
	}
	Py_XDECREF(address);
	PyErr_Restore(type, value, trace);
}

/* ---- threads ----------------------------------------------------------- */

/* Runs when a thread ends. The tree may be gone, unless still measured. */
static void on_thread_end(void *unused)
{
	(void)unused;
	if (tr_self.generation != tr_active || !tr_self.thread)
		return;
	tr_thread_end(tr_self.thread);
	tr_self.thread->is_ended = true;
}

static void make_end_key(void)
{
	(void)pthread_key_create(&end_key, on_thread_end);
}

/* The lowest address that a frame may use, of the calling thread. */
static uintptr_t stack_low(void)
{
	pthread_attr_t attributes;
	void *base = NULL;
	size_t size = 0;

	if (pthread_getattr_np(pthread_self(), &attributes))
		return 0;
	(void)pthread_attr_getstack(&attributes, &base, &size);
	(void)pthread_attr_destroy(&attributes);
	return size > 2 * STACK_RESERVE ? (uintptr_t)base + STACK_RESERVE : 0;
}

static struct tr_thread *find_thread(struct tr_session *session, uint64_t id)
{
	struct tr_thread *thread = session->threads;

	while (thread && thread->state_id != id)
		thread = thread->next;
	return thread;
}

static struct tr_thread *find_ended(struct tr_session *session)
{
	struct tr_thread *thread = session->threads;

	if (session->n_threads < MANY_THREADS)
		return NULL;
	while (thread && !thread->is_ended)
		thread = thread->next;
	if (thread)
		tr_thread_drop_open(thread);
	return thread;
}

struct tr_thread *tr_session_thread(struct tr_session *session,
				    PyThreadState *state)
{
	struct tr_thread *thread;

	if (state->interp != session->interp ||
	    (!session->is_all_threads && state->id != session->owner_id))
		return NULL;
	thread = find_thread(session, state->id);
	if (thread)
		return thread;
	thread = find_ended(session);
	if (!thread) {
		thread = calloc(1, sizeof(*thread));
		if (!thread)
			return NULL;
		tr_thread_init(thread, session);
		thread->next = session->threads;
		session->threads = thread;
		session->n_threads++;
	}
	thread->is_ended = false;
	thread->state_id = state->id;
	thread->ident = state->thread_id;
	thread->host_hook = NULL;
	return thread;
}

struct tr_thread *tr_thread_attach(void)
{
	PyThreadState *state;

	if (!tr_active)
		return NULL;
	state = PyThreadState_Get();
	tr_self.thread = tr_session_thread(tr_running, state);
	tr_self.generation = tr_active;
	if (tr_self.thread) {
		tr_self.thread->ident = state->thread_id;
		tr_self.thread->stack_low = stack_low();
		tr_thread_begin(tr_self.thread);
		(void)pthread_once(&end_key_once, make_end_key);
		(void)pthread_setspecific(end_key, tr_self.thread);
	}
	return tr_self.thread;
}

/* ---- start and stop ---------------------------------------------------- */

static void close_threads(struct tr_session *session)
{
	uint64_t now = tr_ticks();

	for (struct tr_thread *t = session->threads; t; t = t->next)
		tr_thread_close(t, now);
}

enum tr_start tr_session_start(struct tr_session *session,
			       const struct tr_engine *engine)
{
	PyThreadState *state = PyThreadState_Get();
	enum tr_start how;

	session->interp = state->interp;
	session->owner_id = state->id;
	session->generation = ++last_generation;
	tr_running = session;
	tr_active = session->generation;
	how = engine->start(session);
	if (how != TR_STARTED) {
		tr_active = 0;
		tr_running = NULL;
		return how;
	}
	session->engine = engine;
	session->started = tr_ticks();
	return how;
}

void tr_session_stop(struct tr_session *session)
{
	if (!session->engine)
		return;
	close_threads(session);
	session->ran += tr_ticks() - session->started;
	session->engine->stop(session);
	if (session->is_deep)
		tr_engine_events.stop(session);
	session->engine = NULL;
	tr_active = 0;
	tr_running = NULL;
}

void tr_session_go_deep(struct tr_session *session)
{
	PyObject *type, *value, *trace;

	if (session->is_deep)
		return;
	session->is_deep = true;
	PyErr_Fetch(&type, &value, &trace);
	session->engine->stop(session);
	for (struct tr_thread *t = session->threads; t; t = t->next)
		t->floor = t->current == &t->other ? t->other.parent
						   : t->current;
	if (tr_engine_events.start(session) != TR_STARTED)
		session->has_loss = true;
	PyErr_Restore(type, value, trace);
}

void tr_session_clear(struct tr_session *session)
{
	struct tr_thread *thread = session->threads, *next;

	session->threads = NULL;
	session->n_threads = session->n_nodes = 0;
	session->ran = 0;
	session->is_deep = session->has_loss = false;
	for (; thread; thread = next) {
		next = thread->next;
		tr_thread_release(thread);
		free(thread);
	}
}

void tr_session_after_fork(void)
{
	if (!tr_running)
		return;
	for (struct tr_thread *t = tr_running->threads; t; t = t->next)
		if (t != tr_self.thread) {
			tr_thread_drop_open(t);
			t->tid = 0;
			t->is_ended = true;
		} else if (t->tid) {
			tr_thread_begin(t);
		}
}

/* ---- own cost ---------------------------------------------------------- */

#define COST_CALLS 256
#define COST_ROUNDS 16

/* Ticks of a call of nothing, and those that its node has. */
static double time_calls(struct tr_thread *thread, double *ret_inside)
{
	PyObject *key = Py_None;
	struct tr_node *node = thread->root.hot;
	uint64_t begin;

	node->ticks = 0;
	begin = tr_ticks();
	for (int i = 0; i < COST_CALLS; i++)
		tr_leave(thread, tr_enter(thread, (uintptr_t)key, key));
	*ret_inside = (double)node->ticks / COST_CALLS;
	return (double)(tr_ticks() - begin) / COST_CALLS;
}

/* The least of several rounds: a round may be interrupted. */
struct tr_call_cost tr_session_call_cost(void)
{
	struct tr_session session = { .max_nodes = 4,
				      .times_every_call = true };
	struct tr_thread thread = { .root = { .key = 0 } };
	struct tr_call_cost cost = { 1e9, 1e9, 1e9 };
	double all, inside;

	tr_thread_init(&thread, &session);
	tr_leave(&thread, tr_enter(&thread, (uintptr_t)Py_None, Py_None));
	for (int round = 0; round < COST_ROUNDS; round++) {
		thread.root.hot->countdown = 0;
		all = time_calls(&thread, &inside);
		if (all < cost.inside + cost.outside) {
			cost.inside = inside;
			cost.outside = all > inside ? all - inside : 0;
		}
		thread.root.hot->countdown = COST_CALLS;
		all = time_calls(&thread, &inside);
		if (all < cost.untimed)
			cost.untimed = all;
	}
	tr_thread_release(&thread);
	return cost;
}

/* Timing a call that is not short costs less than 2 % of it. */
void tr_session_init(void)
{
	struct tr_call_cost cost;

	tr_long_ticks = (uint64_t)(50e-6 / tr_clock_tick_s());
	cost = tr_session_call_cost();
	tr_short_ticks = (uint64_t)(50 * (cost.inside + cost.outside));
}
