/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: a file named by the user. It is written completely or not at all: to
 * a temporary file that is then renamed. Anything else than a plain file (a
 * device, a pipe) is written directly and never replaced; a link is followed.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/text.h"

struct output {
	FILE *stream;
	char path[PATH_MAX];	    /* without links */
	char beside[PATH_MAX + 32]; /* temporary file; "": written directly */
};

/* 0, or the errno of why the file cannot be written. */
int output_open(struct output *output, const char *path);

/*
 * `err`: 0, or why the content is incomplete; then the file stays as it was.
 * Returns the errno of a failed write, else `err`.
 */
int output_close(struct output *output, int err);

/* The JSON writer for output_json(); one at a time. */
struct tr_json *output_json_begin(void);
/*
 * Writes a finished document as one line, and releases its buffer. If memory
 * was insufficient the program ends: a part is not valid JSON.
 */
void output_json(struct tr_json *json, FILE *stream);

#endif
