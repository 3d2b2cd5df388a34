/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stages: generators of a pipeline, each with the records that come in and go
 * out, its own time, and the time of what consumes its records.
 *
 * A stage is an iterator around the generator; nothing runs before the first
 * record is asked for. The records that go out are counted here. Those that
 * come in are counted where the generator takes them: its input, if that is an
 * iterator, is wrapped, too. A list or another object with a length is passed
 * as it is, since a function may also index it, and its length is the input
 * once the generator has ended. The input of a stage behind another stage is
 * that one's output, which readers know.
 */
#include "core.h"

/* Not in the limited API, but in every CPython since 3.4. */
PyAPI_FUNC(int) PyObject_CallFinalizerFromDealloc(PyObject *object);

typedef struct {
	PyObject_HEAD
	PyObject *iterator;
	iternextfunc next;
	tare_site *records;
	uint64_t n;
} Input;

typedef struct {
	PyObject_HEAD
	PyObject *generator;
	PyObject *on_end; /* called with the stage once it has ended, or NULL */
	PyObject *name;
	PyObject *input; /* an Input or a Stage, or NULL */
	Py_ssize_t length; /* of an input with a length; -1: none */
	iternextfunc next;
	tare_stage stage;
	uint64_t out;
	bool is_over, is_told;
} Stage;

static PyTypeObject *input_type, *stage_type;

/* ---- the input --------------------------------------------------------- */

static PyObject *input_next(PyObject *self)
{
	Input *input = (Input *)self;
	PyObject *record = input->next(input->iterator);

	if (record) {
		input->n++;
		tare_records_add_(input->records, 0, 1);
	}
	return record;
}

/* What else the iterator can do: close(), send(), a file's name. */
static PyObject *input_attribute(PyObject *self, PyObject *name)
{
	PyObject *found = PyObject_GenericGetAttr(self, name);

	if (found || !PyErr_ExceptionMatches(PyExc_AttributeError) ||
	    !((Input *)self)->iterator)
		return found;
	PyErr_Clear();
	return PyObject_GetAttr(((Input *)self)->iterator, name);
}

static int input_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((Input *)self)->iterator);
	return 0;
}

static int input_clear(PyObject *self)
{
	/* Its iterator stays: input_next() may be under way. */
	(void)self;
	return 0;
}

static void input_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	Py_XDECREF(((Input *)self)->iterator);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

static PyType_Slot input_slots[] = {
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, input_next },
	{ Py_tp_getattro, input_attribute },
	{ Py_tp_traverse, input_traverse },
	{ Py_tp_clear, input_clear },
	{ Py_tp_dealloc, input_free },
	{ 0, NULL },
};

static PyType_Spec input_spec = {
	.name = "tare._tare.Input",
	.basicsize = sizeof(Input),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = input_slots,
};

static PyObject *new_input(PyObject *iterator, tare_site *records)
{
	Input *input = PyObject_GC_New(Input, input_type);

	if (!input)
		return NULL;
	input->iterator = Py_NewRef(iterator);
	input->next = PyType_GetSlot(Py_TYPE(iterator), Py_tp_iternext);
	input->records = records;
	input->n = 0;
	PyObject_GC_Track((PyObject *)input);
	return (PyObject *)input;
}

/* ---- a record ---------------------------------------------------------- */

/* Tells `on_end` once; an exception of the program stays. */
static void tell(Stage *stage)
{
	PyObject *type, *value, *trace, *result;

	if (stage->is_told || !stage->on_end)
		return;
	stage->is_told = true;
	PyErr_Fetch(&type, &value, &trace);
	result = PyObject_CallFunctionObjArgs(stage->on_end, (PyObject *)stage,
					      NULL);
	if (!result)
		PyErr_WriteUnraisable(stage->on_end);
	Py_XDECREF(result);
	PyErr_Restore(type, value, trace);
}

static void give(Stage *stage, PyObject *record)
{
	tare_scope scope;

	if (!core_pop(stage, &scope))
		scope.frame = NULL;
	if (!record && PyErr_Occurred() &&
	    !PyErr_ExceptionMatches(PyExc_StopIteration))
		core_fail_now(scope);
	if (scope.frame)
		tare_stage_give_(&stage->stage, scope.frame, record != NULL);
	if (record)
		tare_records_add_(stage->stage.records, 1, 0);
}

/*
 * Once. A generator that is left has taken some of the records of a list: at
 * least as many as it has given, if it gives one for each.
 */
static void end_stage(Stage *stage, bool is_whole)
{
	if (!stage->is_over && stage->length >= 0) {
		if (!is_whole && stage->out < (uint64_t)stage->length)
			stage->length = (Py_ssize_t)stage->out;
		tare_records_add_(stage->stage.records, 0,
				  (uint64_t)stage->length);
	}
	stage->is_over = true;
	tell(stage);
}

static PyObject *stage_next(PyObject *self)
{
	Stage *stage = (Stage *)self;
	uint32_t gate = tare_gate_(stage->stage.site);
	struct core_fiber *fiber;
	tare_scope scope = { NULL };
	PyObject *record;

	if (TARE_UNLIKELY(stage->is_over))
		return NULL;
	fiber = core_fiber_here();
	if (gate)
		scope.frame = tare_stage_ask_(&stage->stage, gate);
	core_push(fiber, scope, stage);
	record = stage->next(stage->generator);
	give(stage, record);
	if (TARE_LIKELY(record != NULL))
		stage->out++;
	else
		end_stage(stage, !PyErr_Occurred() ||
					 PyErr_ExceptionMatches(
						 PyExc_StopIteration));
	return record;
}

static PyObject *stage_close(PyObject *self, PyObject *unused)
{
	Stage *stage = (Stage *)self;
	PyObject *result = PyObject_CallMethod(stage->generator, "close", NULL);

	(void)unused;
	end_stage(stage, false);
	return result;
}

static PyObject *stage_attribute(PyObject *self, PyObject *name)
{
	PyObject *found = PyObject_GenericGetAttr(self, name);

	if (found || !PyErr_ExceptionMatches(PyExc_AttributeError) ||
	    !((Stage *)self)->generator)
		return found;
	PyErr_Clear();
	return PyObject_GetAttr(((Stage *)self)->generator, name);
}

/* ---- what it says ------------------------------------------------------ */

static PyObject *stage_in(PyObject *self, void *unused)
{
	Stage *stage = (Stage *)self;

	(void)unused;
	if (stage->input && Py_TYPE(stage->input) == input_type)
		return PyLong_FromUnsignedLongLong(
			((Input *)stage->input)->n);
	if (stage->input)
		return PyLong_FromUnsignedLongLong(
			((Stage *)stage->input)->out);
	if (stage->is_over && stage->length >= 0)
		return PyLong_FromSsize_t(stage->length);
	Py_RETURN_NONE;
}

static PyObject *stage_out(PyObject *self, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLongLong(((Stage *)self)->out);
}

static PyObject *stage_name(PyObject *self, void *unused)
{
	(void)unused;
	return Py_NewRef(((Stage *)self)->name);
}

/* ---- as an object ------------------------------------------------------ */

static void stage_finish(PyObject *self)
{
	Stage *stage = (Stage *)self;

	if (stage->generator)
		end_stage(stage, false);
}

static int stage_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((Stage *)self)->generator);
	Py_VISIT(((Stage *)self)->on_end);
	Py_VISIT(((Stage *)self)->input);
	return 0;
}

static int stage_clear(PyObject *self)
{
	Py_CLEAR(((Stage *)self)->on_end);
	Py_CLEAR(((Stage *)self)->input);
	return 0;
}

static void stage_free(PyObject *self)
{
	PyTypeObject *type = Py_TYPE(self);

	if (PyObject_CallFinalizerFromDealloc(self) < 0)
		return;
	PyObject_GC_UnTrack(self);
	(void)stage_clear(self);
	Py_XDECREF(((Stage *)self)->generator);
	Py_XDECREF(((Stage *)self)->name);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

static PyMethodDef stage_methods[] = {
	{ "close", stage_close, METH_NOARGS,
	  "close(): closes the generator; the stage has ended." },
	{ NULL, NULL, 0, NULL },
};

static PyGetSetDef stage_fields[] = {
	{ "name", stage_name, NULL, "Name of the stage.", NULL },
	{ "records_in", stage_in, NULL,
	  "Records taken so far; None: not known.", NULL },
	{ "records_out", stage_out, NULL, "Records given so far.", NULL },
	{ NULL, NULL, NULL, NULL, NULL },
};

static PyType_Slot stage_slots[] = {
	{ Py_tp_doc, "A generator that is measured as a stage." },
	{ Py_tp_iter, PyObject_SelfIter },
	{ Py_tp_iternext, stage_next },
	{ Py_tp_getattro, stage_attribute },
	{ Py_tp_methods, stage_methods },
	{ Py_tp_getset, stage_fields },
	{ Py_tp_finalize, stage_finish },
	{ Py_tp_traverse, stage_traverse },
	{ Py_tp_clear, stage_clear },
	{ Py_tp_dealloc, stage_free },
	{ 0, NULL },
};

static PyType_Spec stage_spec = {
	.name = "tare._tare.Stage",
	.basicsize = sizeof(Stage),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = stage_slots,
};

/* ---- making one -------------------------------------------------------- */

static bool has_length(PyObject *object)
{
	return !PyUnicode_Check(object) && !PyBytes_Check(object) &&
	       (PySequence_Check(object) || PyDict_Check(object) ||
		PyAnySet_Check(object));
}

/* The arguments, with the input wrapped; a new tuple. */
static PyObject *take_input(Stage *stage, PyObject *args, Py_ssize_t first)
{
	Py_ssize_t n = PyTuple_Size(args);
	PyObject *changed = PyTuple_GetSlice(args, 0, n);

	for (Py_ssize_t i = first; changed && i < n; i++) {
		PyObject *arg = PyTuple_GetItem(args, i);

		if (Py_TYPE(arg) == stage_type) {
			stage->input = Py_NewRef(arg);
			return changed;
		}
		if (PyIter_Check(arg)) {
			stage->input = new_input(arg, stage->stage.records);
			Py_DECREF(changed);
			changed = PyList_New(0);
			for (Py_ssize_t k = 0; changed && k < n; k++)
				if (!stage->input ||
				    PyList_Append(changed, k == i ?
						  stage->input :
						  PyTuple_GetItem(args, k)) <
					    0)
					Py_CLEAR(changed);
			if (!changed)
				return NULL;
			arg = PyList_AsTuple(changed);
			Py_DECREF(changed);
			return arg;
		}
		if (has_length(arg)) {
			stage->length = PyObject_Size(arg);
			PyErr_Clear();
			return changed;
		}
	}
	return changed;
}

static int start_generator(Stage *stage, PyObject *function, PyObject *args,
			   PyObject *named, Py_ssize_t first)
{
	PyObject *given = take_input(stage, args, first);

	if (!given)
		return -1;
	stage->generator = PyObject_Call(function, given, named);
	Py_DECREF(given);
	if (!stage->generator)
		return -1;
	if (!PyIter_Check(stage->generator)) {
		PyErr_Format(PyExc_TypeError,
			     "a stage must return an iterator, not %R",
			     (PyObject *)Py_TYPE(stage->generator));
		return -1;
	}
	stage->next = PyType_GetSlot(Py_TYPE(stage->generator),
				     Py_tp_iternext);
	return 0;
}

static Stage *empty_stage(PyObject *name, PyObject *on_end)
{
	Stage *stage = PyObject_GC_New(Stage, stage_type);

	if (!stage)
		return NULL;
	stage->generator = stage->input = NULL;
	stage->on_end = on_end == Py_None ? NULL : Py_NewRef(on_end);
	stage->name = Py_NewRef(name);
	stage->length = -1;
	stage->out = 0;
	stage->is_over = stage->is_told = false;
	return stage;
}

/* stage(function, name, pipeline or None, on_end or None, first, args, named):
 * `first` is 1 for methods, whose input is not the object. */
static PyObject *new_stage(PyObject *module, PyObject *all)
{
	PyObject *function, *name, *on_end, *args, *named, *owned;
	const char *text, *pipeline;
	Py_ssize_t first;
	Stage *stage;

	(void)module;
	if (!PyArg_ParseTuple(all, "OOzOnO!O!", &function, &name, &pipeline,
			      &on_end, &first, &PyTuple_Type, &args,
			      &PyDict_Type, &named))
		return NULL;
	text = core_name(name, &owned);
	stage = text ? empty_stage(name, on_end) : NULL;
	if (stage)
		tare_stage_wrap_next(&stage->stage, pipeline, text, NULL,
				     NULL);
	Py_XDECREF(owned);
	if (!stage)
		return NULL;
	PyObject_GC_Track((PyObject *)stage);
	if (start_generator(stage, function, args, named, first) < 0) {
		stage->is_told = true;
		Py_DECREF(stage);
		return NULL;
	}
	return (PyObject *)stage;
}

static PyMethodDef functions[] = {
	{ "stage", new_stage, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

int core_stage_add(PyObject *module)
{
	if (core_type_add(module, &input_spec, &input_type) < 0 ||
	    core_type_add(module, &stage_spec, &stage_type) < 0)
		return -1;
	return PyModule_AddFunctions(module, functions);
}
