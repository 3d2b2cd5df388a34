/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engine of events from 3.12 on: callbacks of sys.monitoring (PEP 669) in C.
 *
 * The interpreter has six tool numbers. The profiler's is wanted first;
 * cProfile may have it, then a free one is taken.
 */
#include "session.h"

#if TR_HAS_MONITORING

enum event {
	PY_START,
	PY_RESUME,
	PY_THROW,
	PY_RETURN,
	PY_YIELD,
	PY_UNWIND,
	CALL,
	C_RETURN,
	C_RAISE,
	N_EVENTS,
	N_PYTHON_EVENTS = CALL,
};

static const char *const event_names[N_EVENTS] = {
	"PY_START", "PY_RESUME", "PY_THROW", "PY_RETURN", "PY_YIELD",
	"PY_UNWIND", "CALL", "C_RETURN", "C_RAISE",
};

static int tool = -1;
static PyObject *missing; /* sys.monitoring.MISSING */

static PyObject *on_enter(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
	struct tr_thread *thread = tr_thread_get();

	(void)self;
	(void)n;
	if (thread)
		tr_enter(thread, (uintptr_t)args[0], args[0]);
	Py_RETURN_NONE;
}

static PyObject *on_leave(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
	struct tr_thread *thread = tr_thread_get();

	(void)self;
	(void)n;
	if (thread)
		tr_leave_event(thread, (uintptr_t)args[0]);
	Py_RETURN_NONE;
}

/* Arguments: code, offset, callable, first argument. 0: no function in C. */
static inline uintptr_t key_of_c(PyObject *const *args)
{
	PyObject *callable = args[2];

	if (PyCFunction_Check(callable))
		return (uintptr_t)((PyCFunctionObject *)callable)->m_ml | 1;
	if (Py_IS_TYPE(callable, &PyMethodDescr_Type) && args[3] != missing)
		return (uintptr_t)((PyMethodDescrObject *)callable)->d_method |
		       1;
	return 0;
}

static PyObject *on_call(PyObject *self, PyObject *const *args, Py_ssize_t n)
{
	struct tr_thread *thread = tr_thread_get();
	uintptr_t key = key_of_c(args);

	(void)self;
	(void)n;
	if (thread && key)
		tr_enter(thread, key, args[2]);
	Py_RETURN_NONE;
}

static PyObject *on_c_leave(PyObject *self, PyObject *const *args,
			    Py_ssize_t n)
{
	struct tr_thread *thread = tr_thread_get();
	uintptr_t key = key_of_c(args);

	(void)self;
	(void)n;
	if (thread && key)
		tr_leave_event(thread, key);
	Py_RETURN_NONE;
}

#define CALLBACK(name, function)                                               \
	{ name, (PyCFunction)(void (*)(void))(function), METH_FASTCALL, NULL }

static PyMethodDef callbacks[] = {
	CALLBACK("tare_enter", on_enter),
	CALLBACK("tare_leave", on_leave),
	CALLBACK("tare_call", on_call),
	CALLBACK("tare_c_leave", on_c_leave),
};

static PyMethodDef *callback_of(enum event event)
{
	if (event < PY_RETURN)
		return &callbacks[0];
	if (event < CALL)
		return &callbacks[1];
	return event == CALL ? &callbacks[2] : &callbacks[3];
}

/* Borrowed. */
static PyObject *monitoring(void)
{
	PyObject *module = PySys_GetObject("monitoring");

	if (!module)
		PyErr_SetString(PyExc_RuntimeError, "no sys.monitoring");
	return module;
}

static bool take_tool(PyObject *module)
{
	static const int wanted[] = { 2, 3, 4, 5, 1, 0 };

	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		PyObject *done = PyObject_CallMethod(
			module, "use_tool_id", "is", wanted[i], "tare");

		if (done) {
			Py_DECREF(done);
			tool = wanted[i];
			return true;
		}
		PyErr_Clear();
	}
	return false;
}

static long event_bit(PyObject *module, enum event event)
{
	PyObject *events = PyObject_GetAttrString(module, "events");
	PyObject *bit = NULL;
	long value = -1;

	if (events)
		bit = PyObject_GetAttrString(events, event_names[event]);
	if (bit)
		value = PyLong_AsLong(bit);
	Py_XDECREF(events);
	Py_XDECREF(bit);
	return value;
}

static bool register_event(PyObject *module, enum event event, bool is_on)
{
	long bit = event_bit(module, event);
	PyObject *function, *done;

	if (bit < 0)
		return false;
	function = is_on ? PyCFunction_New(callback_of(event), NULL)
			 : Py_NewRef(Py_None);
	if (!function)
		return false;
	done = PyObject_CallMethod(module, "register_callback", "ilN", tool,
				   bit, function);
	Py_XDECREF(done);
	return done != NULL;
}

static bool set_events(PyObject *module, long bits)
{
	PyObject *done =
		PyObject_CallMethod(module, "set_events", "il", tool, bits);

	Py_XDECREF(done);
	return done != NULL;
}

static void stop(struct tr_session *session)
{
	PyObject *type, *value, *trace, *module, *done;

	(void)session;
	if (tool < 0)
		return;
	PyErr_Fetch(&type, &value, &trace);
	module = monitoring();
	if (module) {
		(void)set_events(module, 0);
		for (int event = 0; event < N_EVENTS; event++)
			(void)register_event(module, event, false);
		done = PyObject_CallMethod(module, "free_tool_id", "i", tool);
		Py_XDECREF(done);
	}
	tool = -1;
	Py_CLEAR(missing);
	PyErr_Clear();
	PyErr_Restore(type, value, trace);
}

static bool start_events(PyObject *module, bool has_builtins)
{
	int n = has_builtins ? N_EVENTS : N_PYTHON_EVENTS;
	long bits = 0;

	missing = PyObject_GetAttrString(module, "MISSING");
	if (!missing)
		return false;
	for (int event = 0; event < n; event++) {
		if (!register_event(module, event, true))
			return false;
		/* C_RETURN and C_RAISE come with CALL. */
		if (event <= CALL)
			bits |= event_bit(module, event);
	}
	return set_events(module, bits);
}

static enum tr_start start(struct tr_session *session)
{
	PyObject *module = monitoring();

	if (!module)
		return TR_START_FAILED;
	if (!take_tool(module))
		return TR_START_TAKEN;
	if (start_events(module, session->has_builtins))
		return TR_STARTED;
	stop(session);
	if (!PyErr_Occurred())
		PyErr_SetString(PyExc_RuntimeError,
				"sys.monitoring refused the profiler's events");
	return TR_START_FAILED;
}

const struct tr_engine tr_engine_events = { "monitoring", start, stop };

#endif
