/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The module tare._tare.
 *
 * One for the process: the recorder is one, too. A subinterpreter that shares
 * the GIL gets the same objects; others cannot import it, and CPython says so.
 */
#include "core.h"

PyObject *core_error(int error, const char *what)
{
	PyObject *type = PyExc_OSError;

	if (error == TARE_EINVAL || error == TARE_ERANGE ||
	    error == TARE_EAMBIGUOUS)
		type = PyExc_ValueError;
	else if (error == TARE_ENOMEM)
		type = PyExc_MemoryError;
	else if (error == TARE_ENOENT)
		type = PyExc_FileNotFoundError;
	else if (error == TARE_EPERM)
		type = PyExc_PermissionError;
	else if (error == TARE_EOFF || error == TARE_EDEAD)
		type = PyExc_RuntimeError;
	PyErr_Format(type, "%s: %s", what, tare_strerror(error));
	return NULL;
}

int core_type_add(PyObject *module, PyType_Spec *spec, PyTypeObject **ret)
{
	PyObject *type = PyType_FromSpec(spec);

	if (!type)
		return -1;
	if (ret)
		*ret = (PyTypeObject *)Py_NewRef(type);
	if (PyModule_AddType(module, (PyTypeObject *)type) < 0) {
		Py_DECREF(type);
		return -1;
	}
	Py_DECREF(type);
	return 0;
}

static PyMethodDef functions[] = {
	{ "scope", (PyCFunction)(void *)core_scope,
	  METH_FASTCALL | METH_KEYWORDS,
	  "scope(name, **attrs)\n--\n\n"
	  "Times the block of a with statement.\n\n"
	  "With attributes the call is an operation, which is also kept as a\n"
	  "record. An exception marks the call as failed and goes on.\n\n"
	  ">>> import tare\n"
	  ">>> with tare.scope('load', photo_id=7):\n"
	  "...     pass\n" },
	{ NULL, NULL, 0, NULL },
};

static struct PyModuleDef definition = {
	PyModuleDef_HEAD_INIT,
	.m_name = "tare._tare",
	.m_doc = "The recorder and the reader of tare, in C.",
	.m_size = -1,
	.m_methods = functions,
};

PyMODINIT_FUNC PyInit__tare(void)
{
	PyObject *module = PyModule_Create(&definition);

	if (!module)
		return NULL;
	if (core_fiber_init() < 0 || core_scope_add(module) < 0 ||
	    core_timed_add(module) < 0 || core_step_add(module) < 0 ||
	    core_series_add(module) < 0 || core_stage_add(module) < 0 ||
	    core_control_add(module) < 0 || core_training_add(module) < 0 ||
	    core_view_add(module) < 0 || core_measured_add(module) < 0 ||
	    core_handle_add(module) < 0 || core_machine_add(module) < 0 ||
	    core_slots_add(module) < 0 ||
	    PyModule_AddStringConstant(module, "version", tare_version()) < 0) {
		Py_DECREF(module);
		return NULL;
	}
	return module;
}
