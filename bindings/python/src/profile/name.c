/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions in C, the same texts that cProfile gives: reports of
 * both can be compared, and readers of pstats know these forms.
 */
#include "session.h"

static PyObject *module_name(PyCFunctionObject *function)
{
	PyObject *module = function->m_module, *name;

	if (!module)
		return NULL;
	if (PyUnicode_Check(module)) {
		Py_INCREF(module);
		return module;
	}
	name = PyModule_Check(module) ? PyModule_GetNameObject(module) : NULL;
	if (!name)
		PyErr_Clear();
	return name;
}

static PyObject *plain_function_name(PyCFunctionObject *function)
{
	PyObject *module = module_name(function), *name;

	if (module && PyUnicode_CompareWithASCIIString(module, "builtins"))
		name = PyUnicode_FromFormat("<%U.%s>", module,
					    function->m_ml->ml_name);
	else
		name = PyUnicode_FromFormat("<%s>", function->m_ml->ml_name);
	Py_XDECREF(module);
	return name;
}

/* "<method 'append' of 'list' objects>", or NULL without an exception. */
static PyObject *method_name(PyCFunctionObject *function)
{
	PyObject *key, *found, *name;

	key = PyUnicode_FromString(function->m_ml->ml_name);
	if (!key)
		return NULL;
	found = _PyType_Lookup(Py_TYPE(function->m_self), key);
	Py_XINCREF(found);
	Py_DECREF(key);
	name = found ? PyObject_Repr(found) : NULL;
	Py_XDECREF(found);
	if (!name)
		PyErr_Clear();
	return name;
}

PyObject *tr_function_name(PyObject *object)
{
	PyCFunctionObject *function = (PyCFunctionObject *)object;
	PyObject *name;

	if (!PyCFunction_Check(object))
		return PyObject_Repr(object);
	if (!function->m_self)
		return plain_function_name(function);
	name = method_name(function);
	if (name)
		return name;
	if (function->m_module && PyUnicode_Check(function->m_module))
		return PyUnicode_FromFormat("<built-in method %S.%s>",
					    function->m_module,
					    function->m_ml->ml_name);
	return PyUnicode_FromFormat("<built-in method %s>",
				    function->m_ml->ml_name);
}
