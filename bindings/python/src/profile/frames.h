/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between versions of CPython: how a frame names its code, its
 * instruction and its owner. This is the only file of the extension that
 * knows the layout of a frame, which is why the extension is built once for
 * each minor version.
 */
#ifndef TR_PY_FRAMES_H
#define TR_PY_FRAMES_H

#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include <Python.h>
#include <frameobject.h>
#undef _PyGC_FINALIZED
#include <internal/pycore_interp.h>
#include <internal/pycore_pystate.h>
#if PY_VERSION_HEX >= 0x030e0000
#include <internal/pycore_interpframe.h>
#include <internal/pycore_tstate.h>
#elif PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#endif
#pragma GCC diagnostic pop

#include <stdbool.h>
#include <stdint.h>

#define TR_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define TR_LIKELY(x) __builtin_expect(!!(x), 1)

#if PY_VERSION_HEX >= 0x030c0000
#define TR_HAS_MONITORING 1
#else
#define TR_HAS_MONITORING 0
#endif

#define TR_GENERATOR_FLAGS                                                     \
	(CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR)

#if PY_VERSION_HEX < 0x030b0000
typedef PyFrameObject tr_frame;
#else
typedef struct _PyInterpreterFrame tr_frame;
#endif

static inline PyCodeObject *tr_frame_code(tr_frame *frame)
{
#if PY_VERSION_HEX >= 0x030d0000
	return _PyFrame_GetCode(frame);
#else
	return frame->f_code;
#endif
}

#if !TR_HAS_MONITORING
static inline PyCodeObject *tr_frame_object_code(PyFrameObject *object)
{
#if PY_VERSION_HEX < 0x030b0000
	return object->f_code;
#else
	return tr_frame_code(object->f_frame);
#endif
}
#endif

/* The thread that holds the interpreter's lock here; may be NULL. */
static inline PyThreadState *tr_state_with_lock(void)
{
#if PY_VERSION_HEX >= 0x030d0000
	return PyThreadState_GetUnchecked();
#elif PY_VERSION_HEX >= 0x030c0000
	return _PyThreadState_UncheckedGet();
#else
	return _PyThreadState_GET(); /* a load, no call */
#endif
}

/*
 * Whether the interpreter runs this frame only to make a generator. 3.11 and
 * later do that by an instruction of the generator's own code; it is no call
 * of the function for cProfile.
 */
static inline bool tr_frame_makes_generator(tr_frame *frame, PyCodeObject *code)
{
#if PY_VERSION_HEX < 0x030b0000
	(void)frame;
	(void)code;
	return false;
#else
	return (code->co_flags & TR_GENERATOR_FLAGS) &&
	       frame->owner == FRAME_OWNED_BY_THREAD;
#endif
}

/* The place in the code, to see whether a frame ran at all. */
static inline uintptr_t tr_frame_place(tr_frame *frame)
{
#if PY_VERSION_HEX < 0x030b0000
	return (uintptr_t)frame->f_lasti;
#elif PY_VERSION_HEX < 0x030d0000
	return (uintptr_t)frame->prev_instr;
#else
	return (uintptr_t)frame->instr_ptr;
#endif
}

/* Whether the limit of recursion is reached. */
static inline bool tr_at_recursion_limit(PyThreadState *state)
{
#if PY_VERSION_HEX < 0x030b0000
	return state->recursion_depth >= state->interp->ceval.recursion_limit;
#elif PY_VERSION_HEX < 0x030c0000
	return state->recursion_remaining <= 0;
#else
	return state->py_recursion_remaining <= 0;
#endif
}

/*
 * Whether the interpreter may soon refuse a call because C functions are
 * nested too deeply. A frame hook makes each Python call a C call.
 */
static inline bool tr_near_c_limit(PyThreadState *state)
{
#if PY_VERSION_HEX >= 0x030e0000
	_PyThreadStateImpl *impl = (_PyThreadStateImpl *)state;

	return (uintptr_t)__builtin_frame_address(0) <
	       impl->c_stack_soft_limit + (64u << 10);
#elif PY_VERSION_HEX >= 0x030c0000
	return state->c_recursion_remaining < 300;
#else
	(void)state;
	return false;
#endif
}

/* Changes when a thread state is made. */
static inline uint64_t tr_thread_serial(PyInterpreterState *interp)
{
#if PY_VERSION_HEX < 0x030b0000
	return interp->tstate_next_unique_id;
#else
	return interp->threads.next_unique_id;
#endif
}

/* The innermost frame that has begun to run, or NULL. */
static inline tr_frame *tr_innermost_frame(PyThreadState *state)
{
#if PY_VERSION_HEX < 0x030b0000
	return state->frame;
#else
	tr_frame *frame;

#if PY_VERSION_HEX < 0x030d0000
	frame = state->cframe ? state->cframe->current_frame : NULL;
#else
	frame = state->current_frame;
#endif
	while (frame && _PyFrame_IsIncomplete(frame))
		frame = frame->previous;
	return frame;
#endif
}

static inline tr_frame *tr_outer_frame(tr_frame *frame)
{
#if PY_VERSION_HEX < 0x030b0000
	return frame->f_back;
#else
	frame = frame->previous;
	while (frame && _PyFrame_IsIncomplete(frame))
		frame = frame->previous;
	return frame;
#endif
}

/* Offset of the current instruction in the code, for PyCode_Addr2Line(). */
static inline int tr_frame_offset(tr_frame *frame)
{
#if PY_VERSION_HEX < 0x030b0000
	return frame->f_lasti * (int)sizeof(_Py_CODEUNIT);
#else
	return _PyInterpreterFrame_LASTI(frame) * (int)sizeof(_Py_CODEUNIT);
#endif
}

#endif
