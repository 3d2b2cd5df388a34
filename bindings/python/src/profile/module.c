/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tare._profile: the deterministic profiler and the tracking of allocations.
 * Built for one minor version of CPython, whose frames it reads.
 */
#include "columns.h"
#include "tracking.h"

#include <pthread.h>

#define MOST_NODES (500u * 1000u)

struct call_tree {
	PyObject_HEAD
	struct tr_session session;
};

static PyObject *tree_new(PyTypeObject *type, PyObject *args, PyObject *words)
{
	static char *names[] = { "max_nodes", NULL };
	Py_ssize_t max_nodes = MOST_NODES;
	struct call_tree *self;

	if (!PyArg_ParseTupleAndKeywords(args, words, "|n:CallTree", names,
					 &max_nodes))
		return NULL;
	if (max_nodes < 1 || max_nodes > (Py_ssize_t)UINT32_MAX / 2) {
		PyErr_Format(PyExc_ValueError,
			     "max_nodes must be from 1 to %lu, not %zd",
			     (unsigned long)(UINT32_MAX / 2), max_nodes);
		return NULL;
	}
	self = (struct call_tree *)type->tp_alloc(type, 0);
	if (!self)
		return NULL;
	self->session.max_nodes = (size_t)max_nodes;
	self->session.names = PyDict_New();
	if (!self->session.names)
		Py_CLEAR(self);
	return (PyObject *)self;
}

static void tree_dealloc(struct call_tree *self)
{
	tr_session_stop(&self->session);
	tr_session_clear(&self->session);
	Py_CLEAR(self->session.names);
	Py_TYPE(self)->tp_free((PyObject *)self);
}

static const struct tr_engine *engine_called(const char *name)
{
	if (strcmp(name, tr_engine_frame.name) == 0)
		return &tr_engine_frame;
	if (strcmp(name, tr_engine_events.name) == 0)
		return &tr_engine_events;
	PyErr_Format(PyExc_ValueError,
		     "engine must be '%s' or '%s' on this Python, not '%s'",
		     tr_engine_frame.name, tr_engine_events.name, name);
	return NULL;
}

/* True: this tree runs now. False: what the engine needs is taken. */
static PyObject *tree_start(struct call_tree *self, PyObject *args)
{
	const struct tr_engine *engine;
	enum tr_start how;
	const char *name;
	int has_builtins, is_all_threads, times_every_call;

	if (!PyArg_ParseTuple(args, "sppp:start", &name, &has_builtins,
			      &is_all_threads, &times_every_call))
		return NULL;
	engine = engine_called(name);
	if (!engine)
		return NULL;
	if (tr_running == &self->session)
		Py_RETURN_TRUE;
	if (tr_running) {
		PyErr_SetString(PyExc_ValueError,
				"another tare profile is already running");
		return NULL;
	}
	self->session.has_builtins = has_builtins;
	self->session.is_all_threads = is_all_threads;
	self->session.times_every_call = times_every_call;
	how = tr_session_start(&self->session, engine);
	if (how == TR_START_FAILED)
		return NULL;
	return PyBool_FromLong(how == TR_STARTED);
}

static PyObject *tree_stop(struct call_tree *self, PyObject *unused)
{
	(void)unused;
	tr_session_stop(&self->session);
	Py_RETURN_NONE;
}

static PyObject *tree_clear(struct call_tree *self, PyObject *unused)
{
	(void)unused;
	if (tr_running == &self->session) {
		PyErr_SetString(PyExc_ValueError,
				"a profile that runs cannot be cleared");
		return NULL;
	}
	tr_session_clear(&self->session);
	PyDict_Clear(self->session.names);
	Py_RETURN_NONE;
}

static PyObject *tree_columns(struct call_tree *self, PyObject *unused)
{
	(void)unused;
	return tr_session_columns(&self->session);
}

static PyObject *tree_is_running(struct call_tree *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(tr_running == &self->session);
}

static PyObject *tree_is_deep(struct call_tree *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(self->session.is_deep);
}

static PyObject *tree_has_loss(struct call_tree *self, void *unused)
{
	(void)unused;
	return PyBool_FromLong(self->session.has_loss);
}

static PyObject *tree_nodes(struct call_tree *self, void *unused)
{
	(void)unused;
	return PyLong_FromSize_t(self->session.n_nodes);
}

static PyObject *tree_seconds(struct call_tree *self, void *unused)
{
	uint64_t ticks = self->session.ran;

	(void)unused;
	if (tr_running == &self->session)
		ticks += tr_ticks() - self->session.started;
	return PyFloat_FromDouble((double)ticks * tr_clock_tick_s());
}

static PyMethodDef tree_methods[] = {
	{ "start", (PyCFunction)tree_start, METH_VARARGS,
	  "start(engine, builtins, all_threads, every) -> bool" },
	{ "stop", (PyCFunction)tree_stop, METH_NOARGS, "Stops measuring." },
	{ "clear", (PyCFunction)tree_clear, METH_NOARGS, "Forgets all calls." },
	{ "columns", (PyCFunction)tree_columns, METH_NOARGS,
	  "The tree as a dict of columns." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef tree_getset[] = {
	{ "is_running", (getter)tree_is_running, NULL, NULL, NULL },
	{ "is_deep", (getter)tree_is_deep, NULL, NULL, NULL },
	{ "has_loss", (getter)tree_has_loss, NULL, NULL, NULL },
	{ "n_nodes", (getter)tree_nodes, NULL, NULL, NULL },
	{ "seconds", (getter)tree_seconds, NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyTypeObject tree_type = {
	PyVarObject_HEAD_INIT(NULL, 0)
	.tp_name = "tare._profile.CallTree",
	.tp_doc = "CallTree(max_nodes=500000)",
	.tp_basicsize = sizeof(struct call_tree),
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_new = tree_new,
	.tp_dealloc = (destructor)tree_dealloc,
	.tp_methods = tree_methods,
	.tp_getset = tree_getset,
};

static struct PyModuleDef module = {
	PyModuleDef_HEAD_INIT,
	.m_name = "tare._profile",
	.m_doc = "Deterministic profiler and tracking of allocations.",
	.m_size = -1,
	.m_methods = tr_tracking_methods,
};

PyMODINIT_FUNC PyInit__profile(void);

PyMODINIT_FUNC PyInit__profile(void)
{
	PyObject *self = PyModule_Create(&module);

	if (!self)
		return NULL;
	tr_clock_init();
	tr_session_init();
	(void)pthread_atfork(NULL, NULL, tr_session_after_fork);
	if (PyType_Ready(&tree_type) < 0 ||
	    PyModule_AddType(self, &tree_type) < 0 ||
	    PyModule_AddStringConstant(self, "events_engine",
				       tr_engine_events.name) < 0)
		Py_CLEAR(self);
	return self;
}
