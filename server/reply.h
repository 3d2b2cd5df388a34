/* SPDX-License-Identifier: Apache-2.0 */
/* Reply: the one way out. Every answer gets the same security headers. */
#ifndef SERVER_REPLY_H
#define SERVER_REPLY_H

#include <event2/buffer.h>

#include <tare/api.h>

#include "exchange.h"

/* Headers that every answer has, streams included. */
void reply_headers(struct exchange *ex, const char *type);

/* Sends `len` bytes of `body`, which it copies. */
void reply_bytes(struct exchange *ex, int status, const char *type,
		 const void *body, size_t len);
/* The same from a buffer, which it empties. */
void reply_buffer(struct exchange *ex, int status, const char *type,
		  struct evbuffer *body);
void reply_empty(struct exchange *ex, int status);
/* In a reader: the first `len` bytes of a file, which it takes. */
void reply_file(struct exchange *ex, const char *type, int fd, size_t len);

/*
 * Starts a JSON document and gives its writer; reply_json_end() sends it, or
 * a 503 without a word if memory was out on the way.
 */
struct tr_json *reply_json(struct exchange *ex);
void reply_json_end(struct exchange *ex, int status);
/* The same of another type; takes the buffer. */
void reply_document(struct exchange *ex, int status, const char *type,
		    struct tr_buf *body);

#endif
