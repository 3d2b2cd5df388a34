/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stepper: times each step of a generator, from where it is resumed to where
 * it yields or ends. The time in between is its caller's. A step is a call, as
 * it is in cProfile.
 */
#include "core.h"

typedef struct {
	PyObject_HEAD
	PyObject *generator;
	tare_site *site;
} Stepper;

static PyTypeObject *stepper_type;
static PyObject *send_name, *throw_name, *close_name;

/* A generator that ends is no failure. */
static void end_step(Stepper *stepper, PyObject *result)
{
	tare_scope scope;

	if (!core_pop(stepper, &scope))
		return;
	if (!result && PyErr_Occurred() &&
	    !PyErr_ExceptionMatches(PyExc_StopIteration))
		core_fail_now(scope);
	tare_scope_end(scope);
}

static void begin_step(Stepper *stepper)
{
	core_push(core_fiber_here(), tare_scope_begin(stepper->site), stepper);
}

/* PyIter_Next() would lose the value of a StopIteration. */
static PyObject *stepper_next(PyObject *self)
{
	Stepper *stepper = (Stepper *)self;
	iternextfunc next = PyType_GetSlot(Py_TYPE(stepper->generator),
					   Py_tp_iternext);
	PyObject *result;

	begin_step(stepper);
	result = next(stepper->generator);
	end_step(stepper, result);
	return result;
}

static PyObject *step_by(PyObject *self, PyObject *name, PyObject *args)
{
	Stepper *stepper = (Stepper *)self;
	PyObject *call = PyObject_GetAttr(stepper->generator, name), *result;

	if (!call)
		return NULL;
	begin_step(stepper);
	result = PyObject_CallObject(call, args);
	end_step(stepper, result);
	Py_DECREF(call);
	return result;
}

static PyObject *stepper_send(PyObject *self, PyObject *args)
{
	return step_by(self, send_name, args);
}

static PyObject *stepper_throw(PyObject *self, PyObject *args)
{
	return step_by(self, throw_name, args);
}

static PyObject *stepper_close(PyObject *self, PyObject *args)
{
	return step_by(self, close_name, args);
}

static int stepper_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((Stepper *)self)->generator);
	return 0;
}

static int stepper_clear(PyObject *self)
{
	Py_CLEAR(((Stepper *)self)->generator);
	return 0;
}

static void stepper_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	(void)stepper_clear(self);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

static PyMethodDef stepper_methods[] = {
	{ "send", stepper_send, METH_VARARGS, NULL },
	{ "throw", stepper_throw, METH_VARARGS, NULL },
	{ "close", stepper_close, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot stepper_slots[] = {
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, stepper_next },
	{ Py_tp_methods, stepper_methods },
	{ Py_tp_traverse, stepper_traverse },
	{ Py_tp_clear, stepper_clear },
	{ Py_tp_dealloc, stepper_free },
	{ 0, NULL },
};

static PyType_Spec stepper_spec = {
	.name = "tare._tare.Stepper",
	.basicsize = sizeof(Stepper),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = stepper_slots,
};

/* stepper(generator, name) */
static PyObject *new_stepper(PyObject *module, PyObject *args)
{
	PyObject *generator, *name;
	tare_site *site;
	Stepper *stepper;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO", &generator, &name))
		return NULL;
	if (!PyIter_Check(generator)) {
		PyErr_SetString(PyExc_TypeError, "a generator is needed");
		return NULL;
	}
	site = core_scope_site(name);
	stepper = site ? PyObject_GC_New(Stepper, stepper_type) : NULL;
	if (!stepper)
		return NULL;
	stepper->generator = Py_NewRef(generator);
	stepper->site = site;
	PyObject_GC_Track((PyObject *)stepper);
	return (PyObject *)stepper;
}

static PyMethodDef functions[] = {
	{ "stepper", new_stepper, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

int core_step_add(PyObject *module)
{
	send_name = PyUnicode_InternFromString("send");
	throw_name = PyUnicode_InternFromString("throw");
	close_name = PyUnicode_InternFromString("close");
	if (!send_name || !throw_name || !close_name ||
	    core_type_add(module, &stepper_spec, &stepper_type) < 0)
		return -1;
	return PyModule_AddFunctions(module, functions);
}
