/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Document: a JSON object whose members are texts, numbers and switches, as PUT
 * /config takes it. Nested, duplicate or invalid members are errors: a document
 * that is not understood completely is not applied in part.
 */
#ifndef SERVER_DOCUMENT_H
#define SERVER_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#define DOCUMENT_MEMBERS 64u

enum document_type {
	DOCUMENT_TEXT = 1,
	DOCUMENT_NUMBER = 2, /* as written */
	DOCUMENT_BOOL = 3    /* "true" or "false" */
};

struct document_member {
	const char *key;
	const char *value;
	enum document_type type;
};

struct document {
	struct document_member at[DOCUMENT_MEMBERS];
	size_t n;
};

/*
 * Parses `text` in place: the members point into it. Returns NULL, or the
 * error.
 */
const char *document_parse(struct document *document, char *text);

/* The value of a hexadecimal digit; -1: not a digit. */
int document_hex_digit(char c);

#endif
