/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The extension _tare: what its files know of one another.
 *
 * One build serves all CPython from 3.10 on (the limited API). A few calls and
 * flags are older than their place in the limited API; they are declared here,
 * and have not changed since 3.10.
 *
 * Nothing here may change what the measured program does: a failure of tare
 * inside a probe leaves no exception behind, and an exception of the program
 * passes through untouched.
 */
#ifndef TARE_PYTHON_CORE_H
#define TARE_PYTHON_CORE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "tare.h"

#ifndef Py_TPFLAGS_HAVE_VECTORCALL
#define Py_TPFLAGS_HAVE_VECTORCALL (1UL << 11)
#endif
#ifndef Py_TPFLAGS_METHOD_DESCRIPTOR
#define Py_TPFLAGS_METHOD_DESCRIPTOR (1UL << 17)
#endif
#define CORE_ARGS_OFFSET ((size_t)1 << (8 * sizeof(size_t) - 1))
#define CORE_NARGS(n) ((Py_ssize_t)((n) & ~CORE_ARGS_OFFSET))

/* Not in the limited API before 3.12. */
PyAPI_FUNC(PyObject *) PyVectorcall_Call(PyObject *callable, PyObject *tuple,
					PyObject *named);

typedef PyObject *(*core_vectorcall)(PyObject *callable,
				     PyObject *const *args, size_t nargsf,
				     PyObject *names);

/* PyObject_Vectorcall, or what does the same in 3.10. */
extern core_vectorcall core_call;

/* Sets a TARE_E* as an exception of Python; returns NULL. */
PyObject *core_error(int error, const char *what);

/* ---- names (names.c) --------------------------------------------------- */

/*
 * A name as UTF-8, or NULL with an exception: it is no str, it is empty, or it
 * has a NUL. `*ret_owned` is to be released after use.
 */
const char *core_name(PyObject *name, PyObject **ret_owned);

/* Text for a record: below `size` bytes, whole characters; never fails. */
const char *core_text(PyObject *object, char *text, size_t size);

/* Sites by name. `guess` saves the lookup of a name that was just used. */
#define CORE_GUESSES 256u
struct core_names {
	PyObject *all; /* name -> object */
	struct {
		PyObject *name, *object; /* owned */
	} guess[CORE_GUESSES];
};

static inline unsigned core_names_place(PyObject *name)
{
	uintptr_t at = (uintptr_t)name >> 4;

	return (unsigned)((at ^ at >> 8) % CORE_GUESSES);
}

/* Borrowed, or NULL: look further. */
static inline PyObject *core_names_guess(const struct core_names *names,
					 PyObject *name)
{
	unsigned at = core_names_place(name);

	return names->guess[at].name == name ? names->guess[at].object : NULL;
}

/* Borrowed; NULL: not there, without an exception. */
PyObject *core_names_find(struct core_names *names, PyObject *name);
/* 0 or -1. Beyond CORE_NAMES_MOST nothing is kept. */
int core_names_keep(struct core_names *names, PyObject *name,
		    PyObject *object);
#define CORE_NAMES_MOST 65536

/* ---- open scopes (fiber.c) --------------------------------------------- */

struct core_open {
	tare_scope scope;
	const void *owner; /* by which its end finds it */
};

/*
 * The open scopes of one task: a context of contextvars in a thread. Private
 * to that thread.
 */
struct core_fiber {
	PyObject *key;	/* the context; owned while depth > 0 */
	struct core_fiber *next;
	struct core_open *open;
	uint32_t depth, room;
	tare_fiber saved; /* while another one is current */
};

extern __thread struct core_fiber *core_fiber_now
	__attribute__((tls_model("initial-exec")));
extern size_t core_context_at; /* place of the context in PyThreadState */

struct core_fiber *core_fiber_switch(void);
void core_fiber_grow(struct core_fiber *fiber, tare_scope scope,
		     const void *owner);
bool core_fiber_find(const void *owner, tare_scope *ret_scope);
int core_fiber_init(void);

static inline PyObject *core_context(void)
{
	return *(PyObject **)((char *)PyThreadState_Get() + core_context_at);
}

/* The fiber of the present task. Never NULL but without memory. */
static inline struct core_fiber *core_fiber_here(void)
{
	struct core_fiber *fiber = core_fiber_now;

	if (TARE_LIKELY(fiber && core_context_at) &&
	    TARE_LIKELY(fiber->key && fiber->key == core_context()))
		return fiber;
	return core_fiber_switch();
}

static inline void core_push(struct core_fiber *fiber, tare_scope scope,
			     const void *owner)
{
	if (TARE_UNLIKELY(!fiber || fiber->depth == fiber->room)) {
		core_fiber_grow(fiber, scope, owner);
		return;
	}
	if (!fiber->depth)
		Py_INCREF(fiber->key);
	fiber->open[fiber->depth].scope = scope;
	fiber->open[fiber->depth].owner = owner;
	fiber->depth++;
}

/*
 * Scopes of this thread that began while measuring was off and nothing was
 * open: they are not in a fiber, only counted, which saves half of the work
 * while tare is off. If measuring is switched on meanwhile, their ends find no
 * scope of their own, and must not take one of another task.
 */
extern __thread uint32_t core_missed __attribute__((tls_model("initial-exec")));

static inline bool core_is_idle(void)
{
	return !core_fiber_now || !core_fiber_now->depth;
}

/* Takes the innermost open scope of `owner`. False: there is none. */
static inline bool core_pop(const void *owner, tare_scope *ret_scope)
{
	struct core_fiber *fiber = core_fiber_here();

	if (TARE_UNLIKELY(!fiber || !fiber->depth ||
			  fiber->open[fiber->depth - 1].owner != owner))
		return core_fiber_find(owner, ret_scope);
	fiber->depth--;
	*ret_scope = fiber->open[fiber->depth].scope;
	if (!fiber->depth)
		Py_DECREF(fiber->key);
	return true;
}

/* ---- scopes (scope.c) -------------------------------------------------- */

/* Marks a scope as failed by an exception; borrows both. */
void core_fail(tare_scope scope, PyObject *type, PyObject *value);
/* The same by the exception that is set, which stays set. */
void core_fail_now(tare_scope scope);
/* The site of a scope; NULL with an exception. */
tare_site *core_scope_site(PyObject *name);
/*
 * The attributes of a dict as an array, for PyMem_Free(); they borrow from the
 * dict's texts only while it is called. NULL: no memory.
 */
struct core_attrs;
struct core_attrs *core_attrs_new(PyObject *dict, tare_attrs *ret_attrs);
/* Sets the attributes of a dict. */
void core_attributes(tare_scope scope, PyObject *attrs);

PyObject *core_scope(PyObject *module, PyObject *const *args,
		     Py_ssize_t n_args, PyObject *names);

/* ---- what each file adds to the module --------------------------------- */

int core_scope_add(PyObject *module);
int core_timed_add(PyObject *module);
int core_step_add(PyObject *module);
int core_series_add(PyObject *module);
int core_stage_add(PyObject *module);
int core_control_add(PyObject *module);
int core_training_add(PyObject *module);
int core_view_add(PyObject *module);
int core_measured_add(PyObject *module);
int core_handle_add(PyObject *module);
int core_machine_add(PyObject *module);
int core_slots_add(PyObject *module);

/* Adds a type made from a spec; gives it, too (borrowed), if asked. */
int core_type_add(PyObject *module, PyType_Spec *spec, PyTypeObject **ret);

#endif
