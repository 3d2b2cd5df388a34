/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Training runs over tare/train.h; tare/_train.py is what a program uses.
 *
 * Times, rows, files and the ledger are those of C, so the same work gives the
 * same numbers from both languages. A failure to write is told by the library
 * once, and training goes on.
 */
#include "fields.h"

#include "tare_read.h"

#include <string.h>

#define PAIRS_MOST 256

typedef struct {
	PyObject_HEAD
	tare_training *training; /* NULL: closed */
	PyObject *most, *sync;	 /* callables, or NULL */
	PyObject *type, *value, *trace; /* an exception of one of them */
} Training;

typedef struct {
	PyObject_HEAD
	Training *of;
	PyObject *name;
	char *text;
	int kind;
	uint32_t depth;
	tare_phase open[16]; /* as deep as the library nests them */
	tare_pending pending;
} Phase;

enum phase_kind { PHASE, PHASE_ASYNC, PAUSE, PENDING };

static PyTypeObject *training_type, *phase_type;

/* ---- calls back into Python -------------------------------------------- */

/* Kept, and raised when the library's call has returned. */
static int keep_exception(Training *training)
{
	if (training->type)
		PyErr_Clear();
	else
		PyErr_Fetch(&training->type, &training->value,
			    &training->trace);
	return -1;
}

static int raise_kept(Training *training)
{
	if (!training->type)
		return 0;
	PyErr_Restore(training->type, training->value, training->trace);
	training->type = training->value = training->trace = NULL;
	return -1;
}

static PyObject *numbers_of(const double *numbers, size_t n)
{
	PyObject *list = PyList_New((Py_ssize_t)n);

	for (size_t i = 0; list && i < n; i++)
		if (PyList_SetItem(list, (Py_ssize_t)i,
				   PyFloat_FromDouble(numbers[i])) < 0)
			Py_CLEAR(list);
	return list;
}

static int take_numbers(PyObject *result, double *numbers, size_t n)
{
	if (PySequence_Size(result) != (Py_ssize_t)n) {
		PyErr_Format(PyExc_ValueError,
			     "most() must return %zu numbers", n);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		PyObject *item = PySequence_GetItem(result, (Py_ssize_t)i);
		double number = item ? PyFloat_AsDouble(item) : -1;

		Py_XDECREF(item);
		if (number == -1 && PyErr_Occurred())
			return -1;
		numbers[i] = number;
	}
	return 0;
}

static int call_most(void *data, double *numbers, size_t n)
{
	Training *training = data;
	PyObject *list = numbers_of(numbers, n);
	PyObject *result = list ? PyObject_CallFunctionObjArgs(
					  training->most, list, NULL) :
				  NULL;
	int err = result ? take_numbers(result, numbers, n) : -1;

	Py_XDECREF(list);
	Py_XDECREF(result);
	return err ? keep_exception(training) : 0;
}

static void call_sync(void *data)
{
	Training *training = data;
	PyObject *result;

	if (!training->sync)
		return;
	result = PyObject_CallFunctionObjArgs(training->sync, NULL);
	if (!result)
		(void)keep_exception(training);
	Py_XDECREF(result);
}

/* ---- open and close ---------------------------------------------------- */

static int take_pairs(PyObject *tuple, const char **pairs, size_t *ret_n)
{
	Py_ssize_t n = PyTuple_Size(tuple);

	if (n > PAIRS_MOST)
		n = PAIRS_MOST;
	for (Py_ssize_t i = 0; i < n; i++) {
		pairs[i] = PyUnicode_AsUTF8AndSize(PyTuple_GetItem(tuple, i),
						   NULL);
		if (!pairs[i])
			return -1;
	}
	*ret_n = (size_t)n / 2;
	return 0;
}

static Training *empty_training(PyObject *most, PyObject *sync)
{
	Training *training = PyObject_GC_New(Training, training_type);

	if (!training)
		return NULL;
	training->training = NULL;
	training->most = most == Py_None ? NULL : Py_NewRef(most);
	training->sync = sync == Py_None ? NULL : Py_NewRef(sync);
	training->type = training->value = training->trace = NULL;
	PyObject_GC_Track((PyObject *)training);
	return training;
}

/*
 * training(config, results, events, pairs, worker, workers, epochs, most,
 * sync): (Training, error text or None).
 */
static PyObject *new_training(PyObject *module, PyObject *args)
{
	tare_training_options options = { .struct_size = sizeof(options) };
	const char *pairs[PAIRS_MOST];
	PyObject *tuple, *most, *sync;
	unsigned long long epochs;
	Training *training;
	int err;

	(void)module;
	if (!PyArg_ParseTuple(args, "zzzO!IIKOO", &options.config,
			      &options.results, &options.events, &PyTuple_Type,
			      &tuple, &options.worker, &options.workers,
			      &epochs, &most, &sync) ||
	    take_pairs(tuple, pairs, &options.n_pairs) < 0)
		return NULL;
	training = empty_training(most, sync);
	if (!training)
		return NULL;
	options.pairs = pairs;
	options.epochs = epochs;
	options.data = training;
	options.most = training->most ? call_most : NULL;
	options.sync = training->sync ? call_sync : NULL;
	err = tare_training_open(&options, &training->training);
	if (raise_kept(training) < 0 || err == TARE_EINVAL) {
		if (!PyErr_Occurred())
			PyErr_SetString(PyExc_ValueError,
					"not a name of a configuration, or "
					"worker >= workers");
		Py_DECREF(training);
		return NULL;
	}
	return Py_BuildValue("(Nz)", training,
			     err ? tare_strerror(err) : NULL);
}

static PyObject *training_close(PyObject *self, PyObject *unused)
{
	Training *training = (Training *)self;
	tare_training *one = training->training;
	int err;

	(void)unused;
	training->training = NULL;
	err = one ? tare_training_close(one) : 0;
	if (raise_kept(training) < 0)
		return NULL;
	return err ? PyUnicode_FromString(tare_strerror(err)) :
		     Py_NewRef(Py_None);
}

/* ---- an epoch ---------------------------------------------------------- */

#define X(name) { #name, CORE_DOUBLE, offsetof(tare_run_row, name) },
static const struct core_field row_fields[] = {
	{ "epoch", CORE_U64, offsetof(tare_run_row, epoch) },
	TARE_RUN_COLUMNS(X)
	{ NULL, CORE_STR, 0 },
};
#undef X

#define E(field, kind) CORE_FIELD(tare_epoch, field, kind)
static const struct core_field epoch_fields[] = {
	E(rest, CORE_DOUBLE), E(paused, CORE_DOUBLE), E(steps, CORE_U64),
	E(samples, CORE_U64), E(samples_per_s, CORE_DOUBLE),
	E(broadcast_time, CORE_DOUBLE),
	E(gradient_aggregation_time, CORE_DOUBLE),
	{ NULL, CORE_STR, 0 },
};

#define P(field, kind) CORE_FIELD(tare_training_phase, field, kind)
static const struct core_field phase_fields[] = {
	P(name, CORE_STR), P(seconds, CORE_DOUBLE), P(total, CORE_DOUBLE),
	P(pending, CORE_DOUBLE), P(calls, CORE_U64),
	{ NULL, CORE_STR, 0 },
};

static PyObject *phases_of(const tare_epoch *epoch)
{
	PyObject *list = PyList_New(0);

	for (size_t i = 0; list && i < epoch->n_phases; i++) {
		PyObject *dict = core_dict_of(
			tare_training_phase_at(epoch->phases, i),
			phase_fields);

		if (!dict || PyList_Append(list, dict) < 0)
			Py_CLEAR(list);
		Py_XDECREF(dict);
	}
	return list;
}

static PyObject *epoch_of(const tare_epoch *epoch)
{
	PyObject *dict = core_dict_of(epoch, epoch_fields);

	if (dict &&
	    (core_put(dict, "row", core_dict_of(&epoch->row, row_fields)) < 0 ||
	     core_put(dict, "own", core_dict_of(&epoch->own, row_fields)) < 0 ||
	     core_put(dict, "phases", phases_of(epoch)) < 0))
		Py_CLEAR(dict);
	return dict;
}

static PyObject *epoch_begin(PyObject *self, PyObject *unused)
{
	(void)unused;
	if (tare_epoch_begin(((Training *)self)->training) == TARE_EINVAL) {
		PyErr_SetString(PyExc_RuntimeError,
				"an epoch is already open");
		return NULL;
	}
	Py_RETURN_NONE;
}

static PyObject *epoch_end(PyObject *self, PyObject *unused)
{
	tare_epoch epoch = { .struct_size = sizeof(epoch) };
	Training *training = (Training *)self;
	int err = tare_epoch_end(training->training, &epoch);

	(void)unused;
	if (raise_kept(training) < 0)
		return NULL;
	if (err == TARE_EINVAL) {
		PyErr_SetString(PyExc_RuntimeError,
				"this thread has no open epoch");
		return NULL;
	}
	/* Other errors are of the files, and were told. */
	return epoch_of(&epoch);
}

static PyObject *training_value(PyObject *self, PyObject *args)
{
	const char *name;
	double value;
	int err;

	if (!PyArg_ParseTuple(args, "sd", &name, &value))
		return NULL;
	err = tare_training_value(((Training *)self)->training, name, value);
	return err ? core_error(err, name) : Py_NewRef(Py_None);
}

static PyObject *training_samples(PyObject *self, PyObject *args)
{
	unsigned long long n;
	int is_step;

	if (!PyArg_ParseTuple(args, "Kp", &n, &is_step))
		return NULL;
	if (is_step)
		tare_training_step(((Training *)self)->training, n);
	else
		tare_training_samples(((Training *)self)->training, n);
	Py_RETURN_NONE;
}

static PyObject *training_csv(PyObject *self, PyObject *unused)
{
	(void)unused;
	return core_str(tare_training_csv(((Training *)self)->training));
}

/* ---- phases ------------------------------------------------------------ */

/* phase(name, kind) */
static PyObject *training_phase(PyObject *self, PyObject *args)
{
	PyObject *name, *owned;
	const char *text;
	Phase *phase;
	int kind;

	if (!PyArg_ParseTuple(args, "Oi", &name, &kind))
		return NULL;
	text = core_name(name, &owned);
	phase = text ? PyObject_New(Phase, phase_type) : NULL;
	if (phase) {
		phase->of = (Training *)Py_NewRef(self);
		phase->name = Py_NewRef(name);
		phase->kind = kind;
		phase->depth = 0;
		phase->text = PyMem_Malloc(strlen(text) + 1);
		if (phase->text)
			(void)strcpy(phase->text, text);
		if (phase->text && kind == PENDING)
			phase->pending = tare_pending_start(
				phase->of->training, phase->text);
	}
	Py_XDECREF(owned);
	if (phase && !phase->text) {
		Py_DECREF(phase);
		return PyErr_NoMemory();
	}
	return (PyObject *)phase;
}

static tare_phase begin_phase(const Phase *phase)
{
	tare_training *training = phase->of->training;

	if (phase->kind == PHASE_ASYNC)
		return tare_phase_begin_async(training, phase->text);
	if (phase->kind == PAUSE)
		return tare_pause_begin(training, phase->text);
	return tare_phase_begin(training, phase->text);
}

static PyObject *phase_enter(PyObject *self, PyObject *unused)
{
	Phase *phase = (Phase *)self;

	(void)unused;
	if (phase->kind == PENDING) {
		tare_pending_wait(&phase->pending);
		return Py_NewRef(self);
	}
	if (phase->depth == sizeof(phase->open) / sizeof(*phase->open)) {
		PyErr_SetString(PyExc_RuntimeError,
				"a phase is inside itself too often");
		return NULL;
	}
	phase->open[phase->depth] = begin_phase(phase);
	phase->depth++;
	if (!phase->of->type)
		return Py_NewRef(self);
	/* There will be no exit. A second exception is not kept. */
	tare_phase_end(phase->open[--phase->depth]);
	(void)raise_kept(phase->of);
	return NULL;
}

static PyObject *phase_exit(PyObject *self, PyObject *const *args,
			    Py_ssize_t n_args)
{
	Phase *phase = (Phase *)self;

	if (phase->kind == PENDING)
		tare_pending_end(&phase->pending);
	else if (phase->depth)
		tare_phase_end(phase->open[--phase->depth]);
	/* The program's own exception is the one that goes on. */
	if (n_args && args[0] != Py_None && phase->of->type) {
		(void)raise_kept(phase->of);
		PyErr_Clear();
	}
	return raise_kept(phase->of) < 0 ? NULL : Py_NewRef(Py_False);
}

static void phase_free(PyObject *self)
{
	Phase *phase = (Phase *)self;
	PyTypeObject *type = Py_TYPE(self);

	PyMem_Free(phase->text);
	Py_DECREF(phase->name);
	Py_DECREF(phase->of);
	PyObject_Free(self);
	Py_DECREF(type);
}

static PyMethodDef phase_methods[] = {
	{ "__enter__", phase_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)(void *)phase_exit, METH_FASTCALL, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot phase_slots[] = {
	{ Py_tp_methods, phase_methods },
	{ Py_tp_dealloc, phase_free },
	{ 0, NULL },
};

static PyType_Spec phase_spec = {
	.name = "tare._tare.Phase",
	.basicsize = sizeof(Phase),
	.flags = Py_TPFLAGS_DEFAULT,
	.slots = phase_slots,
};

/* ---- as an object ------------------------------------------------------ */

static int training_traverse(PyObject *self, visitproc visit, void *arg)
{
	Py_VISIT(Py_TYPE(self));
	Py_VISIT(((Training *)self)->most);
	Py_VISIT(((Training *)self)->sync);
	return 0;
}

/* The library may still call them: they go with the object. */
static void training_free(PyObject *self)
{
	Training *training = (Training *)self;
	PyTypeObject *type = Py_TYPE(self);

	PyObject_GC_UnTrack(self);
	if (training->training)
		(void)tare_training_close(training->training);
	Py_XDECREF(training->most);
	Py_XDECREF(training->sync);
	Py_XDECREF(training->type);
	Py_XDECREF(training->value);
	Py_XDECREF(training->trace);
	PyObject_GC_Del(self);
	Py_DECREF(type);
}

static PyMethodDef training_methods[] = {
	{ "close", training_close, METH_NOARGS, NULL },
	{ "epoch_begin", epoch_begin, METH_NOARGS, NULL },
	{ "epoch_end", epoch_end, METH_NOARGS, NULL },
	{ "value", training_value, METH_VARARGS, NULL },
	{ "samples", training_samples, METH_VARARGS, NULL },
	{ "csv", training_csv, METH_NOARGS, NULL },
	{ "phase", training_phase, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

static PyType_Slot training_slots[] = {
	{ Py_tp_methods, training_methods },
	{ Py_tp_traverse, training_traverse },
	{ Py_tp_dealloc, training_free },
	{ 0, NULL },
};

static PyType_Spec training_spec = {
	.name = "tare._tare.Training",
	.basicsize = sizeof(Training),
	.flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
	.slots = training_slots,
};

/* ---- measures ---------------------------------------------------------- */

/* macro_f1(n_classes, truth, predicted): both bytes of int32. */
static PyObject *macro_f1(PyObject *module, PyObject *args)
{
	Py_ssize_t n_truth, n_predicted;
	const char *truth, *predicted;
	tare_classify *classify;
	tare_scores scores;
	unsigned n_classes;
	int err;

	(void)module;
	if (!PyArg_ParseTuple(args, "Iy#y#", &n_classes, &truth, &n_truth,
			      &predicted, &n_predicted))
		return NULL;
	if (n_truth != n_predicted)
		return core_error(TARE_EINVAL, "not as many predictions");
	err = tare_classify_new(n_classes, &classify);
	if (err)
		return core_error(err, "macro F1");
	/* Contents of bytes are aligned for any number. */
	err = tare_classify_add(classify, (const void *)truth,
				(const void *)predicted,
				(size_t)n_truth / sizeof(int32_t));
	if (!err)
		err = tare_classify_scores(classify, 0, &scores);
	tare_classify_free(classify);
	return err ? core_error(err, "macro F1") :
		     PyFloat_FromDouble(scores.macro.f1);
}

static PyObject *speedup(PyObject *module, PyObject *args)
{
	double sequential, parallel;

	(void)module;
	if (!PyArg_ParseTuple(args, "dd", &sequential, &parallel))
		return NULL;
	return PyFloat_FromDouble(tare_speedup(sequential, parallel));
}

static PyMethodDef functions[] = {
	{ "training", new_training, METH_VARARGS, NULL },
	{ "macro_f1", macro_f1, METH_VARARGS, NULL },
	{ "speedup", speedup, METH_VARARGS, NULL },
	{ NULL, NULL, 0, NULL },
};

int core_training_add(PyObject *module)
{
	if (core_type_add(module, &training_spec, &training_type) < 0 ||
	    core_type_add(module, &phase_spec, &phase_type) < 0)
		return -1;
	return PyModule_AddFunctions(module, functions);
}
