/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handles: series of any kind and type, with source and labels, and operations.
 *
 *	series = _tare.Series("value", "percentage", "cpu", "%", "system", None)
 *	series.observe(85.0)
 *	with _tare.Operation("resize", {"photo_id": 7}): ...
 *
 * tare.value() and its relatives are for a program's own probes; these are for
 * modules that get type and source from their callers. A handle is looked up
 * once and kept; a call costs no lookup. A call of an Operation is always kept
 * as a record, also without attributes.
 */
#include "core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measured.h"

#define LABELS_MOST 16
#define TEXT_BYTES 256u

typedef struct {
	PyObject_HEAD
	tare_site *site;
} Series;

static PyTypeObject *series_type, *operation_type;
static struct core_names operations;

/* ---- making a series --------------------------------------------------- */

/* The number of a name in a list from 1 on; 0 with an exception set. */
static int find_name(const char *name, const char *const *list, int n,
		     const char *what)
{
	for (int i = 1; i <= n; i++)
		if (strcmp(name, list[i - 1]) == 0)
			return i;
	PyErr_Format(PyExc_ValueError, "there is no %s '%s'", what, name);
	return 0;
}

static int find_kind(const char *name)
{
	static const char *const list[] = { "scope", "counter", "gauge",
					    "value", "ratio" };

	return find_name(name, list, 5, "kind of series");
}

static int find_type(const char *name)
{
	static const char *const list[] = { "time", "throughput", "memory",
					    "counter", "ratio", "percentage",
					    "custom" };

	return find_name(name, list, 7, "type of metrics");
}

static tare_site *with_labels(tare_site *site, PyObject *labels)
{
	char text[2 * LABELS_MOST][TEXT_BYTES];
	const char *pairs[2 * LABELS_MOST];
	PyObject *key, *value;
	Py_ssize_t at = 0;
	size_t n = 0;

	while (n < LABELS_MOST && PyDict_Next(labels, &at, &key, &value)) {
		pairs[2 * n] = core_text(key, text[2 * n], TEXT_BYTES);
		pairs[2 * n + 1] = core_text(value, text[2 * n + 1],
					     TEXT_BYTES);
		n++;
	}
	return n ? tare_site_labels(site, n, pairs) : site;
}

static PyObject *series_new(PyTypeObject *type, PyObject *args,
			    PyObject *kwargs)
{
	const char *kind_name, *type_name, *unit, *source, *name;
	PyObject *title, *labels, *owned;
	int kind, of_type;
	Series *series;

	(void)kwargs;
	if (!PyArg_ParseTuple(args, "ssOzzO", &kind_name, &type_name, &title,
			      &unit, &source, &labels))
		return NULL;
	kind = find_kind(kind_name);
	of_type = kind ? find_type(type_name) : 0;
	name = of_type ? core_name(title, &owned) : NULL;
	if (!name)
		return NULL;
	series = (Series *)((allocfunc)PyType_GetSlot(type, Py_tp_alloc))(type,
									  0);
	if (series) {
		series->site = kind == TARE_KIND_COUNTER ?
			tare_counter_get_double(name, unit, source) :
			tare_site_get((enum tare_kind)kind,
				      (enum tare_type)of_type, name, unit,
				      source);
		if (PyDict_Check(labels))
			series->site = with_labels(series->site, labels);
	}
	Py_XDECREF(owned);
	return (PyObject *)series;
}

/* ---- measuring --------------------------------------------------------- */

static bool take_number(PyObject *number, double *ret_number)
{
	*ret_number = PyFloat_AsDouble(number);
	return *ret_number != -1 || !PyErr_Occurred();
}

static PyObject *series_add(PyObject *self, PyObject *number)
{
	double n;

	if (!take_number(number, &n))
		return NULL;
	tare_counter_add_double(((Series *)self)->site, n);
	Py_RETURN_NONE;
}

static PyObject *series_observe(PyObject *self, PyObject *number)
{
	double v;

	if (!take_number(number, &v))
		return NULL;
	tare_value_observe(((Series *)self)->site, v);
	Py_RETURN_NONE;
}

static PyObject *series_set(PyObject *self, PyObject *number)
{
	double v;

	if (!take_number(number, &v))
		return NULL;
	tare_gauge_set(((Series *)self)->site, v);
	Py_RETURN_NONE;
}

static PyObject *record_with(tare_site *site, double seconds,
			     const char *error, PyObject *dict)
{
	uint64_t ns = (uint64_t)llrint(seconds * 1e9);
	struct core_attrs *kept;
	tare_attrs attrs;

	if (!dict) {
		tare_duration_record(site, ns, error);
		Py_RETURN_NONE;
	}
	kept = core_attrs_new(dict, &attrs);
	if (!kept)
		return PyErr_NoMemory();
	tare_duration_record_with(site, ns, error, attrs.at, attrs.n);
	PyMem_Free(kept);
	Py_RETURN_NONE;
}

/* record(seconds, error or None[, attributes]) */
static PyObject *series_record(PyObject *self, PyObject *args)
{
	char text[TEXT_BYTES];
	PyObject *error, *dict = NULL;
	double seconds;

	if (!PyArg_ParseTuple(args, "dO|O!", &seconds, &error, &PyDict_Type,
			      &dict))
		return NULL;
	/* 292 years; also false for NaN. */
	if (!(seconds >= 0 && seconds < 9.2e9)) {
		PyErr_SetString(PyExc_ValueError,
				"a duration must be a number of seconds that "
				"is not negative");
		return NULL;
	}
	return record_with(((Series *)self)->site, seconds,
			   error == Py_None ?
				   NULL :
				   core_text(error, text, sizeof(text)),
			   dict);
}

/* ---- operations -------------------------------------------------------- */

typedef struct {
	PyObject_HEAD
	tare_site *site;
	PyObject *attrs; /* a dict, or NULL */
} Operation;

/* Kept for ever, as every site is: the ledger refers to it. */
static tare_site *make_operation(const char *name)
{
	tare_site *site = calloc(1, sizeof(*site));
	char *copy = strdup(name);

	if (!site || !copy) {
		free(site);
		free(copy);
		(void)PyErr_NoMemory();
		return NULL;
	}
	*site = (tare_site)TARE_SITE_INIT_(*site, TARE_KIND_SCOPE,
					   TARE_TYPE_TIME, TARE_SITE_OPERATION,
					   copy, NULL, NULL);
	site->file = "";
	site->line = 0;
	return site;
}

/* Beyond the limit of kept names, a series without the mark will do. */
static tare_site *operation_site(PyObject *title)
{
	PyObject *box = core_names_find(&operations, title), *owned;
	tare_site *site = NULL;
	const char *name;

	if (box)
		return PyLong_AsVoidPtr(box);
	name = core_name(title, &owned);
	if (!name)
		return NULL;
	if (operations.all && PyDict_Size(operations.all) >= 1000)
		site = tare_site_get(TARE_KIND_SCOPE, TARE_TYPE_TIME, name,
				     NULL, NULL);
	else
		site = make_operation(name);
	Py_XDECREF(owned);
	box = site ? PyLong_FromVoidPtr(site) : NULL;
	if (!box || core_names_keep(&operations, title, box) < 0)
		PyErr_Clear();
	Py_XDECREF(box);
	return site;
}

static PyObject *operation_new(PyTypeObject *type, PyObject *args,
			       PyObject *kwargs)
{
	PyObject *title, *attrs;
	Operation *operation;
	tare_site *site;

	(void)kwargs;
	if (!PyArg_ParseTuple(args, "OO", &title, &attrs))
		return NULL;
	site = operation_site(title);
	if (!site)
		return NULL;
	operation = (Operation *)((allocfunc)PyType_GetSlot(
		type, Py_tp_alloc))(type, 0);
	if (!operation)
		return NULL;
	operation->site = site;
	if (PyDict_Check(attrs) && PyDict_Size(attrs)) {
		Py_INCREF(attrs);
		operation->attrs = attrs;
	}
	return (PyObject *)operation;
}

static PyObject *operation_enter(PyObject *self, PyObject *unused)
{
	Operation *operation = (Operation *)self;
	struct core_fiber *fiber = core_fiber_here();
	tare_scope opened = tare_scope_begin(operation->site);

	(void)unused;
	core_push(fiber, opened, self);
	if (operation->attrs)
		core_attributes(opened, operation->attrs);
	Py_INCREF(self);
	return self;
}

static PyObject *operation_exit(PyObject *self, PyObject *args)
{
	PyObject *type, *value, *trace;
	tare_scope opened;

	if (!PyArg_ParseTuple(args, "OOO", &type, &value, &trace))
		return NULL;
	if (core_pop(self, &opened)) {
		if (type != Py_None)
			core_fail(opened, type, value);
		tare_scope_end(opened);
	}
	Py_RETURN_FALSE;
}

static int operation_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((Operation *)self)->attrs);
	return 0;
}

static int operation_clear(PyObject *self)
{
	Py_CLEAR(((Operation *)self)->attrs);
	return 0;
}

static void operation_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	(void)operation_clear(self);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

static void series_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	((freefunc)PyType_GetSlot(type, Py_tp_free))(self);
	Py_DECREF(type);
}

/* ---- types ------------------------------------------------------------- */

static PyMethodDef series_methods[] = {
	{ "add", series_add, METH_O, NULL },
	{ "observe", series_observe, METH_O, NULL },
	{ "set", series_set, METH_O, NULL },
	{ "record", series_record, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot series_slots[] = {
	{ Py_tp_new, series_new },
	{ Py_tp_dealloc, series_free },
	{ Py_tp_methods, series_methods },
	{ 0, NULL },
};

static PyType_Spec series_spec = {
	.name = "tare._tare.Series",
	.basicsize = sizeof(Series),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = series_slots,
};

static PyMethodDef operation_methods[] = {
	{ "__enter__", operation_enter, METH_NOARGS, NULL },
	{ "__exit__", operation_exit, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot operation_slots[] = {
	{ Py_tp_new, operation_new },
	{ Py_tp_dealloc, operation_free },
	{ Py_tp_traverse, operation_traverse },
	{ Py_tp_clear, operation_clear },
	{ Py_tp_methods, operation_methods },
	{ 0, NULL },
};

static PyType_Spec operation_spec = {
	.name = "tare._tare.Operation",
	.basicsize = sizeof(Operation),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = operation_slots,
};

int core_handle_add(PyObject *module)
{
	return core_type_add(module, &series_spec, &series_type) < 0 ||
			       core_type_add(module, &operation_spec,
					     &operation_type) < 0 ?
		       -1 :
		       0;
}
