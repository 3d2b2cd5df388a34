/* SPDX-License-Identifier: Apache-2.0 */
#include "fields.h"

#include <string.h>

PyObject *core_str(const char *text)
{
	if (!text)
		text = "";
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text),
				    "surrogateescape");
}

int core_put(PyObject *dict, const char *key, PyObject *value)
{
	int err = value ? PyDict_SetItemString(dict, key, value) : -1;

	Py_XDECREF(value);
	return err;
}

/* By memcpy: the struct of a newer library may have another alignment. */
#define READ(type, at) \
	({ \
		type value_; \
		memcpy(&value_, (at), sizeof(value_)); \
		value_; \
	})

static PyObject *field_of(const char *at, enum core_field_type type)
{
	switch (type) {
	case CORE_STR:
		return core_str(READ(const char *, at));
	case CORE_CHARS:
		return core_str(at);
	case CORE_U64:
		return PyLong_FromUnsignedLongLong(READ(uint64_t, at));
	case CORE_I64:
		return PyLong_FromLongLong(READ(int64_t, at));
	case CORE_U32:
	case CORE_ENUM:
		return PyLong_FromUnsignedLong(READ(uint32_t, at));
	case CORE_DOUBLE:
		return PyFloat_FromDouble(READ(double, at));
	case CORE_BOOL:
		return PyBool_FromLong(READ(bool, at));
	}
	return Py_NewRef(Py_None);
}

PyObject *core_dict_of(const void *from, const struct core_field *fields)
{
	PyObject *dict = PyDict_New();

	for (; dict && fields->name; fields++)
		if (core_put(dict, fields->name,
			     field_of((const char *)from + fields->at,
				      fields->type)) < 0)
			Py_CLEAR(dict);
	return dict;
}
