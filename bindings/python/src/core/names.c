/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names: from objects of Python to texts of C, and to what belongs to a name.
 *
 * A name in a program is one interned string, so its address finds its site;
 * only a name made at run time is looked up by its content. Both tables own
 * the string, so no address is used again for another name.
 */
#include "core.h"

#include <string.h>

/* A text that UTF-8 cannot express (lone surrogates), escaped. */
static const char *escaped(PyObject *text, PyObject **ret_owned)
{
	PyObject *bytes;

	PyErr_Clear();
	bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");
	*ret_owned = bytes;
	return bytes ? PyBytes_AsString(bytes) : NULL;
}

const char *core_name(PyObject *name, PyObject **ret_owned)
{
	Py_ssize_t size = 0;
	const char *text;

	*ret_owned = NULL;
	if (!PyUnicode_Check(name)) {
		PyErr_Format(PyExc_TypeError, "a name must be a str, not %R",
			     (PyObject *)Py_TYPE(name));
		return NULL;
	}
	text = PyUnicode_AsUTF8AndSize(name, &size);
	if (!text) {
		text = escaped(name, ret_owned);
		size = text ? (Py_ssize_t)strlen(text) : 0;
	}
	if (text && (!size || strlen(text) != (size_t)size)) {
		PyErr_SetString(PyExc_ValueError,
				size ? "a name must not have a NUL" :
				       "a name must not be empty");
		Py_CLEAR(*ret_owned);
		return NULL;
	}
	return text;
}

/* The beginning of a str: a huge one is not encoded as a whole. */
static PyObject *beginning(PyObject *object, size_t size)
{
	PyObject *text = PyUnicode_Check(object) ? Py_NewRef(object) :
						   PyObject_Str(object);
	PyObject *part;

	if (!text || PyUnicode_GetLength(text) <= (Py_ssize_t)size)
		return text;
	part = PyUnicode_Substring(text, 0, (Py_ssize_t)size);
	Py_DECREF(text);
	return part;
}

const char *core_text(PyObject *object, char *text, size_t size)
{
	PyObject *part = beginning(object, size), *owned = NULL;
	const char *utf8 = NULL;
	size_t n = 0;

	if (part)
		utf8 = PyUnicode_AsUTF8AndSize(part, NULL);
	if (part && !utf8)
		utf8 = escaped(part, &owned);
	if (utf8)
		n = strlen(utf8);
	else
		PyErr_Clear();
	if (n >= size)
		n = size - 1;
	/* Not between the bytes of a character. */
	while (utf8 && n && utf8[n] && ((unsigned char)utf8[n] & 0xc0) == 0x80)
		n--;
	if (utf8)
		memcpy(text, utf8, n);
	text[n] = '\0';
	Py_XDECREF(owned);
	Py_XDECREF(part);
	return utf8 ? text : "(no text)";
}

PyObject *core_names_find(struct core_names *names, PyObject *name)
{
	unsigned at = core_names_place(name);
	PyObject *old, *object = core_names_guess(names, name);

	if (TARE_LIKELY(object != NULL))
		return object;
	if (!names->all || !PyUnicode_Check(name))
		return NULL;
	object = PyDict_GetItemWithError(names->all, name);
	if (!object) {
		PyErr_Clear();
		return NULL;
	}
	old = names->guess[at].name;
	names->guess[at].object = object; /* `all` owns it for ever */
	names->guess[at].name = Py_NewRef(name);
	Py_XDECREF(old);
	return object;
}

int core_names_keep(struct core_names *names, PyObject *name,
		    PyObject *object)
{
	if (!names->all)
		names->all = PyDict_New();
	if (!names->all)
		return -1;
	if (PyDict_Size(names->all) >= CORE_NAMES_MOST)
		return 0;
	return PyDict_SetItem(names->all, name, object);
}
