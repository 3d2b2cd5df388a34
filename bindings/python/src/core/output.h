/* SPDX-License-Identifier: Apache-2.0 */
/* Output: collects what the library writes, without the GIL. */
#ifndef TARE_PYTHON_OUTPUT_H
#define TARE_PYTHON_OUTPUT_H

#include "core.h"

struct core_output {
	char *data;
	size_t used, room;
};

/* A tare_write_fn; `arg` is a struct core_output. */
int core_output_write(void *arg, const char *data, size_t size);

/* What was written, as str or bytes, or the exception for `error`; frees. */
PyObject *core_output_text(struct core_output *output, int error,
			   const char *what);
PyObject *core_output_bytes(struct core_output *output, int error,
			    const char *what);

#endif
