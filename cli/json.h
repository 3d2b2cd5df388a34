/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Json: a writer for what the library does not write itself. Compact, commas
 * and nesting are its business, one document a line.
 */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *stream;
	uint64_t has_item; /* a bit a depth: a comma is due */
	unsigned depth;	   /* at most 63 */
};

/* `key` is NULL inside an array and for the document itself. */
void json_begin_object(struct json *json, const char *key);
void json_end_object(struct json *json);
void json_begin_array(struct json *json, const char *key);
void json_end_array(struct json *json);

/* Invalid UTF-8 becomes U+FFFD. A NULL value is null. */
void json_text(struct json *json, const char *key, const char *value);
void json_unsigned(struct json *json, const char *key, uint64_t value);
void json_signed(struct json *json, const char *key, int64_t value);
/* NAN and infinities are null. */
void json_number(struct json *json, const char *key, double value);
void json_bool(struct json *json, const char *key, bool value);

/* Opens a place for a value that the caller writes to the stream itself. */
void json_place(struct json *json, const char *key);

/* The line's end, after the document. */
void json_finish(struct json *json);

#endif
