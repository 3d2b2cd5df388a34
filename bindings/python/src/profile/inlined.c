/* SPDX-License-Identifier: Apache-2.0 */
#include "inlined.h"

#if TR_HAS_INLINED

#define FIRST_RIGHT 0x030b0700u /* the first version without the fault */

#define FIRST_VERSION 0x80000000u /* functions get theirs from 1 on */

static uint32_t next_version = FIRST_VERSION;
static PyObject *changed; /* list of functions, or NULL */

static bool is_meant(PyFunctionObject *function)
{
	PyObject *name = ((PyCodeObject *)function->func_code)->co_name;

	return function->func_version < FIRST_VERSION &&
	       PyUnicode_CompareWithASCIIString(name, "__getitem__") == 0;
}

static bool change(PyFunctionObject *function)
{
	if (!is_meant(function))
		return true;
	if (PyList_Append(changed, (PyObject *)function) < 0)
		return false;
	/* Unique, and code that was made for the old version falls back. */
	function->func_version = next_version++;
	if (next_version == 0)
		next_version = FIRST_VERSION;
	return true;
}

static bool change_all(PyObject *objects)
{
	for (Py_ssize_t i = 0; i < PyList_GET_SIZE(objects); i++) {
		PyObject *object = PyList_GET_ITEM(objects, i);

		if (PyFunction_Check(object) &&
		    !change((PyFunctionObject *)object))
			return false;
	}
	return true;
}

bool tr_inlined_stop_all(void)
{
	PyObject *gc, *objects;
	bool is_done;

	if (Py_Version >= FIRST_RIGHT || changed)
		return true;
	changed = PyList_New(0);
	gc = changed ? PyImport_ImportModule("gc") : NULL;
	objects = gc ? PyObject_CallMethod(gc, "get_objects", NULL) : NULL;
	is_done = objects && change_all(objects);
	Py_XDECREF(objects);
	Py_XDECREF(gc);
	if (!is_done)
		tr_inlined_restore();
	return is_done;
}

void tr_inlined_restore(void)
{
	for (Py_ssize_t i = 0; changed && i < PyList_GET_SIZE(changed); i++) {
		PyObject *object = PyList_GET_ITEM(changed, i);

		((PyFunctionObject *)object)->func_version = 0;
	}
	Py_CLEAR(changed);
}

void tr_inlined_stop(tr_frame *frame)
{
	PyObject *type, *value, *trace;

	if (!changed)
		return;
	PyErr_Fetch(&type, &value, &trace);
	if (frame->f_func && PyFunction_Check(frame->f_func))
		(void)change(frame->f_func);
	PyErr_Restore(type, value, trace);
}

#endif
