/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <stdlib.h>
#include <string.h>

int core_output_write(void *arg, const char *data, size_t size)
{
	struct core_output *output = arg;
	size_t room = output->room ? output->room : 4096;
	char *more;

	while (room < output->used + size)
		room *= 2;
	if (room != output->room) {
		more = realloc(output->data, room);
		if (!more)
			return -1;
		output->data = more;
		output->room = room;
	}
	memcpy(output->data + output->used, data, size);
	output->used += size;
	return 0;
}

static PyObject *taken(struct core_output *output, int error, const char *what,
		       bool is_text)
{
	const char *data = output->data ? output->data : "";
	Py_ssize_t size = (Py_ssize_t)output->used;
	PyObject *result;

	if (error)
		result = core_error(error, what);
	else if (is_text)
		result = PyUnicode_DecodeUTF8(data, size, "surrogateescape");
	else
		result = PyBytes_FromStringAndSize(data, size);
	free(output->data);
	*output = (struct core_output){ NULL, 0, 0 };
	return result;
}

PyObject *core_output_text(struct core_output *output, int error,
			   const char *what)
{
	return taken(output, error, what, true);
}

PyObject *core_output_bytes(struct core_output *output, int error,
			    const char *what)
{
	return taken(output, error, what, false);
}
