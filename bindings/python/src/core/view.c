/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Views: what this process or another run has measured, as dicts and texts.
 * tare/_read.py makes dataclasses of them.
 *
 * The library's calls take milliseconds and touch no object, so the GIL is
 * released meanwhile; a view is used by one thread at a time all the same: a
 * second one gets an exception.
 */
#include "fields.h"
#include "output.h"

#include "tare_read.h"

#include <string.h>

typedef struct {
	PyObject_HEAD
	tare_view *view; /* NULL: closed */
	int is_busy;
} View;

static PyTypeObject *view_type;

#define S(field, kind) CORE_FIELD(tare_stats, field, kind)
static const struct core_field stats_fields[] = {
	S(name, CORE_STR), S(source, CORE_STR), S(unit, CORE_STR),
	S(labels, CORE_STR), S(file, CORE_STR), S(line, CORE_U32),
	S(kind, CORE_ENUM), S(type, CORE_ENUM), S(count, CORE_U64),
	S(timed, CORE_U64), S(failures, CORE_U64), S(items, CORE_U64),
	S(total, CORE_DOUBLE), S(own, CORE_DOUBLE), S(mean, CORE_DOUBLE),
	S(min, CORE_DOUBLE), S(max, CORE_DOUBLE), S(p50, CORE_DOUBLE),
	S(p90, CORE_DOUBLE), S(p95, CORE_DOUBLE), S(p99, CORE_DOUBLE),
	S(p999, CORE_DOUBLE), S(net_total, CORE_DOUBLE),
	S(net_own, CORE_DOUBLE), S(net_mean, CORE_DOUBLE),
	S(items_per_s, CORE_DOUBLE), S(last, CORE_DOUBLE),
	S(below_resolution, CORE_BOOL), S(success_rate, CORE_DOUBLE),
	S(is_estimate, CORE_BOOL), S(missed, CORE_U64),
	S(count_low, CORE_U64), S(count_high, CORE_U64),
	{ NULL, CORE_STR, 0 },
};

#define R(field, kind) CORE_FIELD(tare_run, field, kind)
static const struct core_field run_fields[] = {
	R(id, CORE_STR), R(path, CORE_STR), R(command, CORE_STR),
	R(program, CORE_STR), R(host, CORE_STR), R(cpu, CORE_STR),
	R(git, CORE_STR), R(folder, CORE_STR), R(config, CORE_STR),
	R(version, CORE_STR), R(group, CORE_STR), R(state, CORE_ENUM),
	R(pid, CORE_I64), R(n_tracks, CORE_U32), R(n_sites, CORE_U32),
	R(start_ns, CORE_I64), R(end_ns, CORE_I64), R(cleared_ns, CORE_I64),
	R(clock, CORE_STR), R(resolution_ns, CORE_DOUBLE),
	R(inside_ns, CORE_DOUBLE), R(outside_ns, CORE_DOUBLE),
	R(ledger_bytes, CORE_U64), R(ledger_limit, CORE_U64),
	R(rss_start, CORE_U64), R(rss_end, CORE_U64), R(rss_peak, CORE_U64),
	R(damage, CORE_STR), R(parent, CORE_I64),
	{ NULL, CORE_STR, 0 },
};

#define N(field, kind) CORE_FIELD(tare_node, field, kind)
static const struct core_field node_fields[] = {
	N(name, CORE_STR), N(source, CORE_STR), N(depth, CORE_U32),
	N(calls, CORE_U64), N(open, CORE_U64), N(failures, CORE_U64),
	N(repaired, CORE_U64), N(total_ns, CORE_DOUBLE),
	N(own_ns, CORE_DOUBLE), N(net_total_ns, CORE_DOUBLE),
	N(net_own_ns, CORE_DOUBLE), N(share, CORE_DOUBLE),
	N(is_estimate, CORE_BOOL), N(file, CORE_STR), N(line, CORE_U32),
	{ NULL, CORE_STR, 0 },
};

#define H(field, kind) CORE_FIELD(tare_health, field, kind)
static const struct core_field health_fields[] = {
	H(events, CORE_U64), H(lost, CORE_U64), H(overflow_sites, CORE_U64),
	H(overflow_calls, CORE_U64), H(repairs, CORE_U64),
	H(stray_ends, CORE_U64), H(records, CORE_U64),
	H(records_trimmed, CORE_U64), H(lost_records, CORE_U64),
	H(threads, CORE_U64), H(damaged, CORE_U64),
	H(measuring_ns, CORE_DOUBLE), H(measuring_share, CORE_DOUBLE),
	H(governed, CORE_U64), H(missed, CORE_U64),
	H(measuring_by, CORE_STR),
	{ NULL, CORE_STR, 0 },
};

#define C(field, kind) CORE_FIELD(tare_record, field, kind)
static const struct core_field record_fields[] = {
	C(name, CORE_STR), C(source, CORE_STR), C(thread, CORE_I64),
	C(start_ns, CORE_I64), C(duration_ns, CORE_U64), C(ok, CORE_BOOL),
	C(truncated, CORE_BOOL), C(error, CORE_STR), C(kind, CORE_ENUM),
	C(type, CORE_ENUM), C(value, CORE_DOUBLE), C(unit, CORE_STR),
	C(labels, CORE_STR),
	{ NULL, CORE_STR, 0 },
};

#define P(field, kind) CORE_FIELD(tare_stage_stats, field, kind)
static const struct core_field stage_fields[] = {
	P(name, CORE_STR), P(is_pull, CORE_BOOL), P(is_source, CORE_BOOL),
	P(is_bottleneck, CORE_BOOL), P(threads, CORE_U32),
	P(calls, CORE_U64), P(failures, CORE_U64), P(in, CORE_U64),
	P(out, CORE_U64), P(dropped, CORE_U64), P(passed, CORE_DOUBLE),
	P(total_ns, CORE_DOUBLE), P(own_ns, CORE_DOUBLE),
	P(downstream_ns, CORE_DOUBLE), P(upstream_ns, CORE_DOUBLE),
	P(waiting_ns, CORE_DOUBLE), P(own_per_record, CORE_DOUBLE),
	P(throughput_rps, CORE_DOUBLE), P(busy, CORE_DOUBLE),
	P(share, CORE_DOUBLE), P(gain, CORE_DOUBLE),
	{ NULL, CORE_STR, 0 },
};

#define E(field, kind) CORE_FIELD(tare_run_entry, field, kind)
static const struct core_field entry_fields[] = {
	E(id, CORE_CHARS), E(path, CORE_CHARS), E(program, CORE_CHARS),
	E(group, CORE_CHARS), E(state, CORE_ENUM), E(pid, CORE_I64),
	E(start_ns, CORE_I64), E(end_ns, CORE_I64), E(bytes, CORE_U64),
	E(has_trainings, CORE_BOOL),
	{ NULL, CORE_STR, 0 },
};

/* ---- one at a time ----------------------------------------------------- */

static tare_view *begin_use(PyObject *self)
{
	View *view = (View *)self;

	if (!view->view) {
		PyErr_SetString(PyExc_ValueError, "the run is closed");
		return NULL;
	}
	if (view->is_busy) {
		PyErr_SetString(PyExc_RuntimeError,
				"another thread uses this run: open it twice");
		return NULL;
	}
	view->is_busy = 1;
	return view->view;
}

static void end_use(PyObject *self)
{
	((View *)self)->is_busy = 0;
}

/* ---- what to select ---------------------------------------------------- */

#define NAMES_MOST 64
struct selection {
	tare_filter filter;
	const char *names[NAMES_MOST], *sources[NAMES_MOST];
};

static int take_names(PyObject *tuple, const char **names, size_t *ret_n)
{
	Py_ssize_t n = PyTuple_Size(tuple);

	if (n > NAMES_MOST) {
		PyErr_Format(PyExc_ValueError, "at most %d patterns",
			     NAMES_MOST);
		return -1;
	}
	for (Py_ssize_t i = 0; i < n; i++) {
		names[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i),
						   NULL);
		if (!names[i])
			return -1;
	}
	*ret_n = (size_t)n;
	return 0;
}

/*
 * (names, sources, types, from_ns, to_ns, last_values, outcome, most_records,
 * record_kinds)
 */
static int take_selection(PyObject *args, struct selection *ret)
{
	PyObject *names, *sources;
	long long from, to;
	unsigned long long last, most;
	unsigned types, outcome, kinds;

	memset(ret, 0, sizeof(*ret));
	if (!PyArg_ParseTuple(args, "O!O!ILLKIKI", &PyTuple_Type, &names,
			      &PyTuple_Type, &sources, &types, &from, &to,
			      &last, &outcome, &most, &kinds))
		return -1;
	ret->filter = (tare_filter){
		.struct_size = sizeof(ret->filter),
		.types = types,
		.from_ns = from,
		.to_ns = to,
		.last_values = last,
		.outcome = outcome,
		.most_records = most,
		.record_kinds = kinds,
		.names = ret->names,
		.sources = ret->sources,
	};
	if (take_names(names, ret->names, &ret->filter.n_names) < 0)
		return -1;
	return take_names(sources, ret->sources, &ret->filter.n_sources);
}

/* ---- queries ----------------------------------------------------------- */

/* Appends and drops the reference; -1 for NULL, too. */
static int append(PyObject *list, PyObject *item)
{
	int err = item ? PyList_Append(list, item) : -1;

	Py_XDECREF(item);
	return err;
}

static PyObject *view_stats(PyObject *self, PyObject *args)
{
	struct selection selection;
	const tare_stats *stats;
	tare_view *view;
	PyObject *list = NULL;
	size_t n = 0;
	int err;

	if (take_selection(args, &selection) < 0 || !(view = begin_use(self)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	err = tare_view_stats(view, &selection.filter, &stats, &n);
	Py_END_ALLOW_THREADS
	list = err ? core_error(err, "cannot read statistics") : PyList_New(0);
	for (size_t i = 0; list && i < n; i++)
		if (append(list, core_dict_of(tare_stats_at(stats, i),
					      stats_fields)) < 0)
			Py_CLEAR(list);
	end_use(self);
	return list;
}

/* quantile(index, q) of the last stats(). */
static PyObject *view_quantile(PyObject *self, PyObject *args)
{
	Py_ssize_t index;
	tare_view *view;
	double q, at;

	if (!PyArg_ParseTuple(args, "nd", &index, &q) ||
	    !(view = begin_use(self)))
		return NULL;
	at = tare_view_quantile(view, (size_t)index, q);
	end_use(self);
	return PyFloat_FromDouble(at);
}

static PyObject *attrs_of(const tare_record *record)
{
	PyObject *dict = PyDict_New();

	for (size_t i = 0; dict && i < record->n_attrs; i++) {
		const tare_attr_value *attr = &record->attrs[i];
		PyObject *value = attr->type == TARE_ATTR_INT ?
					  PyLong_FromLongLong(attr->i) :
				  attr->type == TARE_ATTR_DOUBLE ?
					  PyFloat_FromDouble(attr->d) :
					  core_str(attr->s);
		PyObject *key = core_str(attr->key);

		if (!key || !value || PyDict_SetItem(dict, key, value) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(key);
		Py_XDECREF(value);
	}
	return dict;
}

static PyObject *record_of(const tare_record *record)
{
	PyObject *dict = core_dict_of(record, record_fields);

	if (dict && core_put(dict, "attrs", attrs_of(record)) < 0)
		Py_CLEAR(dict);
	return dict;
}

static PyObject *view_records(PyObject *self, PyObject *args)
{
	struct selection selection;
	const tare_record *records;
	tare_view *view;
	PyObject *list;
	size_t n = 0;
	int err;

	if (take_selection(args, &selection) < 0 || !(view = begin_use(self)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	err = tare_view_records(view, &selection.filter, &records, &n);
	Py_END_ALLOW_THREADS
	list = err ? core_error(err, "cannot read records") : PyList_New(0);
	for (size_t i = 0; list && i < n; i++)
		if (append(list, record_of(tare_record_at(records, i))) < 0)
			Py_CLEAR(list);
	end_use(self);
	return list;
}

static PyObject *view_tree(PyObject *self, PyObject *unused)
{
	tare_view *view = begin_use(self);
	const tare_node *nodes;
	PyObject *list;
	size_t n = 0;
	int err;

	(void)unused;
	if (!view)
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	err = tare_view_tree(view, &nodes, &n);
	Py_END_ALLOW_THREADS
	list = err ? core_error(err, "cannot read the tree") : PyList_New(0);
	for (size_t i = 0; list && i < n; i++)
		if (append(list, core_dict_of(tare_node_at(nodes, i),
					      node_fields)) < 0)
			Py_CLEAR(list);
	end_use(self);
	return list;
}

static PyObject *stages_of(const tare_pipeline *line)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < line->n_stages; i++) {
		const tare_stage_stats *stage =
			tare_stage_stats_at(line->stages, i);
		PyObject *dict = core_dict_of(stage, stage_fields);

		if (dict && core_put(dict, "mean_latency_ns",
				     PyFloat_FromDouble(stage->latency.mean)) <
				    0)
			Py_CLEAR(dict);
		if (append(list, dict) < 0)
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *view_pipelines(PyObject *self, PyObject *args)
{
	const tare_pipeline *lines;
	tare_view *view;
	PyObject *list;
	double factor;
	size_t n = 0;
	int err;

	if (!PyArg_ParseTuple(args, "d", &factor) || !(view = begin_use(self)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	err = tare_view_pipelines(view, factor, &lines, &n);
	Py_END_ALLOW_THREADS
	list = err ? core_error(err, "cannot read stages") : PyList_New(0);
	for (size_t i = 0; list && i < n; i++) {
		const tare_pipeline *line = tare_pipeline_at(lines, i);

		if (append(list, Py_BuildValue(
					 "{s:N,s:N,s:K,s:K,s:d,s:d}", "name",
					 core_str(line->name), "stages",
					 stages_of(line), "in", line->in,
					 "out", line->out, "wall_ns",
					 line->wall_ns, "throughput_rps",
					 line->throughput_rps)) < 0)
			Py_CLEAR(list);
	}
	end_use(self);
	return list;
}

static PyObject *view_run(PyObject *self, PyObject *unused)
{
	tare_view *view = begin_use(self);
	PyObject *dict;

	(void)unused;
	if (!view)
		return NULL;
	dict = core_dict_of(tare_view_run(view), run_fields);
	end_use(self);
	return dict;
}

static PyObject *view_health(PyObject *self, PyObject *unused)
{
	tare_view *view = begin_use(self);
	PyObject *dict;

	(void)unused;
	if (!view)
		return NULL;
	dict = core_dict_of(tare_view_health(view), health_fields);
	end_use(self);
	return dict;
}

/* ---- texts ------------------------------------------------------------- */

/* report(is_json, parts, sort, top, width) */
static PyObject *view_report(PyObject *self, PyObject *args)
{
	tare_report_options options = { .struct_size = sizeof(options) };
	struct core_output output = { NULL, 0, 0 };
	Py_ssize_t top;
	tare_view *view;
	int is_json, err;

	if (!PyArg_ParseTuple(args, "pIznI", &is_json, &options.parts,
			      &options.sort, &top, &options.width) ||
	    !(view = begin_use(self)))
		return NULL;
	options.top = (size_t)top;
	Py_BEGIN_ALLOW_THREADS
	err = (is_json ? tare_view_json : tare_view_report)(
		view, &options, core_output_write, &output);
	Py_END_ALLOW_THREADS
	end_use(self);
	return core_output_text(&output, err, "cannot write a report");
}

/* export(format, table, filter...) */
static PyObject *view_export(PyObject *self, PyObject *args)
{
	tare_export_options options = { .struct_size = sizeof(options) };
	struct core_output output = { NULL, 0, 0 };
	struct selection selection;
	PyObject *filter;
	tare_view *view;
	int err;

	if (!PyArg_ParseTuple(args, "IzO!", &options.format, &options.table,
			      &PyTuple_Type, &filter) ||
	    take_selection(filter, &selection) < 0 ||
	    !(view = begin_use(self)))
		return NULL;
	options.filter = &selection.filter;
	Py_BEGIN_ALLOW_THREADS
	err = tare_export(&view, 1, &options, core_output_write, &output);
	Py_END_ALLOW_THREADS
	end_use(self);
	return core_output_bytes(&output, err, "cannot export");
}

/* flame(from, title, width) */
static PyObject *view_flame(PyObject *self, PyObject *args)
{
	tare_flame_options options = { .struct_size = sizeof(options) };
	struct core_output output = { NULL, 0, 0 };
	tare_view *view;
	int err;

	if (!PyArg_ParseTuple(args, "IzI", &options.from, &options.title,
			      &options.width) ||
	    !(view = begin_use(self)))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	err = tare_export_flame(view, &options, core_output_write, &output);
	Py_END_ALLOW_THREADS
	end_use(self);
	return core_output_text(&output, err, "cannot draw a flame graph");
}

/* ---- as an object ------------------------------------------------------ */

static PyObject *view_close(PyObject *self, PyObject *unused)
{
	View *view = (View *)self;

	(void)unused;
	if (view->view && !begin_use(self))
		return NULL;
	tare_view_close(view->view);
	view->view = NULL;
	end_use(self);
	Py_RETURN_NONE;
}

static void view_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	tare_view_close(((View *)self)->view);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyMethodDef view_methods[] = {
	{ "stats", view_stats, METH_VARARGS, NULL },
	{ "quantile", view_quantile, METH_VARARGS, NULL },
	{ "records", view_records, METH_VARARGS, NULL },
	{ "tree", view_tree, METH_NOARGS, NULL },
	{ "pipelines", view_pipelines, METH_VARARGS, NULL },
	{ "run", view_run, METH_NOARGS, NULL },
	{ "health", view_health, METH_NOARGS, NULL },
	{ "report", view_report, METH_VARARGS, NULL },
	{ "export", view_export, METH_VARARGS, NULL },
	{ "flame", view_flame, METH_VARARGS, NULL },
	{ "close", view_close, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot view_slots[] = {
	{ Py_tp_methods, view_methods },
	{ Py_tp_dealloc, view_free },
	{ 0, NULL },
};

static PyType_Spec view_spec = {
	.name = "tare._tare.View",
	.basicsize = sizeof(View),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = view_slots,
};

/* open_view(which): RuntimeError if this process measures nothing. */
static PyObject *open_view(PyObject *module, PyObject *args)
{
	tare_view *view = NULL;
	const char *which;
	View *object;
	int err;

	(void)module;
	if (!PyArg_ParseTuple(args, "s", &which))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	err = tare_view_open(which, &view);
	Py_END_ALLOW_THREADS
	if (err)
		return core_error(err, which);
	object = PyObject_New(View, view_type);
	if (!object) {
		tare_view_close(view);
		return NULL;
	}
	object->view = view;
	object->is_busy = 0;
	return (PyObject *)object;
}

static PyObject *runs(PyObject *module, PyObject *unused)
{
	tare_run_entry *entries = NULL;
	PyObject *list;
	size_t n = 0;
	int err;

	(void)module;
	(void)unused;
	Py_BEGIN_ALLOW_THREADS
	err = tare_runs_list(&entries, &n);
	Py_END_ALLOW_THREADS
	if (err)
		return core_error(err, "cannot list runs");
	list = PyList_New(0);
	for (size_t i = 0; list && i < n; i++)
		if (append(list, core_dict_of(tare_run_entry_at(entries, i),
					      entry_fields)) < 0)
			Py_CLEAR(list);
	tare_runs_free(entries);
	return list;
}

static PyMethodDef functions[] = {
	{ "open_view", open_view, METH_VARARGS, NULL },
	{ "runs", runs, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

int core_view_add(PyObject *module)
{
	if (core_type_add(module, &view_spec, &view_type) < 0)
		return -1;
	return PyModule_AddFunctions(module, functions);
}
