/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Output: a file that somebody named. It is there whole or not at all: written
 * beside, then renamed. What is no plain file (a device, a pipe) is written
 * to as it is and never replaced; a link is followed.
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
	char beside[PATH_MAX + 32]; /* "": written to as it is */
};

/* 0, or the errno of why it cannot be written. */
int output_open(struct output *output, const char *path);

/*
 * `err`: of what was to be written, 0 is fine; otherwise the file is as it was
 * before. Gives the errno of a failed write, else `err`.
 */
int output_close(struct output *output, int err);

/* The writer of a document of JSON for output_json(); one at a time. */
struct tr_json *output_json_begin(void);
/*
 * Writes a finished document as a line of its own, and releases its buffer.
 * Without memory for all of it the program ends: a part is no JSON.
 */
void output_json(struct tr_json *json, FILE *stream);

#endif
