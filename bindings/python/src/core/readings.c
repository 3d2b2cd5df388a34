/* SPDX-License-Identifier: Apache-2.0 */
/* Readings: memory and GPUs over time, of the monitor and of operations. */
#include "measured.h"

#include <string.h>

static PyObject *quantity_of(const tare_quantity *quantity)
{
	const char *direction = tare_direction_name(quantity->direction);

	return Py_BuildValue(
		"{sssKsdsdsdsdsdsdsz}", "key", quantity->key, "count",
		(unsigned long long)quantity->count, "current",
		quantity->current, "mean", quantity->mean, "min",
		quantity->min, "max", quantity->max, "slope_per_s",
		quantity->slope_per_s, "change", quantity->change,
		"direction", direction);
}

static PyObject *quantities_of(const tare_reading_group *group)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < group->n_quantities; i++) {
		PyObject *one = quantity_of(&group->quantities[i]);

		if (!one || PyList_Append(list, one))
			Py_CLEAR(list);
		Py_XDECREF(one);
	}
	return list;
}

static PyObject *group_of(const tare_reading_group *group)
{
	PyObject *made = PyDict_New();

	if (made && !core_put(made, "name", core_str(group->name)) &&
	    !core_put(made, "reason", core_str(group->reason)) &&
	    !core_put(made, "gpu", PyLong_FromLong(group->gpu)) &&
	    !core_put(made, "count",
		      PyLong_FromUnsignedLongLong(group->count)) &&
	    !core_put(made, "is_available",
		      PyBool_FromLong(group->is_available)) &&
	    !core_put(made, "quantities", quantities_of(group)))
		return made;
	Py_XDECREF(made);
	return NULL;
}

static PyObject *groups_of(const tare_readings *readings,
			   enum tare_readings_by by)
{
	size_t n;
	const tare_reading_group *group = tare_readings_groups(readings, by,
							       &n);
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < n; i++) {
		PyObject *one = group_of(&group[i]);

		if (!one || PyList_Append(list, one))
			Py_CLEAR(list);
		Py_XDECREF(one);
	}
	return list;
}

/* "memory" or "gpu"; 0 with an exception set. */
static enum tare_record_kind kind_of(const char *name)
{
	if (strcmp(name, "memory") == 0)
		return TARE_RECORD_MEMORY;
	if (strcmp(name, "gpu") == 0)
		return TARE_RECORD_GPU;
	PyErr_Format(PyExc_ValueError, "no readings of '%s'", name);
	return (enum tare_record_kind)0;
}

static PyObject *read_of(enum tare_record_kind kind, const tare_filter *filter)
{
	tare_readings *readings = NULL;
	PyObject *answer = NULL;
	tare_view *view = core_view_self();
	int err;

	if (!view)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	err = tare_readings_open(&view, 1, filter, kind, &readings);
	Py_END_ALLOW_THREADS
	if (err)
		(void)core_error(err, "cannot read the samples");
	else
		answer = Py_BuildValue(
			"{sNsNsN}", "all",
			groups_of(readings, TARE_READINGS_ALL), "by_name",
			groups_of(readings, TARE_READINGS_BY_NAME), "by_gpu",
			groups_of(readings, TARE_READINGS_BY_GPU));
	tare_readings_close(readings);
	tare_view_close(view);
	return answer;
}

/* (kind, selection): the selection as for read_statistics(), in a tuple. */
PyObject *core_read_readings(PyObject *module, PyObject *args)
{
	struct core_selection selection;
	enum tare_record_kind kind;
	PyObject *chosen;
	const char *name;

	(void)module;
	if (!PyArg_ParseTuple(args, "sO!", &name, &PyTuple_Type, &chosen))
		return NULL;
	kind = kind_of(name);
	if (!kind || !core_selection_take(&selection, chosen))
		return NULL;
	return read_of(kind, &selection.filter);
}
