/* SPDX-License-Identifier: Apache-2.0 */
#include "body.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "problem.h"

static bool is_json(const char *type)
{
	size_t len = type ? strcspn(type, "; ") : 0;

	return len == strlen("application/json") &&
	       strncasecmp(type, "application/json", len) == 0;
}

char *body_take(struct exchange *ex)
{
	size_t len;
	const char *body = exchange_body(ex, &len);
	char *text;

	if (!is_json(exchange_header(ex, "Content-Type"))) {
		problem(ex, 415, "the body must be application/json");
		return NULL;
	}
	text = malloc(len + 1);
	if (!text) {
		problem(ex, 503, "out of memory");
		return NULL;
	}
	(void)memcpy(text, body, len);
	text[len] = '\0';
	if (strlen(text) != len) {
		free(text);
		problem(ex, 400, "the body holds a zero");
		return NULL;
	}
	return text;
}

bool body_parse(struct exchange *ex, char *text, struct document *document)
{
	const char *wrong = document_parse(document, text);

	if (wrong)
		problem(ex, 400, "the body cannot be read: %s", wrong);
	return !wrong;
}
