/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that the interpreter reuses. It keeps memory of small objects in
 * lists of its own: such a block is not freed and not allocated again, but the
 * next object in it may belong to another line. From 3.14 on whole numbers are
 * kept so, too, and most blocks would stay with the line of an older object.
 *
 * The interpreter calls one function for each new object. Whoever was there
 * before, as tracemalloc, is called as well.
 */
#include "tracking.h"

#if PY_VERSION_HEX >= 0x030e0000 && !defined(Py_GIL_DISABLED)

#define GC_HEAD_BYTES 16u
#define PRE_HEADER_BYTES 16u /* of managed dictionaries and weak references */

static PyRefTracer earlier;
static void *earlier_data;
static bool is_set;

/* Where the block of an object begins. */
static void *block_of(PyObject *object)
{
	PyTypeObject *type = Py_TYPE(object);
	size_t before = 0;

	if (PyType_IS_GC(type))
		before += GC_HEAD_BYTES;
	if (type->tp_flags & (Py_TPFLAGS_MANAGED_DICT |
			      Py_TPFLAGS_MANAGED_WEAKREF))
		before += PRE_HEADER_BYTES;
	return (char *)object - before;
}

static int on_object(PyObject *object, PyRefTracerEvent event, void *data)
{
	(void)data;
	if (event == PyRefTracer_CREATE && tr_hooks_are_on())
		tr_hooks_reuse(block_of(object));
	return earlier ? earlier(object, event, earlier_data) : 0;
}

void tr_reuse_start(void)
{
	void *data;
	PyRefTracer present = PyRefTracer_GetTracer(&data);

	if (present == on_object)
		return;
	earlier = present;
	earlier_data = data;
	is_set = PyRefTracer_SetTracer(on_object, NULL) == 0;
	if (!is_set)
		PyErr_Clear();
}

/* Another one that was set since then may call ours: then it stays. */
void tr_reuse_stop(void)
{
	void *data;

	if (is_set && PyRefTracer_GetTracer(&data) == on_object) {
		is_set = false;
		if (PyRefTracer_SetTracer(earlier, earlier_data))
			PyErr_Clear();
	}
}

#else

void tr_reuse_start(void)
{
}

void tr_reuse_stop(void)
{
}

#endif
