/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reply: sends all answers, each with the same security headers. An error is
 * application/problem+json (RFC 9457).
 */
#ifndef SERVER_REPLY_H
#define SERVER_REPLY_H

#include <event2/buffer.h>

#include <tare/api.h>

#include "document.h"
#include "exchange.h"

/* ---- the body of a request, as JSON text ------------------------------- */

/* The body as a text, which the caller frees; NULL: refused and answered. */
char *body_take(struct exchange *ex);

/* Its members, which point into `text`. False: refused and answered. */
bool body_parse(struct exchange *ex, char *text, struct document *document);

/* ---- the answer -------------------------------------------------------- */

/* Headers of every answer, streams included. */
void reply_headers(struct exchange *ex, const char *type);

/* Sends `len` bytes of `body`, which it copies. */
void reply_bytes(struct exchange *ex, int status, const char *type,
		 const void *body, size_t len);
/* The same from a buffer, which it empties. */
void reply_buffer(struct exchange *ex, int status, const char *type,
		  struct evbuffer *body);
void reply_empty(struct exchange *ex, int status);
/* In a reader: sends the first `len` bytes of a file, which it takes. */
void reply_file(struct exchange *ex, const char *type, int fd, size_t len);

/*
 * Starts a JSON document and returns its writer; reply_json_end() sends it, or
 * a 503 without a message if memory ran out.
 */
struct tr_json *reply_json(struct exchange *ex);
void reply_json_end(struct exchange *ex, int status);
/* The same with another type; takes the buffer. */
void reply_document(struct exchange *ex, int status, const char *type,
		    struct tr_buf *body);

/* Answers with `status` and a sentence that says what to do. Returns false. */
bool problem(struct exchange *ex, int status, const char *format, ...)
	TARE_PRINTF(3, 4);

/* The same for a TARE_E* result: "cannot <what>: <reason>". */
bool problem_error(struct exchange *ex, const char *what, int error);


#endif
