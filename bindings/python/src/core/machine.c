/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine: what the GPU does now, this process's memory, and what an option
 * names, for the modules of the documents.
 */
#include "measured.h"

#include <unistd.h>

static PyObject *known(uint64_t number)
{
	return number == TARE_UNKNOWN ? PyFloat_FromDouble(Py_NAN) :
					PyLong_FromUnsignedLongLong(number);
}

/* gpu_read(index): a dict, or None: it cannot be read. */
static PyObject *gpu_read(PyObject *module, PyObject *args)
{
	tare_gpu now = { .struct_size = sizeof(now) };
	unsigned index;
	size_t n;
	int err;

	(void)module;
	if (!PyArg_ParseTuple(args, "I", &index))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	n = tare_gpu_count();
	err = index < n ? tare_gpu_read(index, &now) : TARE_EINVAL;
	Py_END_ALLOW_THREADS
	if (err || now.is_gone)
		Py_RETURN_NONE;
	return Py_BuildValue("{sssdsNsNsdsdsdsd}", "name", now.name,
			     "load_percent", now.load_percent, "memory_total",
			     known(now.memory_total), "memory_used",
			     known(now.memory_used), "memory_percent",
			     now.memory_percent, "temperature",
			     now.temperature, "power_w", now.power_w, "age_s",
			     (double)now.age_ns / 1e9);
}

static PyObject *gpu_count(PyObject *module, PyObject *unused)
{
	size_t n;

	(void)module;
	(void)unused;
	Py_BEGIN_ALLOW_THREADS
	n = tare_gpu_count();
	Py_END_ALLOW_THREADS
	return PyLong_FromSize_t(n);
}

static PyObject *gpu_reason(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	return core_str(tare_gpu_reason());
}

/* process_memory(): (rss, peak) in bytes; NaN: unknown. */
static PyObject *process_memory(PyObject *module, PyObject *unused)
{
	tare_process now = { .struct_size = sizeof(now) };
	int err = tare_process_read(0, &now);

	(void)module;
	(void)unused;
	if (err)
		return core_error(err, "cannot read this process's memory");
	return Py_BuildValue("(NN)", known(now.rss), known(now.peak_rss));
}

/* option_names(): name -> (what its text names, words that name nothing). */
static PyObject *option_names(PyObject *module, PyObject *unused)
{
	static const char *const names[] = { "nothing", "path", "command",
					     "url" };
	PyObject *made = PyDict_New();
	const tare_option *option;

	(void)module;
	(void)unused;
	for (size_t i = 0; made && (option = tare_option_at(i)); i++)
		if (core_put(made, option->name,
			     Py_BuildValue("(ss)", names[option->names],
					   option->words ? option->words :
							   "")))
			Py_CLEAR(made);
	return made;
}

/* monitor_self(is_on): as POST /monitoring/start and stop. A TARE_E*, or 0. */
static PyObject *monitor_self(PyObject *module, PyObject *args)
{
	int is_on, err;

	(void)module;
	if (!PyArg_ParseTuple(args, "p", &is_on))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	err = tare_remote_monitor((int64_t)getpid(), is_on != 0);
	Py_END_ALLOW_THREADS
	return PyLong_FromLong(err);
}

/* Of the reader, which has trr_ for tr_ in one file; not public calls. */
int trr_remote_monitored(int64_t pid, uint32_t *ret_parts);
void trr_parts_text(uint32_t parts, char *out);
#define PARTS_TEXT 64 /* more than TR_PARTS_TEXT */

/* monitored(): in the words of the option `monitor`; None: not known. */
static PyObject *monitored(PyObject *module, PyObject *unused)
{
	char text[PARTS_TEXT];
	uint32_t parts;
	int err;

	(void)module;
	(void)unused;
	Py_BEGIN_ALLOW_THREADS
	err = trr_remote_monitored((int64_t)getpid(), &parts);
	Py_END_ALLOW_THREADS
	if (err)
		Py_RETURN_NONE;
	trr_parts_text(parts, text);
	return core_str(text);
}

static PyObject *error_text(PyObject *module, PyObject *args)
{
	int err;

	(void)module;
	if (!PyArg_ParseTuple(args, "i", &err))
		return NULL;
	return core_str(tare_strerror(err));
}

static PyMethodDef methods[] = {
	{ "gpu_read", gpu_read, METH_VARARGS, NULL },
	{ "gpu_count", gpu_count, METH_NOARGS, NULL },
	{ "gpu_reason", gpu_reason, METH_NOARGS, NULL },
	{ "process_memory", process_memory, METH_NOARGS, NULL },
	{ "option_names", option_names, METH_NOARGS, NULL },
	{ "monitored", monitored, METH_NOARGS, NULL },
	{ "error_text", error_text, METH_VARARGS, NULL },
	{ "monitor_self", monitor_self, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

int core_machine_add(PyObject *module)
{
	return PyModule_AddFunctions(module, methods);
}
