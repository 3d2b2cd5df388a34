/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes: with tare.scope("load"): ...
 *
 * tare.scope(name) gives the same object each time: no allocation. With
 * attributes it is a new object, and the call is kept as a record.
 *
 * A with statement looks __enter__ and __exit__ up in the type, and makes a
 * bound method of each: two objects, a third of the cost. So the object of a
 * name has a type of its own, whose __enter__ and __exit__ are callables that
 * know the scope and do not bind (Door). Names beyond DOORS_MOST do without.
 */
#include "core.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <structmember.h>

#define TEXT_BYTES 512u

typedef struct {
	PyObject_HEAD
	tare_site *site;
	PyObject *name;
	PyObject *attrs; /* a dict, or NULL */
} Scope;

/* A scope's __enter__ or __exit__. Also called with the scope first, as
 * contextlib.ExitStack does. */
typedef struct {
	PyObject_HEAD
	core_vectorcall call;
	tare_site *site;
	PyObject *scope;
} Door;

#define DOORS_MOST 4096

static PyTypeObject *scope_type, *door_type;
static struct core_names scopes;

/* ---- outcome and attributes -------------------------------------------- */

void core_fail(tare_scope scope, PyObject *type, PyObject *value)
{
	char text[TEXT_BYTES], message[TEXT_BYTES - 128];
	PyObject *name;

	if (!scope.frame || type == PyExc_GeneratorExit)
		return;
	name = PyObject_GetAttrString(type, "__name__");
	if (!name)
		PyErr_Clear();
	(void)snprintf(text, 128, "%s", name ?
		       core_text(name, message, 100) : "exception");
	Py_XDECREF(name);
	if (value && value != Py_None) {
		size_t n = strlen(text);
		const char *said = core_text(value, message, sizeof(message));

		if (said[0])
			(void)snprintf(text + n, sizeof(text) - n, ": %s",
				       said);
	}
	tare_scope_fail(scope, text);
}

void core_fail_now(tare_scope scope)
{
	PyObject *type, *value, *trace;

	if (!scope.frame)
		return;
	PyErr_Fetch(&type, &value, &trace);
	if (type) {
		PyErr_NormalizeException(&type, &value, &trace);
		core_fail(scope, type, value);
	}
	PyErr_Restore(type, value, trace);
}

static void attribute(tare_scope scope, const char *key, PyObject *value)
{
	char text[TEXT_BYTES];
	int is_over = 0;
	long long i;

	if (PyFloat_Check(value)) {
		tare_scope_attr_double(scope, key, PyFloat_AsDouble(value));
		return;
	}
	if (PyLong_Check(value) && !PyBool_Check(value)) {
		i = PyLong_AsLongLongAndOverflow(value, &is_over);
		if (!is_over) {
			tare_scope_attr_int(scope, key, i);
			return;
		}
	}
	tare_scope_attr_str(scope, key,
			    core_text(value, text, sizeof(text)));
}

void core_attributes(tare_scope scope, PyObject *attrs)
{
	PyObject *key, *value;
	Py_ssize_t at = 0;
	char text[TEXT_BYTES];

	if (!scope.frame)
		return;
	while (PyDict_Next(attrs, &at, &key, &value))
		attribute(scope, core_text(key, text, sizeof(text)), value);
}

/* ---- with -------------------------------------------------------------- */

static PyObject *scope_enter(PyObject *self, PyObject *unused)
{
	Scope *scope = (Scope *)self;
	struct core_fiber *fiber = core_fiber_here();
	tare_scope opened = tare_scope_begin(scope->site);

	(void)unused;
	core_push(fiber, opened, scope->site);
	if (scope->attrs)
		core_attributes(opened, scope->attrs);
	return Py_NewRef(self);
}

static PyObject *scope_exit(PyObject *self, PyObject *const *args,
			    Py_ssize_t n_args)
{
	tare_scope opened;

	if (core_pop(((Scope *)self)->site, &opened)) {
		if (n_args >= 2 && args[0] != Py_None)
			core_fail(opened, args[0], args[1]);
		tare_scope_end(opened);
	}
	return Py_NewRef(Py_False);
}

static PyObject *door_enter(PyObject *self, PyObject *const *args,
			    size_t nargsf, PyObject *names)
{
	const Door *door = (Door *)self;
	struct core_fiber *fiber;

	(void)args;
	(void)nargsf;
	(void)names;
	if (!tare_gate_(door->site) && core_is_idle()) {
		core_missed++;
		return Py_NewRef(door->scope);
	}
	fiber = core_fiber_here();
	core_push(fiber, tare_scope_begin(door->site), door->site);
	return Py_NewRef(door->scope);
}

static PyObject *door_exit(PyObject *self, PyObject *const *args,
			   size_t nargsf, PyObject *names)
{
	Py_ssize_t n_args = CORE_NARGS(nargsf);
	tare_scope opened;

	(void)names;
	if (!tare_gate_(((Door *)self)->site) && core_missed &&
	    core_is_idle()) {
		core_missed--;
		return Py_NewRef(Py_False);
	}
	if (n_args > 3) {
		args += n_args - 3;
		n_args = 3;
	}
	if (core_pop(((Door *)self)->site, &opened)) {
		if (TARE_UNLIKELY(n_args >= 2 && args[0] != Py_None))
			core_fail(opened, args[0], args[1]);
		tare_scope_end(opened);
	}
	return Py_NewRef(Py_False);
}

/* ---- during the scope -------------------------------------------------- */

static tare_scope innermost(const tare_site *site)
{
	const struct core_fiber *fiber = core_fiber_here();

	for (uint32_t i = fiber ? fiber->depth : 0; i-- > 0;)
		if (fiber->open[i].owner == site)
			return fiber->open[i].scope;
	return (tare_scope){ NULL };
}

static PyObject *scope_items(PyObject *self, PyObject *number)
{
	long long n = PyLong_AsLongLong(number);
	tare_scope opened;

	if (n == -1 && PyErr_Occurred())
		return NULL;
	if (n < 0) {
		PyErr_SetString(PyExc_ValueError,
				"a number of items must not be negative");
		return NULL;
	}
	opened = innermost(((Scope *)self)->site);
	if (opened.frame)
		tare_scope_items(opened, (uint64_t)n);
	Py_RETURN_NONE;
}

static PyObject *scope_set(PyObject *self, PyObject *args, PyObject *attrs)
{
	if (PyTuple_Size(args)) {
		PyErr_SetString(PyExc_TypeError,
				"set() takes attributes only: set(key=value)");
		return NULL;
	}
	if (attrs)
		core_attributes(innermost(((Scope *)self)->site), attrs);
	Py_RETURN_NONE;
}

static PyObject *scope_fail(PyObject *self, PyObject *reason)
{
	tare_scope opened = innermost(((Scope *)self)->site);
	char text[TEXT_BYTES];

	if (opened.frame)
		tare_scope_fail(opened,
				core_text(reason, text, sizeof(text)));
	Py_RETURN_NONE;
}

static PyObject *scope_name(PyObject *self, void *unused)
{
	(void)unused;
	return Py_NewRef(((Scope *)self)->name);
}

static PyObject *scope_repr(PyObject *self)
{
	return PyUnicode_FromFormat("tare.scope(%R)", ((Scope *)self)->name);
}

static void scope_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	Py_XDECREF(((Scope *)self)->name);
	Py_XDECREF(((Scope *)self)->attrs);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

static int scope_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((Scope *)self)->attrs);
	return 0;
}

static int scope_clear(PyObject *self)
{
	Py_CLEAR(((Scope *)self)->attrs);
	return 0;
}

static PyMethodDef scope_methods[] = {
	{ "__enter__", scope_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)(void *)scope_exit, METH_FASTCALL, NULL },
	{ "items", scope_items, METH_O,
	  "items(n): adds n items to the open call, for items per second." },
	{ "set", (PyCFunction)(void *)scope_set,
	  METH_VARARGS | METH_KEYWORDS,
	  "set(**attrs): sets attributes of the open call." },
	{ "fail", scope_fail, METH_O,
	  "fail(text): marks the open call as failed." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef scope_fields[] = {
	{ "name", scope_name, NULL, "The scope's name.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot scope_slots[] = {
	{ Py_tp_doc, "An operation that is timed: with tare.scope(name): ..." },
	{ Py_tp_methods, scope_methods },
	{ Py_tp_getset, scope_fields },
	{ Py_tp_repr, scope_repr },
	{ Py_tp_dealloc, scope_free },
	{ Py_tp_traverse, scope_traverse },
	{ Py_tp_clear, scope_clear },
	{ 0, NULL },
};

static PyType_Spec scope_spec = {
	.name = "tare._tare.Scope",
	.basicsize = sizeof(Scope),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_BASETYPE,
	.slots = scope_slots,
};

static void door_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_Free(self); /* the scope is borrowed: it has this type */
	Py_DECREF(type);
}

static PyMemberDef door_members[] = {
	{ "__vectorcalloffset__", T_PYSSIZET, offsetof(Door, call), READONLY,
	  NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyType_Slot door_slots[] = {
	{ Py_tp_call, PyVectorcall_Call },
	{ Py_tp_members, door_members },
	{ Py_tp_dealloc, door_free },
	{ 0, NULL },
};

static PyType_Spec door_spec = {
	.name = "tare._tare.Door",
	.basicsize = sizeof(Door),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
	.slots = door_slots,
};

/* ---- tare.scope() ------------------------------------------------------ */

static Scope *new_scope(tare_site *site, PyObject *name, PyObject *attrs)
{
	Scope *scope = PyObject_GC_New(Scope, scope_type);

	if (!scope)
		return NULL;
	scope->site = site;
	scope->name = Py_NewRef(name);
	scope->attrs = attrs;
	Py_XINCREF(attrs);
	PyObject_GC_Track((PyObject *)scope);
	return scope;
}

static PyObject *new_door(core_vectorcall call, tare_site *site)
{
	Door *door = PyObject_New(Door, door_type);

	if (!door)
		return NULL;
	door->call = call;
	door->site = site;
	door->scope = NULL;
	return (PyObject *)door;
}

/* A type derived from Scope, with these doors. */
static PyTypeObject *type_with(PyObject *enter, PyObject *exit)
{
	PyObject *dict = NULL, *type = NULL;

	if (enter && exit)
		dict = Py_BuildValue("{s:(),s:O,s:O,s:s}", "__slots__",
				     "__enter__", enter, "__exit__", exit,
				     "__module__", "tare");
	if (dict)
		type = PyObject_CallFunction((PyObject *)&PyType_Type,
					     "s(O)O", "Scope", scope_type,
					     dict);
	Py_XDECREF(dict);
	return (PyTypeObject *)type;
}

/* A scope with a type of its own; both are kept for ever. NULL: exception. */
static Scope *new_scope_with_doors(tare_site *site, PyObject *name)
{
	PyObject *enter = new_door(door_enter, site);
	PyObject *exit = new_door(door_exit, site);
	PyTypeObject *type = type_with(enter, exit);
	allocfunc alloc = type ? PyType_GetSlot(type, Py_tp_alloc) : NULL;
	Scope *scope = alloc ? (Scope *)alloc(type, 0) : NULL;

	if (scope) {
		scope->site = site;
		scope->name = Py_NewRef(name);
		((Door *)enter)->scope = (PyObject *)scope;
		((Door *)exit)->scope = (PyObject *)scope;
	}
	Py_XDECREF(type);
	Py_XDECREF(enter);
	Py_XDECREF(exit);
	return scope;
}

static Scope *first_scope(tare_site *site, PyObject *name)
{
	static unsigned n_doors;
	Scope *scope = NULL;

	if (n_doors < DOORS_MOST)
		scope = new_scope_with_doors(site, name);
	if (scope) {
		n_doors++;
		Py_INCREF(scope); /* for its doors, which borrow it */
		return scope;
	}
	PyErr_Clear();
	return new_scope(site, name, NULL);
}

/* The scope without attributes of a name; a new reference. */
static Scope *scope_of(PyObject *name)
{
	PyObject *owned, *found = core_names_find(&scopes, name);
	const char *text;
	tare_site *site;
	Scope *scope;

	if (TARE_LIKELY(found != NULL))
		return (Scope *)Py_NewRef(found);
	text = core_name(name, &owned);
	if (!text)
		return NULL;
	site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, text, NULL,
			     NULL);
	Py_XDECREF(owned);
	scope = first_scope(site, name);
	if (scope && core_names_keep(&scopes, name, (PyObject *)scope) < 0)
		PyErr_Clear();
	return scope;
}

tare_site *core_scope_site(PyObject *name)
{
	Scope *scope = scope_of(name);
	tare_site *site = scope ? scope->site : NULL;

	Py_XDECREF(scope);
	return site; /* handles exist for ever */
}

static PyObject *attributes_of(PyObject *const *values, PyObject *names)
{
	PyObject *attrs = PyDict_New();
	Py_ssize_t n = PyTuple_Size(names);

	for (Py_ssize_t i = 0; attrs && i < n; i++)
		if (PyDict_SetItem(attrs, PyTuple_GetItem(names, i),
				   values[i]) < 0)
			Py_CLEAR(attrs);
	return attrs;
}

PyObject *core_scope(PyObject *module, PyObject *const *args,
		     Py_ssize_t n_args, PyObject *names)
{
	PyObject *attrs;
	Scope *plain, *scope;

	(void)module;
	if (TARE_LIKELY(n_args == 1 && !names)) {
		attrs = core_names_guess(&scopes, args[0]);
		return attrs ? Py_NewRef(attrs) :
			       (PyObject *)scope_of(args[0]);
	}
	if (n_args != 1) {
		PyErr_SetString(PyExc_TypeError,
				"scope() takes a name, and attributes as "
				"keywords: scope('load', photo_id=7)");
		return NULL;
	}
	plain = scope_of(args[0]);
	if (!plain || !names || !PyTuple_Size(names))
		return (PyObject *)plain;
	attrs = attributes_of(args + 1, names);
	scope = attrs ? new_scope(plain->site, plain->name, attrs) : NULL;
	Py_XDECREF(attrs);
	Py_DECREF(plain);
	return (PyObject *)scope;
}

int core_scope_add(PyObject *module)
{
	if (core_type_add(module, &door_spec, &door_type) < 0)
		return -1;
	return core_type_add(module, &scope_spec, &scope_type);
}
