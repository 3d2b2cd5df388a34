/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Structs of the reader as dicts: a table of their fields, and one function.
 */
#ifndef TARE_PYTHON_FIELDS_H
#define TARE_PYTHON_FIELDS_H

#include "core.h"

#include <stddef.h>

enum core_field_type {
	CORE_STR,
	CORE_U64,
	CORE_I64,
	CORE_U32,
	CORE_DOUBLE,
	CORE_BOOL,
	CORE_ENUM,
	CORE_CHARS /* an array in the struct */
};

struct core_field {
	const char *name;
	enum core_field_type type;
	size_t at;
};

#define CORE_FIELD(type, field, kind) { #field, kind, offsetof(type, field) }

/* A dict with the fields, up to one without a name; NULL: exception. */
PyObject *core_dict_of(const void *from, const struct core_field *fields);
/* Text of the library: any bytes; NULL is "". */
PyObject *core_str(const char *text);
/* Adds to a dict and drops the reference; -1: exception, also for NULL. */
int core_put(PyObject *dict, const char *key, PyObject *value);

#endif
