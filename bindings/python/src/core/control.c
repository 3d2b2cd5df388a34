/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Control: on and off, options, messages.
 *
 * libtare calls its log rarely, from the thread in which something happened,
 * and the function must not call tare. Its text is therefore kept here and
 * given to Python's logging at the next call of tare.* that may do so, not from
 * inside a probe.
 */
#include "core.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define LINES 64u
#define LINE_BYTES 512u

/* ---- on and off -------------------------------------------------------- */

static PyObject *on(PyObject *module, PyObject *unused)
{
	int err = tare_start();

	(void)module;
	(void)unused;
	if (!err)
		err = tare_enable(true);
	return err ? core_error(err, "cannot measure") : Py_NewRef(Py_None);
}

static PyObject *off(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	(void)tare_enable(false); /* TARE_EOFF: it was never on */
	Py_RETURN_NONE;
}

static PyObject *is_on(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return PyBool_FromLong(tare_is_enabled());
}

static PyObject *clear(PyObject *module, PyObject *unused)
{
	int err = tare_clear();

	(void)module;
	(void)unused;
	if (err && err != TARE_EOFF)
		return core_error(err, "cannot clear");
	Py_RETURN_NONE;
}

static PyObject *ledger_path(PyObject *module, PyObject *unused)
{
	const char *path = tare_ledger_path();

	(void)module;
	(void)unused;
	return path ? PyUnicode_DecodeFSDefault(path) : Py_NewRef(Py_None);
}

/* ---- options ----------------------------------------------------------- */

static PyObject *option_row(const tare_option *option)
{
	return Py_BuildValue("{s:s,s:s,s:i,s:s,s:s,s:s,s:s,s:O,s:O}",
			     "name", option->name, "variable", option->env,
			     "type", (int)option->type,
			     "default", option->default_value,
			     "range", option->range, "unit", option->unit,
			     "help", option->help,
			     "live", option->live ? Py_True : Py_False,
			     "effective",
			     option->effective ? Py_True : Py_False);
}

static PyObject *options(PyObject *module, PyObject *unused)
{
	PyObject *list = PyList_New(0);
	const tare_option *option;

	(void)module;
	(void)unused;
	for (size_t i = 0; list && (option = tare_option_at(i)); i++) {
		PyObject *row = option_row(option);

		if (!row || PyList_Append(list, row) < 0)
			Py_CLEAR(list);
		Py_XDECREF(row);
	}
	return list;
}

static PyObject *option_get(PyObject *module, PyObject *args)
{
	char text[4096];
	const char *name;
	int n;

	(void)module;
	if (!PyArg_ParseTuple(args, "s", &name))
		return NULL;
	n = tare_option_get(name, text, sizeof(text));
	return n < 0 ? core_error(n, name) :
		       PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text),
					    "replace");
}

static PyObject *option_set(PyObject *module, PyObject *args)
{
	const char *name, *text;
	int err;

	(void)module;
	if (!PyArg_ParseTuple(args, "ss", &name, &text))
		return NULL;
	err = tare_option_set(name, text);
	return PyLong_FromLong(err);
}

/* ---- messages ---------------------------------------------------------- */

static struct {
	pthread_mutex_t lock;
	unsigned n, lost;
	struct {
		int level;
		char text[LINE_BYTES];
	} line[LINES];
} log_lines = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void keep_line(void *arg, enum tare_level level, const char *text)
{
	(void)arg;
	(void)pthread_mutex_lock(&log_lines.lock);
	if (log_lines.n < LINES) {
		log_lines.line[log_lines.n].level = (int)level;
		(void)snprintf(log_lines.line[log_lines.n].text, LINE_BYTES,
			       "%s", text);
		log_lines.n++;
	} else {
		log_lines.lost++;
	}
	(void)pthread_mutex_unlock(&log_lines.lock);
}

static PyObject *log_function;

/* Gives the lines to the program's function; its failure is told, not raised.
 * Only where a call of the program may run code of Python. */
static void send_lines(void)
{
	while (log_function && __atomic_load_n(&log_lines.n,
					       __ATOMIC_RELAXED)) {
		char text[LINE_BYTES];
		PyObject *result;
		int level;

		(void)pthread_mutex_lock(&log_lines.lock);
		level = log_lines.line[0].level;
		memcpy(text, log_lines.line[0].text, LINE_BYTES);
		if (log_lines.n) {
			log_lines.n--;
			memmove(&log_lines.line[0], &log_lines.line[1],
				log_lines.n * sizeof(log_lines.line[0]));
		}
		(void)pthread_mutex_unlock(&log_lines.lock);
		result = PyObject_CallFunction(log_function, "is", level,
					       text);
		if (!result)
			PyErr_WriteUnraisable(log_function);
		Py_XDECREF(result);
	}
}

/* log_to(function or None): function(level, text). */
static PyObject *log_to(PyObject *module, PyObject *function)
{
	PyObject *old = log_function;

	(void)module;
	log_function = function == Py_None ? NULL : Py_NewRef(function);
	tare_log_set(log_function ? keep_line : NULL, NULL);
	Py_XDECREF(old);
	send_lines();
	Py_RETURN_NONE;
}

/* ---- steps and the monitor --------------------------------------------- */

static PyObject *step(PyObject *module, PyObject *args)
{
	unsigned long long items = 0;
	PyObject *name = Py_None, *owned;
	const char *text;

	(void)module;
	if (!PyArg_ParseTuple(args, "|OK", &name, &items))
		return NULL;
	if (name == Py_None) {
		tare_step_done(items);
		send_lines();
		Py_RETURN_NONE;
	}
	text = core_name(name, &owned);
	if (!text)
		return NULL;
	tare_step_named(text, items);
	Py_XDECREF(owned);
	send_lines();
	Py_RETURN_NONE;
}

/* trace_schedule(name, wait, warmup, record, repeat, folder, keep) */
static PyObject *trace_schedule(PyObject *module, PyObject *args)
{
	unsigned long long wait, warm_up, record, repeat, keep;
	tare_trace_plan plan = { .struct_size = sizeof(plan) };
	int err;

	(void)module;
	if (!PyArg_ParseTuple(args, "zKKKKzK", &plan.step, &wait, &warm_up,
			      &record, &repeat, &plan.folder, &keep))
		return NULL;
	plan.wait = wait;
	plan.warm_up = warm_up;
	plan.record = record;
	plan.repeat = repeat;
	plan.keep = keep;
	err = tare_trace_schedule(&plan);
	return err ? core_error(err, "cannot schedule traces") :
		     Py_NewRef(Py_None);
}

static PyObject *trace_stop(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	(void)!tare_trace_schedule(NULL);
	Py_RETURN_NONE;
}

/* monitor(parts, is_on): parts are bits of enum tare_monitor_part. */
static PyObject *monitor(PyObject *module, PyObject *args)
{
	unsigned parts;
	int is_wanted, err;

	(void)module;
	if (!PyArg_ParseTuple(args, "Ip", &parts, &is_wanted))
		return NULL;
	err = is_wanted ? tare_monitor_enable(parts) :
			  tare_monitor_disable(parts);
	return PyLong_FromLong(err ? err : (long)tare_monitor_parts());
}

static PyObject *monitor_sample(PyObject *module, PyObject *unused)
{
	int err;

	(void)module;
	(void)unused;
	Py_BEGIN_ALLOW_THREADS
	err = tare_monitor_sample();
	Py_END_ALLOW_THREADS
	return PyLong_FromLong(err);
}

static PyMethodDef functions[] = {
	{ "on", on, METH_NOARGS,
	  "on()\n--\n\nSwitches measuring on in this process." },
	{ "off", off, METH_NOARGS,
	  "off()\n--\n\nPauses measuring; open scopes are still finished." },
	{ "is_on", is_on, METH_NOARGS,
	  "is_on()\n--\n\nWhether this process is measured now." },
	{ "clear", clear, METH_NOARGS,
	  "clear()\n--\n\nDiscards all measurements so far." },
	{ "ledger_path", ledger_path, METH_NOARGS,
	  "ledger_path()\n--\n\nPath of this process's ledger, or None." },
	{ "options", options, METH_NOARGS, NULL },
	{ "option_get", option_get, METH_VARARGS, NULL },
	{ "option_set", option_set, METH_VARARGS, NULL },
	{ "log_to", log_to, METH_O, NULL },
	{ "step", step, METH_VARARGS,
	  "step(name=None, items=0)\n--\n\n"
	  "Ends a step of the program's main loop." },
	{ "trace_schedule", trace_schedule, METH_VARARGS, NULL },
	{ "trace_stop", trace_stop, METH_NOARGS, NULL },
	{ "monitor", monitor, METH_VARARGS, NULL },
	{ "monitor_sample", monitor_sample, METH_NOARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

int core_control_add(PyObject *module)
{
	return PyModule_AddFunctions(module, functions);
}
