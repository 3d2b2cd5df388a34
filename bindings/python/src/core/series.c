/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters, gauges, values, and durations that were measured elsewhere.
 *
 * Keywords of count, gauge and value are labels: each set of them is a series
 * of its own. Keywords of record are attributes of that one record.
 */
#include "core.h"

#include <string.h>

#define LABELS_MOST 16
#define LABEL_BYTES 256u
#define ATTRS_MOST 64
#define TEXT_BYTES 512u

static struct core_names counters, fractions, gauges, values;

/* ---- series ------------------------------------------------------------ */

/* A site as an object, for the tables of names. */
static PyObject *boxed(tare_site *site)
{
	return PyLong_FromVoidPtr(site);
}

static tare_site *make_site(struct core_names *names, const char *name,
			    const char *unit)
{
	if (names == &counters)
		return tare_site_get(TARE_KIND_COUNTER, TARE_TYPE_COUNTER,
				     name, NULL, NULL);
	if (names == &fractions)
		return tare_counter_get_double(name, NULL, NULL);
	return tare_site_get(names == &gauges ? TARE_KIND_GAUGE :
						TARE_KIND_VALUE,
			     unit && strcmp(unit, "B") == 0 ?
				     TARE_TYPE_MEMORY :
			     unit && strcmp(unit, "%") == 0 ?
				     TARE_TYPE_PERCENTAGE :
				     TARE_TYPE_CUSTOM,
			     name, unit, NULL);
}

/* NULL with an exception. */
static tare_site *site_of(struct core_names *names, PyObject *name,
			  const char *unit)
{
	PyObject *owned, *box = unit ? NULL : core_names_find(names, name);
	const char *text;
	tare_site *site;

	if (TARE_LIKELY(box != NULL))
		return PyLong_AsVoidPtr(box);
	text = core_name(name, &owned);
	if (!text)
		return NULL;
	site = make_site(names, text, unit);
	Py_XDECREF(owned);
	if (unit)
		return site;
	box = boxed(site);
	if (!box || core_names_keep(names, name, box) < 0)
		PyErr_Clear();
	Py_XDECREF(box);
	return site;
}

/* The series of `site` with keywords as labels. */
static tare_site *labelled(tare_site *site, PyObject *const *args,
			   PyObject *names, Py_ssize_t skip)
{
	Py_ssize_t n = names ? PyTuple_Size(names) - skip : 0;
	char text[2 * LABELS_MOST][LABEL_BYTES];
	const char *pairs[2 * LABELS_MOST];

	if (n <= 0)
		return site;
	if (n > LABELS_MOST)
		n = LABELS_MOST;
	for (Py_ssize_t i = 0, k = 0; k < n; i++) {
		PyObject *key = PyTuple_GetItem(names, i);

		if (skip && PyUnicode_CompareWithASCIIString(key, "unit") == 0)
			continue;
		pairs[2 * k] = core_text(key, text[2 * k], LABEL_BYTES);
		pairs[2 * k + 1] = core_text(args[i], text[2 * k + 1],
					     LABEL_BYTES);
		k++;
	}
	return tare_site_labels(site, (size_t)n, pairs);
}

static int is_number(PyObject *number, const char *what, double *ret_number)
{
	*ret_number = PyFloat_AsDouble(number);
	if (*ret_number != -1 || !PyErr_Occurred())
		return 1;
	if (PyErr_ExceptionMatches(PyExc_TypeError))
		PyErr_Format(PyExc_TypeError, "%s: not a number: %R", what,
			     (PyObject *)Py_TYPE(number));
	return 0;
}

/* ---- count ------------------------------------------------------------- */

static PyObject *count_double(PyObject *const *args, Py_ssize_t n_args,
			      PyObject *names)
{
	tare_site *site;
	double number;

	if (!is_number(args[1], "count", &number))
		return NULL;
	site = site_of(&fractions, args[0], NULL);
	if (!site)
		return NULL;
	tare_counter_add_double(labelled(site, args + n_args, names, 0),
				number);
	Py_RETURN_NONE;
}

static PyObject *count(PyObject *module, PyObject *const *args,
		       Py_ssize_t n_args, PyObject *names)
{
	long long n = 1;
	tare_site *site;

	(void)module;
	if (n_args < 1 || n_args > 2) {
		PyErr_SetString(PyExc_TypeError,
				"count() takes a name, a number, and labels "
				"as keywords");
		return NULL;
	}
	if (n_args == 2 && !PyLong_Check(args[1]))
		return count_double(args, n_args, names);
	if (n_args == 2)
		n = PyLong_AsLongLong(args[1]);
	if (n == -1 && PyErr_Occurred())
		return NULL;
	if (n < 0) {
		PyErr_SetString(PyExc_ValueError,
				"a counter only grows: n must not be "
				"negative");
		return NULL;
	}
	site = site_of(&counters, args[0], NULL);
	if (!site)
		return NULL;
	tare_counter_add(labelled(site, args + n_args, names, 0), (uint64_t)n);
	Py_RETURN_NONE;
}

/* ---- gauge and value --------------------------------------------------- */

/* Takes `unit` from the third argument or the keywords. -1: exception. */
static int take_unit(PyObject *const *args, Py_ssize_t n_args,
		     PyObject *names, char *unit, size_t size,
		     Py_ssize_t *ret_skip)
{
	PyObject *found = n_args > 2 ? args[2] : NULL;
	Py_ssize_t n = names ? PyTuple_Size(names) : 0;

	*ret_skip = 0;
	for (Py_ssize_t i = 0; i < n; i++) {
		if (PyUnicode_CompareWithASCIIString(PyTuple_GetItem(names, i),
						     "unit"))
			continue;
		found = args[n_args + i];
		*ret_skip = 1;
	}
	if (!found || found == Py_None)
		return 0;
	if (!PyUnicode_Check(found)) {
		PyErr_SetString(PyExc_TypeError, "a unit must be a str");
		return -1;
	}
	(void)core_text(found, unit, size);
	return 1;
}

static PyObject *observe(struct core_names *of, PyObject *const *args,
			 Py_ssize_t n_args, PyObject *names)
{
	Py_ssize_t skip = 0;
	char unit[64];
	int has_unit = 0;
	tare_site *site;
	double number;

	if (n_args < 2 || n_args > 3) {
		PyErr_SetString(PyExc_TypeError,
				"a name and a number are needed, a unit and "
				"labels may follow");
		return NULL;
	}
	if (n_args > 2 || names)
		has_unit = take_unit(args, n_args, names, unit, sizeof(unit),
				     &skip);
	if (has_unit < 0 || !is_number(args[1], "value", &number))
		return NULL;
	site = site_of(of, args[0], has_unit ? unit : NULL);
	if (!site)
		return NULL;
	site = labelled(site, args + n_args, names, skip);
	if (of == &gauges)
		tare_gauge_set(site, number);
	else
		tare_value_observe(site, number);
	Py_RETURN_NONE;
}

static PyObject *gauge(PyObject *module, PyObject *const *args,
		       Py_ssize_t n_args, PyObject *names)
{
	(void)module;
	return observe(&gauges, args, n_args, names);
}

static PyObject *value(PyObject *module, PyObject *const *args,
		       Py_ssize_t n_args, PyObject *names)
{
	(void)module;
	return observe(&values, args, n_args, names);
}

/* ---- record ------------------------------------------------------------ */

struct core_attrs {
	tare_attr attr[ATTRS_MOST];
	char key[ATTRS_MOST][64];
	char value[ATTRS_MOST][TEXT_BYTES];
};

static tare_attr attr_of(PyObject *object, const char *key, char *text)
{
	int is_over = 0;
	long long i;

	if (PyFloat_Check(object))
		return tare_attr_of_double(key, PyFloat_AsDouble(object));
	if (PyLong_Check(object) && !PyBool_Check(object)) {
		i = PyLong_AsLongLongAndOverflow(object, &is_over);
		if (!is_over)
			return tare_attr_of_int(key, i);
	}
	return tare_attr_of_str(key, core_text(object, text, TEXT_BYTES));
}

struct core_attrs *core_attrs_new(PyObject *dict, tare_attrs *ret_attrs)
{
	struct core_attrs *attrs = PyMem_Malloc(sizeof(*attrs));
	PyObject *key, *object;
	Py_ssize_t at = 0;
	size_t n = 0;

	if (!attrs)
		return NULL;
	while (n < ATTRS_MOST && PyDict_Next(dict, &at, &key, &object)) {
		attrs->attr[n] = attr_of(object,
					 core_text(key, attrs->key[n],
						   sizeof(attrs->key[n])),
					 attrs->value[n]);
		n++;
	}
	ret_attrs->at = attrs->attr;
	ret_attrs->n = n;
	return attrs;
}

/* record_(name, ms, error or None, attrs): True if it was stored. */
static PyObject *record(PyObject *module, PyObject *args)
{
	PyObject *name, *error, *attrs, *owned;
	char text[TEXT_BYTES];
	struct core_attrs *kept;
	tare_attrs given;
	const char *utf8;
	double ms;
	int err;

	(void)module;
	if (!PyArg_ParseTuple(args, "OdOO!", &name, &ms, &error, &PyDict_Type,
			      &attrs))
		return NULL;
	utf8 = core_name(name, &owned);
	if (!utf8)
		return NULL;
	kept = core_attrs_new(attrs, &given);
	if (!kept) {
		Py_XDECREF(owned);
		return PyErr_NoMemory();
	}
	err = tare_processing_record(
		utf8, ms,
		error == Py_None ? NULL : core_text(error, text, sizeof(text)),
		given.at, given.n);
	PyMem_Free(kept);
	Py_XDECREF(owned);
	if (err == TARE_EINVAL) {
		PyErr_Format(PyExc_ValueError, "not a duration: %R",
			     PyTuple_GetItem(args, 1));
		return NULL;
	}
	return PyBool_FromLong(!err);
}

static PyObject *sample(PyObject *name, int (*call)(const char *))
{
	PyObject *owned;
	const char *text = core_name(name, &owned);
	int err;

	if (!text)
		return NULL;
	err = call(text);
	Py_XDECREF(owned);
	return PyBool_FromLong(!err);
}

static PyObject *record_memory(PyObject *module, PyObject *name)
{
	(void)module;
	return sample(name, tare_memory_record);
}

static PyObject *record_gpu(PyObject *module, PyObject *name)
{
	(void)module;
	return sample(name, tare_gpu_record);
}

#define FAST(call) (PyCFunction)(void *)(call), METH_FASTCALL | METH_KEYWORDS
static PyMethodDef functions[] = {
	{ "count", FAST(count),
	  "count(name, n=1, **labels)\n--\n\nAdds n to a counter." },
	{ "gauge", FAST(gauge),
	  "gauge(name, v, unit=None, **labels)\n--\n\nSets a gauge." },
	{ "value", FAST(value),
	  "value(name, v, unit=None, **labels)\n--\n\n"
	  "Observes one value of a distribution." },
	{ "record_duration", record, METH_VARARGS, NULL },
	{ "record_memory", record_memory, METH_O,
	  "record_memory(name)\n--\n\n"
	  "Stores the memory of process and system now. True: stored." },
	{ "record_gpu", record_gpu, METH_O,
	  "record_gpu(name)\n--\n\nStores the state of the GPUs now. "
	  "True: stored." },
	{ NULL, NULL, 0, NULL },
};

int core_series_add(PyObject *module)
{
	return PyModule_AddFunctions(module, functions);
}
