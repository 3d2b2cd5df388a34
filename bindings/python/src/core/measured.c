/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measured: statistics and counts of this process, for any selection.
 *
 * A view is a copy of one moment, made without the GIL: the program goes on.
 * Numbers keep the reader's units (ns); what is not known is NaN.
 */
#include "measured.h"

#include <string.h>

/* Of the reader, which has trr_ for tr_ in one file; not a public call. */
int trr_merge_times(tare_merge *merge, tare_stats *ret_row);

/* ---- selections -------------------------------------------------------- */

/* The texts of a sequence; at most 64. They belong to its items. */
static bool take_globs(PyObject *list, const char **globs, size_t *ret_n)
{
	Py_ssize_t n = PyList_Size(list);

	*ret_n = 0;
	if (n < 0)
		return false;
	if (n > 64) {
		PyErr_SetString(PyExc_ValueError, "more than 64 globs");
		return false;
	}
	for (Py_ssize_t i = 0; i < n; i++) {
		globs[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(list, i),
						   NULL);
		if (!globs[i])
			return false;
	}
	*ret_n = (size_t)n;
	return true;
}

static bool take_types(PyObject *list, uint32_t *ret_types)
{
	Py_ssize_t n = PyList_Size(list);

	for (Py_ssize_t i = 0; i < n; i++) {
		PyObject *item = PyList_GetItem(list, i);
		int type = TARE_TYPE_TIME;

		while (type <= TARE_TYPE_CUSTOM &&
		       PyUnicode_CompareWithASCIIString(
			       item, tare_type_name((enum tare_type)type)))
			type++;
		if (type > TARE_TYPE_CUSTOM) {
			PyErr_Format(PyExc_ValueError, "no type %R", item);
			return false;
		}
		*ret_types |= UINT32_C(1) << type;
	}
	return n >= 0;
}

static bool take_outcome(const char *name, uint32_t *ret_outcome)
{
	static const char *const known[] = { "any", "ok", "failed" };

	for (uint32_t i = 0; i < 3; i++)
		if (strcmp(name, known[i]) == 0) {
			*ret_outcome = i;
			return true;
		}
	PyErr_Format(PyExc_ValueError, "no outcome '%s'", name);
	return false;
}

bool core_selection_take(struct core_selection *selection, PyObject *args)
{
	PyObject *names, *sources, *types;
	long long from_ns, to_ns;
	const char *outcome;
	tare_filter *filter = &selection->filter;

	(void)memset(selection, 0, sizeof(*selection));
	if (!PyArg_ParseTuple(args, "O!O!O!sLL", &PyList_Type, &names,
			      &PyList_Type, &sources, &PyList_Type, &types,
			      &outcome, &from_ns, &to_ns))
		return false;
	filter->struct_size = sizeof(*filter);
	filter->from_ns = from_ns;
	filter->to_ns = to_ns;
	filter->names = selection->names;
	filter->sources = selection->sources;
	return take_globs(names, selection->names, &filter->n_names) &&
	       take_globs(sources, selection->sources, &filter->n_sources) &&
	       take_types(types, &filter->types) &&
	       take_outcome(outcome, &filter->outcome);
}

tare_view *core_view_self(void)
{
	tare_view *view = NULL;
	int err;

	Py_BEGIN_ALLOW_THREADS
	err = tare_view_open("self", &view);
	Py_END_ALLOW_THREADS
	if (err)
		(void)core_error(err, "cannot read this process");
	return err ? NULL : view;
}

/* ---- rows -------------------------------------------------------------- */

static const char *kind_name(enum tare_kind kind)
{
	static const char *const name[] = { "", "scope", "counter", "gauge",
					    "value", "ratio" };

	return (size_t)kind < sizeof(name) / sizeof(name[0]) ? name[kind] : "";
}

#define S(field, kind) CORE_FIELD(tare_stats, field, kind)
static const struct core_field row_fields[] = {
	S(name, CORE_STR),	   S(source, CORE_STR),
	S(unit, CORE_STR),	   S(labels, CORE_STR),
	S(count, CORE_U64),	   S(timed, CORE_U64),
	S(failures, CORE_U64),	   S(items, CORE_U64),
	S(total, CORE_DOUBLE),	   S(own, CORE_DOUBLE),
	S(mean, CORE_DOUBLE),	   S(min, CORE_DOUBLE),
	S(max, CORE_DOUBLE),	   S(p50, CORE_DOUBLE),
	S(p90, CORE_DOUBLE),	   S(p95, CORE_DOUBLE),
	S(p99, CORE_DOUBLE),	   S(p999, CORE_DOUBLE),
	S(net_total, CORE_DOUBLE), S(net_own, CORE_DOUBLE),
	S(net_mean, CORE_DOUBLE),  S(items_per_s, CORE_DOUBLE),
	S(last, CORE_DOUBLE),	   S(success_rate, CORE_DOUBLE),
	{ NULL, CORE_STR, 0 },
};

static PyObject *row_of(const tare_stats *stats)
{
	PyObject *row = core_dict_of(stats, row_fields);

	if (row &&
	    (core_put(row, "kind", core_str(kind_name(stats->kind))) ||
	     core_put(row, "type", core_str(tare_type_name(stats->type)))))
		Py_CLEAR(row);
	return row;
}

static PyObject *rows_of(const tare_merge *merge)
{
	size_t n;
	const tare_stats *stats = tare_merge_stats(merge, &n);
	PyObject *rows = PyList_New(0);

	for (size_t i = 0; rows && i < n; i++) {
		PyObject *row = row_of(&stats[i]);

		if (!row || PyList_Append(rows, row))
			Py_CLEAR(rows);
		Py_XDECREF(row);
	}
	return rows;
}

static PyObject *statistics_of(tare_view *view, tare_merge *merge)
{
	const tare_health *health = tare_view_health(view);
	PyObject *answer = PyDict_New();
	tare_stats times;
	int err = trr_merge_times(merge, &times);

	if (err) {
		Py_XDECREF(answer);
		return core_error(err, "cannot add up the statistics");
	}
	if (answer && !core_put(answer, "times", row_of(&times)) &&
	    !core_put(answer, "rows", rows_of(merge)) &&
	    !core_put(answer, "lost",
		      PyLong_FromUnsignedLongLong(health->lost)))
		return answer;
	Py_XDECREF(answer);
	return NULL;
}

static PyObject *read_statistics(PyObject *module, PyObject *args)
{
	struct core_selection selection;
	PyObject *answer = NULL;
	tare_merge *merge = NULL;
	tare_view *view;
	int err;

	(void)module;
	if (!core_selection_take(&selection, args))
		return NULL;
	view = core_view_self();
	if (!view)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	err = tare_merge_open(&view, 1, &selection.filter, &merge);
	Py_END_ALLOW_THREADS
	if (err)
		(void)core_error(err, "cannot read the statistics");
	else
		answer = statistics_of(view, merge);
	tare_merge_close(merge);
	tare_view_close(view);
	return answer;
}

/* ---- counts ------------------------------------------------------------ */

static PyObject *counts_of(const tare_record *records, size_t n)
{
	uint64_t of_kind[TARE_RECORD_KINDS] = { 0 };
	PyObject *counts = PyDict_New();

	for (size_t i = 0; i < n; i++)
		of_kind[records[i].kind]++;
	for (int kind = 1; counts && kind < TARE_RECORD_KINDS; kind++)
		if (core_put(counts,
			     tare_record_kind_name(
				     (enum tare_record_kind)kind),
			     PyLong_FromUnsignedLongLong(of_kind[kind])))
			Py_CLEAR(counts);
	return counts;
}

static PyObject *read_counts(PyObject *module, PyObject *args)
{
	struct core_selection selection;
	PyObject *answer = NULL;
	const tare_record *records;
	tare_view *view;
	size_t n;
	int err;

	(void)module;
	if (!core_selection_take(&selection, args))
		return NULL;
	view = core_view_self();
	if (!view)
		return NULL;
	err = tare_view_records(view, &selection.filter, &records, &n);
	if (err)
		(void)core_error(err, "cannot read the records");
	else
		answer = counts_of(records, n);
	tare_view_close(view);
	return answer;
}

/* ---- exports ----------------------------------------------------------- */

static uint32_t format_of(const char *name)
{
	static const char *const known[] = { "json", "csv", "prometheus",
					     "openmetrics", "protobuf" };

	for (uint32_t i = 0; i < 5; i++)
		if (strcmp(name, known[i]) == 0)
			return i + 1;
	PyErr_Format(PyExc_ValueError, "there is no format '%s'", name);
	return 0;
}

static PyObject *export_of(const tare_export_options *options,
			   const char *folder, const char *name)
{
	tare_view *view = core_view_self();
	uint64_t rows = 0;
	char path[4096] = "";
	int err;

	if (!view)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	err = tare_export_file(&view, 1, options, folder, name, path,
			       sizeof(path), &rows);
	tare_view_close(view);
	Py_END_ALLOW_THREADS
	return Py_BuildValue("(iNK)", err, PyUnicode_DecodeFSDefault(path),
			     (unsigned long long)rows);
}

/*
 * export_into(format, table or None, folder, name or None, selection): an
 * error, the path and the number of rows. Folder and name are bytes.
 */
static PyObject *export_into(PyObject *module, PyObject *args)
{
	tare_export_options options = { .struct_size = sizeof(options) };
	const char *format, *folder, *name;
	struct core_selection selection;
	PyObject *chosen;

	(void)module;
	if (!PyArg_ParseTuple(args, "szyzO!", &format, &options.table, &folder,
			      &name, &PyTuple_Type, &chosen) ||
	    !core_selection_take(&selection, chosen))
		return NULL;
	options.format = format_of(format);
	options.filter = &selection.filter;
	return options.format ? export_of(&options, folder, name) : NULL;
}

static PyMethodDef methods[] = {
	{ "read_statistics", read_statistics, METH_VARARGS, NULL },
	{ "read_counts", read_counts, METH_VARARGS, NULL },
	{ "read_readings", core_read_readings, METH_VARARGS, NULL },
	{ "export_into", export_into, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

int core_measured_add(PyObject *module)
{
	return PyModule_AddFunctions(module, methods);
}
