/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scopes: with tare.scope("load"): ...
 *
 * tare.scope(name) gives the same object each time: no allocation. With
 * attributes it is a new object, and the call is kept as a record.
 */
#include "core.h"

#include <stdio.h>
#include <string.h>

#define TEXT_BYTES 512u

typedef struct {
	PyObject_HEAD
	tare_site *site;
	PyObject *name;
	PyObject *attrs; /* a dict, or NULL */
} Scope;

static PyTypeObject *scope_type;
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
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = scope_slots,
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
	scope = new_scope(site, name, NULL);
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
	return core_type_add(module, &scope_spec, &scope_type);
}
