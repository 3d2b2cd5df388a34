/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tracking of allocations for Python: the functions of the module, and the
 * rows of a snapshot. A snapshot is copied before the first Python object is
 * made: that may collect garbage and run any code, also one that stops the
 * tracking.
 */
#include "tracking.h"

#include <stdlib.h>
#include <string.h>

struct row {
	uint64_t bytes, blocks, total_bytes, total_blocks;
	struct tr_place *places;
	char *file;
	int line;
	uint32_t n_places, n_frames;
};

struct rows {
	struct row *row;
	size_t n;
};

static void release(struct rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		struct row *row = &rows->row[i];

		for (uint32_t k = 0; k < row->n_places; k++)
			Py_DECREF(row->places[k].code);
		free(row->places);
		free(row->file);
	}
	free(rows->row);
	*rows = (struct rows){ 0 };
}

static bool copy_site(struct row *row, const struct tr_site *site)
{
	uint32_t weight = tr_tracking.weight;

	row->bytes = site->live_bytes;
	row->blocks = (site->n_live + weight / 2) / weight;
	row->total_bytes = site->total_bytes;
	row->total_blocks = (site->n_total + weight / 2) / weight;
	row->n_frames = site->n_frames;
	row->line = site->copied_line;
	if (site->copied_file) {
		row->file = strdup(site->copied_file);
		if (!row->file)
			return false;
	}
	if (!site->n_places)
		return true;
	row->places = malloc(site->n_places * sizeof(*row->places));
	if (!row->places)
		return false;
	row->n_places = site->n_places;
	for (uint32_t k = 0; k < site->n_places; k++) {
		row->places[k] = site->places[k];
		Py_INCREF(row->places[k].code);
	}
	return true;
}

static bool copy_book(struct rows *rows, struct tr_book *book)
{
	size_t n = rows->n + book->sites.n_sites;
	struct row *row = realloc(rows->row, (n + 1) * sizeof(*row));

	if (!row)
		return false;
	rows->row = row;
	tr_book_count(book);
	for (uint32_t i = 0; i < book->sites.n_sites; i++) {
		const struct tr_site *site = &book->sites.site[i];

		if (!site->n_total)
			continue;
		memset(&row[rows->n], 0, sizeof(*row));
		if (!copy_site(&row[rows->n++], site))
			return false;
	}
	return true;
}

static bool copy_books(struct rows *rows)
{
	struct tr_book *raw = &tr_tracking.book[TR_BOOK_RAW];
	bool is_done;

	if (!tr_hooks_are_on())
		return true;
	(void)pthread_mutex_lock(&raw->mutex);
	is_done = copy_book(rows, raw);
	(void)pthread_mutex_unlock(&raw->mutex);
	return is_done &&
	       copy_book(rows, &tr_tracking.book[TR_BOOK_PYTHON]);
}

static PyObject *place_of(const struct tr_place *place)
{
	int line = PyCode_Addr2Line(place->code, place->offset);

	return Py_BuildValue("(Oi)", place->code->co_filename,
			     line > 0 ? line : 0);
}

/* Innermost first. */
static PyObject *frames_of(const struct row *row)
{
	PyObject *frames;

	if (!row->n_places)
		return Py_BuildValue("((si))",
				     row->file ? row->file : "<unknown>",
				     row->line);
	frames = PyTuple_New(row->n_places);
	for (uint32_t i = 0; frames && i < row->n_places; i++) {
		PyObject *place = place_of(&row->places[i]);

		if (!place)
			Py_CLEAR(frames);
		else
			PyTuple_SET_ITEM(frames, i, place);
	}
	return frames;
}

static bool append_row(PyObject *list, const struct row *row)
{
	PyObject *frames = frames_of(row), *tuple;
	bool is_done;

	if (!frames)
		return false;
	tuple = Py_BuildValue("(KKKKNI)", (unsigned long long)row->bytes,
			      (unsigned long long)row->blocks,
			      (unsigned long long)row->total_bytes,
			      (unsigned long long)row->total_blocks, frames,
			      row->n_frames ? row->n_frames : 1);
	is_done = tuple && PyList_Append(list, tuple) == 0;
	Py_XDECREF(tuple);
	return is_done;
}

static PyObject *alloc_sites(PyObject *self, PyObject *unused)
{
	struct rows rows = { 0 };
	PyObject *list = NULL;
	bool is_done;

	(void)self;
	(void)unused;
	tr_hooks_pause(true);
	is_done = copy_books(&rows);
	if (is_done)
		list = PyList_New(0);
	else
		PyErr_NoMemory();
	for (size_t i = 0; list && i < rows.n; i++)
		if (!append_row(list, &rows.row[i]))
			Py_CLEAR(list);
	release(&rows);
	tr_hooks_pause(false);
	return list;
}

static PyObject *alloc_start(PyObject *self, PyObject *args)
{
	unsigned max_frames;
	double mean_bytes;

	(void)self;
	if (!PyArg_ParseTuple(args, "Id:alloc_start", &max_frames, &mean_bytes))
		return NULL;
	if (max_frames < 1 || max_frames > TR_MOST_FRAMES) {
		PyErr_Format(PyExc_ValueError,
			     "the number of frames must be from 1 to %u",
			     TR_MOST_FRAMES);
		return NULL;
	}
	if (!(mean_bytes >= 0 && mean_bytes < 1e12)) {
		PyErr_SetString(PyExc_ValueError,
				"the bytes of a sample must be from 0 to 1e12");
		return NULL;
	}
	if (!tr_hooks_start(max_frames, mean_bytes))
		return PyErr_NoMemory();
	Py_RETURN_NONE;
}

static PyObject *alloc_stop(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	tr_hooks_stop();
	Py_RETURN_NONE;
}

static PyObject *alloc_clear(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	tr_hooks_clear();
	Py_RETURN_NONE;
}

static PyObject *alloc_is_on(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	return PyBool_FromLong(tr_hooks_are_on());
}

static PyObject *alloc_traced(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	if (!tr_hooks_are_on())
		return Py_BuildValue("ii", 0, 0);
	return Py_BuildValue("KK", (unsigned long long)tr_tracking_bytes(),
			     (unsigned long long)tr_tracking_peak());
}

static PyObject *alloc_reset_peak(PyObject *self, PyObject *unused)
{
	(void)self;
	(void)unused;
	tr_tracking_reset_peak();
	Py_RETURN_NONE;
}

/* Own memory in bytes, blocks in the table, blocks lost, sites crowded. */
static PyObject *alloc_own(PyObject *self, PyObject *unused)
{
	uint64_t bytes = 0, blocks = 0, lost = 0;
	bool is_crowded = false;

	(void)self;
	(void)unused;
	for (int i = 0; i < TR_BOOKS; i++) {
		struct tr_book *book = &tr_tracking.book[i];

		if (book->is_locked)
			(void)pthread_mutex_lock(&book->mutex);
		tr_book_count(book);
		bytes += book->table_bytes +
			 book->sites.n_sites * sizeof(struct tr_site) +
			 book->sites.n_slots * sizeof(uint32_t) +
			 (book->filter ? TR_FILTER : 0);
		blocks += book->n_counted;
		if (book->is_locked)
			(void)pthread_mutex_unlock(&book->mutex);
		lost += book->n_lost;
		is_crowded = is_crowded || book->sites.is_crowded;
	}
	return Py_BuildValue("KKKO", (unsigned long long)bytes,
			     (unsigned long long)blocks,
			     (unsigned long long)lost,
			     is_crowded ? Py_True : Py_False);
}

PyMethodDef tr_tracking_methods[] = {
	{ "alloc_start", alloc_start, METH_VARARGS,
	  "alloc_start(frames, mean_bytes)" },
	{ "alloc_stop", alloc_stop, METH_NOARGS, NULL },
	{ "alloc_clear", alloc_clear, METH_NOARGS, NULL },
	{ "alloc_is_on", alloc_is_on, METH_NOARGS, NULL },
	{ "alloc_traced", alloc_traced, METH_NOARGS, NULL },
	{ "alloc_reset_peak", alloc_reset_peak, METH_NOARGS, NULL },
	{ "alloc_sites", alloc_sites, METH_NOARGS,
	  "[(bytes, blocks, total bytes, total blocks, frames, depth)]" },
	{ "alloc_own", alloc_own, METH_NOARGS,
	  "(bytes, blocks, blocks lost, sites are crowded)" },
	{ NULL, NULL, 0, NULL },
};
