/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What this process measured, as data for the REST routes and the modules of
 * the documents: all figures of a series, for any selection.
 */
#ifndef TARE_PYTHON_MEASURED_H
#define TARE_PYTHON_MEASURED_H

#include "fields.h"
#include "tare_read.h"

/* A filter with the memory that it borrows. */
struct core_selection {
	tare_filter filter;
	const char *names[64];
	const char *sources[64];
};

/*
 * From (names, sources, types, outcome, from_ns, to_ns), which must live as
 * long as the selection. False with an exception set.
 */
bool core_selection_take(struct core_selection *selection, PyObject *args);

/* The measurements so far; NULL with an exception set. */
tare_view *core_view_self(void);

PyObject *core_read_readings(PyObject *module, PyObject *args);

#endif
