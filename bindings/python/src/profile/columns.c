/* SPDX-License-Identifier: Apache-2.0 */
#include "columns.h"

#include <stdlib.h>

#define NO_ROW UINT32_MAX
#define OPEN UINT32_MAX /* as an index: more rows than a budget allows */

struct columns {
	size_t n;
	uint32_t *parent, *key;
	uint64_t *calls;
	double *own, *other, *total;
	double *cost; /* ticks at the caller that calls do not have */
	PyObject *keys;	 /* list */
	PyObject *index; /* dict: address -> index in keys */
	PyObject *threads;
	struct tr_call_cost call;
	double tick_s, overhead; /* overhead in ticks, until the end */
	double wait; /* factor of what the present thread did not time */
	uint64_t dropped;
};

static bool allocate(struct columns *columns, size_t n)
{
	columns->parent = malloc((n + 1) * sizeof(*columns->parent));
	columns->key = malloc((n + 1) * sizeof(*columns->key));
	columns->calls = malloc((n + 1) * sizeof(*columns->calls));
	columns->own = malloc((n + 1) * sizeof(*columns->own));
	columns->other = malloc((n + 1) * sizeof(*columns->other));
	columns->cost = malloc((n + 1) * sizeof(*columns->cost));
	columns->total = calloc(n + 1, sizeof(*columns->total));
	columns->keys = PyList_New(0);
	columns->index = PyDict_New();
	columns->threads = PyList_New(0);
	return columns->parent && columns->key && columns->calls &&
	       columns->own && columns->other && columns->cost &&
	       columns->total && columns->keys && columns->index &&
	       columns->threads;
}

static void release(struct columns *columns)
{
	free(columns->parent);
	free(columns->key);
	free(columns->calls);
	free(columns->own);
	free(columns->other);
	free(columns->cost);
	free(columns->total);
	Py_XDECREF(columns->keys);
	Py_XDECREF(columns->index);
	Py_XDECREF(columns->threads);
}

/* The code object, or the name that was kept. Borrowed. */
static PyObject *object_of(struct tr_session *session, uintptr_t key,
			   PyObject *address)
{
	static PyObject *unnamed;
	PyObject *name;

	if (!(key & 1))
		return (PyObject *)key;
	name = PyDict_GetItemWithError(session->names, address);
	if (name)
		return name;
	PyErr_Clear();
	if (!unnamed)
		unnamed = PyUnicode_FromString("<built-in function>");
	return unnamed;
}

/* Index of a key in the list; false with an exception. */
static bool key_index(struct tr_session *session, struct columns *columns,
		      uintptr_t key, uint32_t *ret_index)
{
	PyObject *address = PyLong_FromVoidPtr((void *)key), *found, *index;
	Py_ssize_t n = PyList_GET_SIZE(columns->keys);
	bool is_done = false;

	if (!address)
		return false;
	found = PyDict_GetItemWithError(columns->index, address);
	if (found) {
		*ret_index = (uint32_t)PyLong_AsUnsignedLong(found);
		Py_DECREF(address);
		return true;
	}
	found = object_of(session, key, address);
	index = PyLong_FromSsize_t(n);
	if (found && index && !PyErr_Occurred())
		is_done = PyList_Append(columns->keys, found) == 0 &&
			  PyDict_SetItem(columns->index, address, index) == 0;
	*ret_index = (uint32_t)n;
	Py_XDECREF(index);
	Py_DECREF(address);
	return is_done;
}

/* Marks the nodes of open calls, until add_node() gives them their rows. */
static void mark_open(struct tr_thread *thread)
{
	struct tr_node *node = thread->current == &thread->other
				       ? thread->other.parent
				       : thread->current;

	for (; node && node != &thread->root; node = node->parent)
		node->index = OPEN;
}

/* Ticks of a call among those that were sampled. */
static double mean_ticks(const struct tr_node *node)
{
	if (node->n_timed)
		return (double)node->ticks / node->n_timed;
	return node->n_first ? (double)node->first_ticks / node->n_first : 0;
}

/*
 * Ticks of a path: those of timed calls as they were, of the others the mean
 * of those that were not long, each without what it has of the profiler. And
 * the profiler's ticks around all calls.
 */
static double estimate(struct columns *columns, const struct tr_node *node,
		       uint64_t now, double *ret_cost)
{
	const struct tr_call_cost *call = &columns->call;
	bool is_open = node->index == OPEN && node->start;
	double n_exact = (double)node->n_long + node->n_first;
	double n_other = (double)node->n_calls - n_exact - is_open;
	double n_timed = n_exact + node->n_timed;
	double mean = mean_ticks(node) - call->inside;
	double exact = (double)(node->long_ticks + node->first_ticks) -
		       n_exact * call->inside;
	double n_untimed = n_other - node->n_timed;
	double untimed = ((double)node->n_calls - n_timed) * call->untimed;
	double timed = n_timed * (call->inside + call->outside);

	if (is_open)
		exact += (double)(now - node->start);
	columns->overhead += timed + untimed;
	*ret_cost = timed + untimed * columns->wait;
	if (exact < 0)
		exact = 0;
	if (mean <= 0)
		return exact;
	return exact + mean * (node->n_timed + n_untimed * columns->wait);
}

static bool add_node(struct columns *columns, struct tr_thread *thread,
		     struct tr_node *node, uint64_t now)
{
	size_t row = columns->n++;

	/* Ticks for now: subtract_children() makes them seconds. */
	columns->own[row] = estimate(columns, node, now, &columns->cost[row]);
	columns->other[row] = (double)node->other_ticks;
	node->index = (uint32_t)row;
	columns->parent[row] = node->parent == &thread->root
				       ? NO_ROW
				       : node->parent->index;
	columns->calls[row] = node->n_calls;
	columns->dropped += node->other_calls;
	return key_index(thread->session, columns, node->key,
			 &columns->key[row]);
}

static bool add_thread(struct columns *columns, struct tr_thread *thread,
		       uint64_t now)
{
	size_t first = columns->n;
	double other = (double)thread->root.other_ticks;
	uint64_t n_other = thread->root.other_calls;
	struct tr_chunk *chunk = thread->first_chunk;
	PyObject *row;
	bool is_done;

	mark_open(thread);
	columns->wait = tr_delay_factor(tr_thread_delay(thread));
	for (; chunk; chunk = chunk->next)
		for (size_t i = 0; i < chunk->n_used; i++) {
			if (!add_node(columns, thread, &chunk->node[i], now))
				return false;
			other += (double)chunk->node[i].other_ticks;
			n_other += chunk->node[i].other_calls;
		}
	columns->dropped += thread->root.other_calls;
	row = Py_BuildValue("knnKd", thread->ident, (Py_ssize_t)first,
			    (Py_ssize_t)(columns->n - first),
			    (unsigned long long)n_other,
			    other * columns->tick_s);
	is_done = row && PyList_Append(columns->threads, row) == 0;
	Py_XDECREF(row);
	return is_done;
}

/* What each row's children took, with the cost of calling them: in total. */
static void add_children(struct columns *columns)
{
	for (size_t i = 0; i < columns->n; i++)
		if (columns->parent[i] != NO_ROW)
			columns->total[columns->parent[i]] +=
				columns->own[i] + columns->cost[i];
}

/*
 * Own times: less those of children. Estimates of children may add up to more
 * than their parent's time: then they are made smaller to fit, and so is all
 * below. cost[] takes the factor of each row; total[] has what children take.
 */
static void subtract_children(struct columns *columns)
{
	const double *ticks = columns->own;

	for (size_t i = 0; i < columns->n; i++)
		columns->total[i] = columns->other[i];
	add_children(columns);
	for (size_t i = 0; i < columns->n; i++) {
		uint32_t parent = columns->parent[i];
		double factor = parent == NO_ROW ? 1 : columns->cost[parent];

		columns->other[i] *= columns->tick_s;
		if (parent != NO_ROW && columns->total[parent] > ticks[parent])
			factor *= ticks[parent] / columns->total[parent];
		columns->cost[i] = factor;
	}
}

/* Totals are sums of own times, so that both always agree. */
static void add_up(struct columns *columns)
{
	double *own = columns->own, *total = columns->total;

	for (size_t i = 0; i < columns->n; i++) {
		double rest = own[i] - total[i];

		own[i] = rest > 0 ? rest * columns->cost[i] * columns->tick_s
				  : 0;
		total[i] = own[i] + columns->other[i];
	}
	for (size_t i = columns->n; i-- > 0;)
		if (columns->parent[i] != NO_ROW)
			total[columns->parent[i]] += total[i];
	columns->overhead *= columns->tick_s;
}

static PyObject *bytes_of(const void *data, size_t n, size_t size)
{
	return PyBytes_FromStringAndSize(data, (Py_ssize_t)(n * size));
}

static PyObject *build(const struct columns *columns)
{
	size_t n = columns->n;

	return Py_BuildValue(
		"{sOsOsNsNsNsNsNsdsK}", "keys", columns->keys, "threads",
		columns->threads, "parent",
		bytes_of(columns->parent, n, sizeof(*columns->parent)), "key",
		bytes_of(columns->key, n, sizeof(*columns->key)), "calls",
		bytes_of(columns->calls, n, sizeof(*columns->calls)), "own",
		bytes_of(columns->own, n, sizeof(*columns->own)), "total",
		bytes_of(columns->total, n, sizeof(*columns->total)),
		"overhead", columns->overhead, "dropped",
		(unsigned long long)columns->dropped);
}

PyObject *tr_session_columns(struct tr_session *session)
{
	struct columns columns = { .tick_s = tr_clock_tick_s(),
				   .call = tr_session_call_cost() };
	uint64_t now = tr_ticks(), generation = tr_active;
	PyObject *result = NULL;
	bool is_done = allocate(&columns, session->n_nodes);

	/* Its own calls into Python are no part of the program. */
	tr_active = 0;
	for (struct tr_thread *t = session->threads; t && is_done; t = t->next)
		is_done = add_thread(&columns, t, now);
	tr_active = generation;
	if (is_done) {
		subtract_children(&columns);
		add_up(&columns);
		result = build(&columns);
	} else if (!PyErr_Occurred()) {
		PyErr_NoMemory();
	}
	release(&columns);
	return result;
}
