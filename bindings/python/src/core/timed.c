/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Timed functions: what tare.timed and its relatives make of a function.
 *
 * An object with a vectorcall, not a function of Python: a call costs one more
 * C call and no frame. It binds as a method, and shows every attribute of the
 * function that it wraps. The Python side (tare/_decorate.py) uses it for plain
 * functions; generators and coroutines have a wrapper of their own kind there,
 * so that inspect and web frameworks see what they are.
 *
 * Stepper is the other half: it times each step of a generator, from where it
 * is resumed to where it yields.
 */
#include "core.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <structmember.h>

/* In every CPython since 3.11; 3.10 has it only as an inline function. */
extern PyObject *PyObject_Vectorcall(PyObject *callable,
				     PyObject *const *args, size_t nargsf,
				     PyObject *names) __attribute__((weak));
PyAPI_FUNC(PyObject *) PyObject_VectorcallDict(PyObject *callable,
					       PyObject *const *args,
					       size_t nargsf, PyObject *named);
/* Not in the limited API, but in every CPython. */
PyAPI_FUNC(PyObject *) PyMethod_New(PyObject *function, PyObject *self);

typedef struct {
	PyObject_HEAD
	core_vectorcall call;
	PyObject *function;
	PyObject *items; /* counts the items of a call, or NULL */
	PyObject *dict, *weak;
	tare_site *site;
	tare_resource_site *resources; /* for tare.resources; else NULL */
} Timed;

core_vectorcall core_call;

/* ---- calls ------------------------------------------------------------- */

static PyObject *call_by_dict(PyObject *callable, PyObject *const *args,
			      size_t nargsf, PyObject *names)
{
	Py_ssize_t n = names ? PyTuple_Size(names) : 0;
	PyObject *named = n ? PyDict_New() : NULL, *result;

	for (Py_ssize_t i = 0; named && i < n; i++)
		if (PyDict_SetItem(named, PyTuple_GetItem(names, i),
				   args[CORE_NARGS(nargsf) + i]) < 0)
			Py_CLEAR(named);
	if (n && !named)
		return NULL;
	result = PyObject_VectorcallDict(callable, args, nargsf, named);
	Py_XDECREF(named);
	return result;
}

/* -1: `counter` does not accept it. */
static long long count_of(PyObject *counter, PyObject *object)
{
	PyObject *number = PyObject_CallFunctionObjArgs(counter, object, NULL);
	long long n = number ? PyLong_AsLongLong(number) : -1;

	Py_XDECREF(number);
	PyErr_Clear();
	return n;
}

/* Of the result, or else of the first argument that the counter accepts. */
static void count_items(const Timed *timed, tare_scope scope,
			PyObject *result, PyObject *const *args, size_t nargsf)
{
	long long n = -1;

	if (!scope.frame)
		return;
	if (timed->items == Py_None) {
		tare_scope_items(scope, 1);
		return;
	}
	if (result != Py_None)
		n = count_of(timed->items, result);
	for (Py_ssize_t i = 0; n < 0 && i < CORE_NARGS(nargsf); i++)
		n = count_of(timed->items, args[i]);
	if (n > 0)
		tare_scope_items(scope, (uint64_t)n);
}

static void end_call(const void *owner, const Timed *timed, PyObject *result,
		     PyObject *const *args, size_t nargsf)
{
	tare_scope scope;

	if (!core_pop(owner, &scope))
		return;
	if (TARE_UNLIKELY(!result))
		core_fail_now(scope);
	else if (timed && timed->items)
		count_items(timed, scope, result, args, nargsf);
	tare_scope_end(scope);
}

static PyObject *timed_call(PyObject *self, PyObject *const *args,
			    size_t nargsf, PyObject *names)
{
	Timed *timed = (Timed *)self;
	PyObject *result;

	if (!tare_gate_(timed->site))
		return core_call(timed->function, args, nargsf, names);
	core_push(core_fiber_here(), tare_scope_begin(timed->site), timed);
	result = core_call(timed->function, args, nargsf, names);
	end_call(timed, timed, result, args, nargsf);
	return result;
}

/* The same with the resources of the call. */
static PyObject *resources_call(PyObject *self, PyObject *const *args,
				size_t nargsf, PyObject *names)
{
	Timed *timed = (Timed *)self;
	tare_resource resource;
	tare_scope scope;
	PyObject *result;

	if (!tare_gate_(&timed->resources->site))
		return core_call(timed->function, args, nargsf, names);
	tare_resource_begin(timed->resources, &resource);
	core_push(core_fiber_here(), resource.scope, timed);
	result = core_call(timed->function, args, nargsf, names);
	if (!core_pop(timed, &scope))
		return result;
	if (!result)
		core_fail_now(scope);
	if (scope.frame)
		tare_resource_end(&resource);
	return result;
}

/* ---- as an object ------------------------------------------------------ */

static PyObject *timed_get(PyObject *self, PyObject *object, PyObject *type)
{
	(void)type;
	if (!object || object == Py_None)
		return Py_NewRef(self);
	return PyMethod_New(self, object);
}

static PyObject *timed_attribute(PyObject *self, PyObject *name)
{
	PyObject *found = PyObject_GenericGetAttr(self, name);

	if (found || !PyErr_ExceptionMatches(PyExc_AttributeError) ||
	    !((Timed *)self)->function)
		return found;
	PyErr_Clear();
	return PyObject_GetAttr(((Timed *)self)->function, name);
}

/* Pickled like the function: by its name. */
static PyObject *timed_reduce(PyObject *self, PyObject *unused)
{
	(void)unused;
	return PyObject_GetAttrString(self, "__qualname__");
}

static PyObject *timed_repr(PyObject *self)
{
	return PyUnicode_FromFormat("<timed %R>", ((Timed *)self)->function);
}

static int timed_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((Timed *)self)->function);
	Py_VISIT(((Timed *)self)->items);
	Py_VISIT(((Timed *)self)->dict);
	return 0;
}

static int timed_clear(PyObject *self)
{
	Py_CLEAR(((Timed *)self)->function);
	Py_CLEAR(((Timed *)self)->items);
	Py_CLEAR(((Timed *)self)->dict);
	return 0;
}

static void timed_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	if (((Timed *)self)->weak)
		PyObject_ClearWeakRefs(self);
	(void)timed_clear(self);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

static PyMemberDef timed_members[] = {
	{ "__vectorcalloffset__", T_PYSSIZET, offsetof(Timed, call), READONLY,
	  NULL },
	{ "__dictoffset__", T_PYSSIZET, offsetof(Timed, dict), READONLY,
	  NULL },
	{ "__weaklistoffset__", T_PYSSIZET, offsetof(Timed, weak), READONLY,
	  NULL },
	{ NULL, 0, 0, 0, NULL },
};

static PyGetSetDef timed_fields[] = {
	{ "__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL,
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMethodDef timed_methods[] = {
	{ "__reduce__", timed_reduce, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot timed_slots[] = {
	{ Py_tp_call, PyVectorcall_Call },
	{ Py_tp_descr_get, timed_get },
	{ Py_tp_getattro, timed_attribute },
	{ Py_tp_members, timed_members },
	{ Py_tp_methods, timed_methods },
	{ Py_tp_getset, timed_fields },
	{ Py_tp_repr, timed_repr },
	{ Py_tp_traverse, timed_traverse },
	{ Py_tp_clear, timed_clear },
	{ Py_tp_dealloc, timed_free },
	{ 0, NULL },
};

static PyType_Spec timed_spec = {
	.name = "tare._tare.Timed",
	.basicsize = sizeof(Timed),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC |
		 Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR,
	.slots = timed_slots,
};

static PyTypeObject *timed_type;

/* ---- making one -------------------------------------------------------- */

/* Never freed, like other sites: a ledger may refer to it. */
static tare_resource_site *resource_site(const char *name)
{
	static const tare_resource_site like = {
		.site = { .first = 1,
			  .kind = TARE_KIND_SCOPE,
			  .type = TARE_TYPE_TIME,
			  .flags = TARE_SITE_OPERATION },
	};
	tare_resource_site *site = malloc(sizeof(*site));
	char *copy = malloc(strlen(name) + 1);

	if (!site || !copy) {
		free(site);
		free(copy);
		PyErr_NoMemory();
		return NULL;
	}
	*site = like;
	site->site.gate = &site->site.first;
	site->site.name = strcpy(copy, name);
	return site;
}

static int give_site(Timed *timed, PyObject *name, int has_resources)
{
	PyObject *owned;
	const char *text = core_name(name, &owned);

	if (!text)
		return -1;
	if (has_resources)
		timed->resources = resource_site(text);
	else
		timed->site = core_scope_site(name);
	Py_XDECREF(owned);
	return timed->resources || timed->site ? 0 : -1;
}

/* timed(function, name, items, resources) */
static PyObject *new_timed(PyObject *module, PyObject *args)
{
	PyObject *function, *name, *items;
	int has_resources;
	Timed *timed;

	(void)module;
	if (!PyArg_ParseTuple(args, "OOOp", &function, &name, &items,
			      &has_resources))
		return NULL;
	timed = PyObject_GC_New(Timed, timed_type);
	if (!timed)
		return NULL;
	timed->call = has_resources ? resources_call : timed_call;
	timed->function = Py_NewRef(function);
	timed->items = items == Py_False ? NULL : Py_NewRef(items);
	timed->dict = timed->weak = NULL;
	timed->site = NULL;
	timed->resources = NULL;
	PyObject_GC_Track((PyObject *)timed);
	if (give_site(timed, name, has_resources) < 0)
		Py_CLEAR(timed);
	return (PyObject *)timed;
}

static PyMethodDef functions[] = {
	{ "timed", new_timed, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

int core_timed_add(PyObject *module)
{
	core_call = PyObject_Vectorcall ? PyObject_Vectorcall : call_by_dict;
	if (core_type_add(module, &timed_spec, &timed_type) < 0)
		return -1;
	return PyModule_AddFunctions(module, functions);
}
