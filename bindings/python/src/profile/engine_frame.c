/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engine of frames: a frame evaluation function (PEP 523) around the
 * interpreter's own, or around that of another tool such as TorchDynamo.
 *
 * Begin and end of a call are one C function here, so they always match:
 * no event can be missing, whatever the frame raises.
 */
#include "inlined.h"
#include "session.h"

static _PyFrameEvalFunction next_eval;
static bool is_on;
/* Another hook above ours still calls it: it cannot be taken away. */
static bool is_left_in_chain;

/* A frame that the limit of recursion refused did not run: no call. */
static __attribute__((noinline)) void uncount(PyThreadState *state,
					      struct tr_node *node)
{
	if (tr_at_recursion_limit(state) && node->n_calls)
		node->n_calls--;
}

static inline bool is_deep(PyThreadState *state, struct tr_thread *thread)
{
	return (uintptr_t)__builtin_frame_address(0) < thread->stack_low ||
	       tr_near_c_limit(state);
}

static PyObject *eval_frame(PyThreadState *state, tr_frame *frame, int throws)
{
	struct tr_thread *thread = is_on ? tr_thread_get() : NULL;
	PyCodeObject *code = tr_frame_code(frame);
	uintptr_t place = tr_frame_place(frame);
	uint64_t generation = tr_active;
	struct tr_node *node;
	PyObject *result;

	if (TR_UNLIKELY(!thread) || tr_frame_makes_generator(frame, code))
		return next_eval(state, frame, throws);
	if (TR_UNLIKELY(is_deep(state, thread))) {
		tr_session_go_deep(tr_running);
		return next_eval(state, frame, throws);
	}
	node = tr_enter(thread, (uintptr_t)code, (PyObject *)code);
#if TR_HAS_INLINED
	if (TR_UNLIKELY(node->n_calls == 1))
		tr_inlined_stop(frame);
#endif
	result = next_eval(state, frame, throws);
	if (TR_UNLIKELY(tr_active != generation))
		return result;
	tr_leave(thread, node);
#if PY_VERSION_HEX < 0x030c0000
	if (TR_UNLIKELY(!result) && tr_frame_place(frame) == place && !throws)
		uncount(state, node);
#else
	/* The frame may be gone: only the limit is left to ask. */
	(void)place;
	if (TR_UNLIKELY(!result) && !throws)
		uncount(state, node);
#endif
	return result;
}

static enum tr_start start(struct tr_session *session)
{
	_PyFrameEvalFunction present;

	present = _PyInterpreterState_GetEvalFrameFunc(session->interp);
	/* Ours may be below: twice in a chain would never return. */
	if (present != eval_frame && is_left_in_chain)
		return TR_START_TAKEN;
#if TR_HAS_INLINED
	if (!tr_inlined_stop_all())
		return TR_START_FAILED;
#endif
	if (present != eval_frame) {
		next_eval = present;
		_PyInterpreterState_SetEvalFrameFunc(session->interp,
						     eval_frame);
	}
	is_left_in_chain = false;
	is_on = true;
	return TR_STARTED;
}

static void stop(struct tr_session *session)
{
	_PyFrameEvalFunction present;

	if (!is_on)
		return;
	is_on = false;
#if TR_HAS_INLINED
	tr_inlined_restore();
#endif
	present = _PyInterpreterState_GetEvalFrameFunc(session->interp);
	if (present == eval_frame) {
		_PyInterpreterState_SetEvalFrameFunc(session->interp,
						     next_eval);
		return;
	}
	/* The interpreter's own: the host reset all hooks. */
	session->has_loss = present == _PyEval_EvalFrameDefault;
	is_left_in_chain = !session->has_loss;
}

const struct tr_engine tr_engine_frame = { "frame", start, stop };
