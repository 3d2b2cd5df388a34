/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engine of events before 3.12: the interpreter's profile hook, in every
 * thread. Threads are found by the interpreter's count of thread states,
 * which is compared at the end of each call of a C function: a thread cannot
 * be started in another way, and cannot run before its starter lets it.
 *
 * A profile function of the host stays: it is called after ours with its own
 * argument, which sys.getprofile() goes on to return.
 */
#include "session.h"

#if !TR_HAS_MONITORING

static uint64_t seen_serial;

static void hook_all(struct tr_session *session);

static void look_for_threads(struct tr_session *session)
{
	if (TR_UNLIKELY(tr_thread_serial(session->interp) != seen_serial))
		hook_all(session);
}

static inline uintptr_t key_of_c(PyObject *function)
{
	return (uintptr_t)((PyCFunctionObject *)function)->m_ml | 1;
}

static void on_c_event(struct tr_thread *thread, int what, PyObject *function)
{
	if (what != PyTrace_C_CALL)
		look_for_threads(thread->session);
	if (!thread->session->has_builtins || !PyCFunction_Check(function))
		return;
	if (what == PyTrace_C_CALL)
		tr_enter(thread, key_of_c(function), function);
	else
		tr_leave_event(thread, key_of_c(function));
}

static int on_event(PyObject *host, PyFrameObject *frame, int what,
		    PyObject *argument)
{
	struct tr_thread *thread = tr_thread_get();
	PyCodeObject *code;

	if (!thread)
		return 0;
	if (what == PyTrace_CALL) {
		code = tr_frame_object_code(frame);
		tr_enter(thread, (uintptr_t)code, (PyObject *)code);
	} else if (what == PyTrace_RETURN) {
		code = tr_frame_object_code(frame);
		tr_leave_event(thread, (uintptr_t)code);
	} else {
		on_c_event(thread, what, argument);
	}
	if (TR_UNLIKELY(thread->host_hook != NULL))
		return thread->host_hook(host, frame, what, argument);
	return 0;
}

static void hook_thread(struct tr_session *session, PyThreadState *state)
{
	struct tr_thread *thread;

	if (state->c_profilefunc == on_event)
		return;
	thread = tr_session_thread(session, state);
	if (!thread)
		return;
	thread->host_hook = state->c_profilefunc;
	if (_PyEval_SetProfile(state, on_event, state->c_profileobj) < 0) {
		PyErr_Clear(); /* an audit hook of the host refused */
		session->has_loss = true;
	}
}

static void hook_all(struct tr_session *session)
{
	PyThreadState *state = PyInterpreterState_ThreadHead(session->interp);

	seen_serial = tr_thread_serial(session->interp);
	for (; state; state = PyThreadState_Next(state))
		hook_thread(session, state);
}

static enum tr_start start(struct tr_session *session)
{
	hook_all(session);
	return TR_STARTED;
}

static void unhook_thread(struct tr_session *session, PyThreadState *state)
{
	struct tr_thread *thread = tr_session_thread(session, state);
	PyObject *host = state->c_profileobj;

	if (!thread)
		return;
	if (state->c_profilefunc != on_event) {
		session->has_loss = true;
		return;
	}
	if (_PyEval_SetProfile(state, thread->host_hook,
			       thread->host_hook ? host : NULL) < 0)
		PyErr_Clear();
	thread->host_hook = NULL;
}

static void stop(struct tr_session *session)
{
	PyThreadState *state = PyInterpreterState_ThreadHead(session->interp);

	for (; state; state = PyThreadState_Next(state))
		unhook_thread(session, state);
}

const struct tr_engine tr_engine_events = { "hook", start, stop };

#endif
