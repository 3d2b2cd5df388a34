/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fibers: which scopes are open in which task.
 *
 * libtare has one stack of open scopes per thread. Tasks of asyncio take turns
 * in a thread, and a scope may be open across an await, so each task has a
 * stack of its own here. A task is known by its context (contextvars): asyncio,
 * uvloop, trio and greenlets all have one context for each, and the interpreter
 * has its address at hand. Before a scope begins or ends, that address is
 * compared with the one of the last time; only if it has changed, the thread's
 * stack is saved and that of the other task is restored.
 *
 * The place of the address in PyThreadState differs between versions, and is
 * found by a search for a context that was just entered. If it is not found,
 * all tasks of a thread share one stack.
 *
 * A scope also remembers its handle here, not in its object: one object serves
 * all uses of a name, in recursion and in several threads.
 */
#include "core.h"

#include <pthread.h>
#include <stdlib.h>

/* Not in the limited API, but in every CPython since 3.7. */
PyAPI_FUNC(PyObject *) PyContext_CopyCurrent(void);
PyAPI_FUNC(int) PyContext_Enter(PyObject *context);
PyAPI_FUNC(int) PyContext_Exit(PyObject *context);

/* PyThreadState is larger than this in every version: 280 bytes in 3.10. */
#define STATE_BYTES 272u
#define FIRST_ROOM 32u

__thread struct core_fiber *core_fiber_now
	__attribute__((tls_model("initial-exec")));
__thread uint32_t core_missed __attribute__((tls_model("initial-exec")));
size_t core_context_at;

/* Of this thread: fibers with open scopes that wait, and one that is free. */
static __thread struct core_fiber *waiting, *spare;
static pthread_key_t at_exit;

/* ---- fibers ------------------------------------------------------------ */

static void free_fiber(struct core_fiber *fiber)
{
	if (fiber)
		free(fiber->open);
	free(fiber);
}

/* The references to contexts are left: there is no GIL here. */
static void free_thread(void *unused)
{
	(void)unused;
	while (waiting) {
		struct core_fiber *next = waiting->next;

		free_fiber(waiting);
		waiting = next;
	}
	free_fiber(core_fiber_now);
	free_fiber(spare);
	core_fiber_now = spare = NULL;
}

static struct core_fiber *new_fiber(void)
{
	struct core_fiber *fiber = spare;

	spare = NULL;
	if (fiber)
		return fiber;
	fiber = calloc(1, sizeof(*fiber));
	if (fiber)
		fiber->open = malloc(FIRST_ROOM * sizeof(*fiber->open));
	if (!fiber || !fiber->open) {
		free(fiber);
		return NULL;
	}
	fiber->room = FIRST_ROOM;
	(void)pthread_setspecific(at_exit, fiber); /* not NULL: it is called */
	return fiber;
}

/* A thread has no context before it needs one: this makes it. */
static PyObject *ready_context(void)
{
	PyObject *type, *value, *trace, *copy, *key;

	if (!core_context_at)
		return Py_None;
	key = core_context();
	if (key)
		return key;
	PyErr_Fetch(&type, &value, &trace);
	copy = PyContext_CopyCurrent();
	Py_XDECREF(copy);
	PyErr_Restore(type, value, trace);
	key = core_context();
	return key ? key : Py_None;
}

static struct core_fiber *take_waiting(PyObject *key)
{
	for (struct core_fiber **at = &waiting; *at; at = &(*at)->next) {
		struct core_fiber *fiber = *at;

		if (fiber->key != key)
			continue;
		*at = fiber->next;
		return fiber;
	}
	return NULL;
}

static void put_aside(struct core_fiber *fiber)
{
	if (fiber->depth) {
		tare_fiber_save(&fiber->saved);
		fiber->next = waiting;
		waiting = fiber;
	} else if (!spare) {
		spare = fiber;
	} else {
		free_fiber(fiber);
	}
}

static struct core_fiber *switch_to(PyObject *key)
{
	struct core_fiber *now = core_fiber_now, *fiber;

	if (now && now->key == key)
		return now;
	fiber = take_waiting(key);
	if (!fiber && now && !now->depth) {
		now->key = key; /* nothing is open: it may serve this one */
		return now;
	}
	if (now)
		put_aside(now);
	if (fiber) {
		tare_fiber_restore(&fiber->saved);
	} else {
		fiber = new_fiber();
		if (fiber)
			fiber->key = key;
	}
	core_fiber_now = fiber;
	return fiber;
}

struct core_fiber *core_fiber_switch(void)
{
	return switch_to(ready_context());
}

void core_fiber_grow(struct core_fiber *fiber, tare_scope scope,
		     const void *owner)
{
	struct core_open *more = NULL;

	if (fiber)
		more = realloc(fiber->open,
			       2 * fiber->room * sizeof(*fiber->open));
	if (!more) {
		tare_scope_end(scope);
		return;
	}
	fiber->open = more;
	fiber->room *= 2;
	core_push(fiber, scope, owner);
}

/* ---- ends out of order ------------------------------------------------- */

static bool take_from(struct core_fiber *fiber, const void *owner,
		      tare_scope *ret_scope)
{
	for (uint32_t i = fiber->depth; i-- > 0;) {
		if (fiber->open[i].owner != owner)
			continue;
		*ret_scope = fiber->open[i].scope;
		fiber->depth--;
		for (; i < fiber->depth; i++)
			fiber->open[i] = fiber->open[i + 1];
		if (!fiber->depth)
			Py_DECREF(fiber->key);
		return true;
	}
	return false;
}

static struct core_fiber *waiting_with(const void *owner)
{
	for (struct core_fiber *f = waiting; f; f = f->next)
		for (uint32_t i = 0; i < f->depth; i++)
			if (f->open[i].owner == owner)
				return f;
	return NULL;
}

/*
 * A generator that is left, or two that take turns: the scope is not the
 * innermost. A coroutine that is closed by another task: the scope is in a
 * fiber that waits, and is ended there.
 */
bool core_fiber_find(const void *owner, tare_scope *ret_scope)
{
	struct core_fiber *now = core_fiber_now, *there;
	PyObject *key;

	if (!now)
		return false;
	if (take_from(now, owner, ret_scope))
		return true;
	if (core_missed) {
		core_missed--;
		return false;
	}
	there = waiting_with(owner);
	if (!there)
		return false;
	key = now->key;
	(void)switch_to(there->key);
	(void)take_from(there, owner, ret_scope);
	if (ret_scope->frame)
		tare_scope_fail(*ret_scope, "left in another task");
	tare_scope_end(*ret_scope);
	ret_scope->frame = NULL;
	(void)switch_to(key);
	return true;
}

/* ---- start ------------------------------------------------------------- */

/* What the parent has open is not open in the child. */
static void forget_in_child(void)
{
	if (core_fiber_now)
		for (uint32_t i = 0; i < core_fiber_now->depth; i++)
			core_fiber_now->open[i].scope.frame = NULL;
	for (struct core_fiber *f = waiting; f; f = f->next) {
		f->saved.private_[0] = 0;
		for (uint32_t i = 0; i < f->depth; i++)
			f->open[i].scope.frame = NULL;
	}
}

static size_t find_context(PyObject *context)
{
	PyObject **state = (PyObject **)PyThreadState_Get();

	for (size_t i = 0; i < STATE_BYTES / sizeof(*state); i++)
		if (state[i] == context)
			return i * sizeof(*state);
	return 0;
}

int core_fiber_init(void)
{
	PyObject *context;

	if (core_context_at)
		return 0;
	if (pthread_key_create(&at_exit, free_thread) ||
	    pthread_atfork(NULL, NULL, forget_in_child)) {
		PyErr_NoMemory();
		return -1;
	}
	context = PyContext_CopyCurrent();
	if (!context || PyContext_Enter(context) < 0)
		return -1;
	core_context_at = find_context(context);
	if (PyContext_Exit(context) < 0)
		return -1;
	Py_DECREF(context);
	return 0;
}
