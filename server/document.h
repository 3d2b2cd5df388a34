/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Document: a JSON object whose members are texts, numbers and switches, as
 * PUT /config takes it. Anything nested, twice or not quite JSON is an error:
 * what is not understood whole is not applied in part.
 */
#ifndef SERVER_DOCUMENT_H
#define SERVER_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>

#define DOCUMENT_MEMBERS 64u

enum document_type {
	DOCUMENT_TEXT = 1,
	DOCUMENT_NUMBER = 2, /* as it was written */
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
 * Reads `text`, in place: the members point into it. Returns NULL, or what is
 * wrong with it.
 */
const char *document_parse(struct document *document, char *text);

/* The value of a hexadecimal digit; -1: it is none. */
int document_hex_digit(char c);

#endif
