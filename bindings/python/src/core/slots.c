/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MetricsCollectorSlots: a small accumulator of latencies, one per stage.
 *
 * Why in C: a Python class with __slots__ has the head of the garbage collector
 * and boxes every number; with its name such a collector takes more than 120
 * bytes. This one takes 48 and its name. It is not tracked by the garbage
 * collector: its name is a str, and its recent latencies are floats.
 *
 * The deque of the last 100 latencies, some 600 bytes, is made when it is first
 * asked for: most collectors of ten thousand never need it.
 */
#include "core.h"

#include <stddef.h>
#include <structmember.h>

#define RECENT 100

struct collector {
	PyObject_HEAD
	PyObject *name;
	PyObject *recent; /* a deque, or NULL: not asked for so far */
	long long count;
	double total_ms;
};

static PyObject *make_deque(void)
{
	PyObject *module = PyImport_ImportModule("collections"), *made = NULL;
	PyObject *type = NULL;

	if (module)
		type = PyObject_GetAttrString(module, "deque");
	if (type)
		made = PyObject_CallFunction(type, "()i", RECENT);
	Py_XDECREF(type);
	Py_XDECREF(module);
	return made;
}

static PyObject *recent_get(PyObject *self, void *closure)
{
	struct collector *collector = (struct collector *)self;

	(void)closure;
	if (!collector->recent)
		collector->recent = make_deque();
	Py_XINCREF(collector->recent);
	return collector->recent;
}

static int recent_set(PyObject *self, PyObject *value, void *closure)
{
	struct collector *collector = (struct collector *)self;
	PyObject *before = collector->recent;

	(void)closure;
	Py_XINCREF(value);
	collector->recent = value;
	Py_XDECREF(before);
	return 0;
}

static PyObject *name_get(PyObject *self, void *closure)
{
	PyObject *name = ((struct collector *)self)->name;

	(void)closure;
	if (!name) {
		PyErr_SetString(PyExc_AttributeError, "stageName");
		return NULL;
	}
	Py_INCREF(name);
	return name;
}

static int name_set(PyObject *self, PyObject *value, void *closure)
{
	struct collector *collector = (struct collector *)self;
	PyObject *before = collector->name;

	(void)closure;
	/* Anything else could refer to the collector, and never be freed. */
	if (value && !PyUnicode_Check(value)) {
		PyErr_SetString(PyExc_TypeError, "stageName must be a str");
		return -1;
	}
	Py_XINCREF(value);
	collector->name = value;
	Py_XDECREF(before);
	return 0;
}

static PyObject *mean_get(PyObject *self, void *closure)
{
	const struct collector *collector = (struct collector *)self;

	(void)closure;
	return PyFloat_FromDouble(collector->count > 0 ?
					  collector->total_ms /
						  (double)collector->count :
					  0.0);
}

static PyObject *count_get(PyObject *self, void *closure)
{
	(void)closure;
	return PyLong_FromLongLong(((struct collector *)self)->count);
}

/* T_LONGLONG would store -1 for what is no number. */
static int count_set(PyObject *self, PyObject *value, void *closure)
{
	long long count = value ? PyLong_AsLongLong(value) : -1;

	(void)closure;
	if (!value)
		PyErr_SetString(PyExc_TypeError, "cannot delete count");
	if (count == -1 && PyErr_Occurred())
		return -1;
	((struct collector *)self)->count = count;
	return 0;
}

static PyObject *add(PyObject *self, PyObject *latency)
{
	struct collector *collector = (struct collector *)self;
	double ms = PyFloat_AsDouble(latency);
	PyObject *recent, *done = NULL;

	if (ms == -1.0 && PyErr_Occurred())
		return NULL;
	recent = recent_get(self, NULL);
	if (recent)
		done = PyObject_CallMethod(recent, "append", "O", latency);
	Py_XDECREF(recent);
	if (!done)
		return NULL;
	collector->count++;
	collector->total_ms += ms;
	return done;
}

static int init(PyObject *self, PyObject *args, PyObject *kwargs)
{
	static char word[] = "stageName";
	static char *words[] = { word, NULL };
	PyObject *name;

	if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", words, &name))
		return -1;
	((struct collector *)self)->count = 0;
	((struct collector *)self)->total_ms = 0;
	if (recent_set(self, NULL, NULL))
		return -1;
	return name_set(self, name, NULL);
}

static void dealloc(PyObject *self)
{
	struct collector *collector = (struct collector *)self;
	PyTypeObject *type = Py_TYPE(self);
	freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);

	Py_XDECREF(collector->name);
	Py_XDECREF(collector->recent);
	release(self);
	Py_DECREF(type);
}

static PyObject *repr(PyObject *self)
{
	const struct collector *collector = (struct collector *)self;
	PyObject *total = PyFloat_FromDouble(collector->total_ms), *text;

	if (!total)
		return NULL;
	text = PyUnicode_FromFormat(
		"MetricsCollectorSlots(stageName=%R, count=%lld, totalMs=%R)",
		collector->name ? collector->name : Py_None, collector->count,
		total);
	Py_DECREF(total);
	return text;
}

static PyGetSetDef getsets[] = {
	{ "stageName", name_get, name_set, "Name of the stage.", NULL },
	{ "recentLatencies", recent_get, recent_set,
	  "The last 100 latencies in ms, a deque.", NULL },
	{ "count", count_get, count_set, "Number of records.", NULL },
	{ "meanMs", mean_get, NULL, "totalMs / count, 0 if there are none.",
	  NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyMemberDef members[] = {
	{ "totalMs", T_DOUBLE, offsetof(struct collector, total_ms), 0,
	  "Sum of the latencies in ms." },
	{ NULL, 0, 0, 0, NULL },
};

static PyMethodDef methods[] = {
	{ "add", add, METH_O,
	  "add(latency_ms)\n--\n\nCounts a record with its latency." },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot type_slots[] = {
	{ Py_tp_doc, "MetricsCollectorSlots(stageName)\n--\n\n"
		     "Counts and latencies of a stage, in 48 bytes. It has "
		     "these attributes and no others." },
	{ Py_tp_init, init },
	{ Py_tp_dealloc, dealloc },
	{ Py_tp_repr, repr },
	{ Py_tp_getset, getsets },
	{ Py_tp_members, members },
	{ Py_tp_methods, methods },
	{ 0, NULL },
};

static PyType_Spec spec = {
	.name = "tare.pipeline.MetricsCollectorSlots",
	.basicsize = sizeof(struct collector),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = type_slots,
};

int core_slots_add(PyObject *module)
{
	PyObject *type = PyType_FromSpec(&spec), *names;
	int err = -1;

	if (!type)
		return -1;
	names = Py_BuildValue("(ssss)", "stageName", "count", "totalMs",
			      "recentLatencies");
	if (names)
		err = PyObject_SetAttrString(type, "__slots__", names);
	Py_XDECREF(names);
	if (!err)
		err = PyModule_AddObjectRef(module, "MetricsCollectorSlots",
					    type);
	Py_DECREF(type);
	return err;
}
