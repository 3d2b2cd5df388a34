/* SPDX-License-Identifier: Apache-2.0 */
#include "pending.h"

#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>

#include "base/platform.h"
#include "reply.h"
#include "router.h"

/* ---- making tasks ------------------------------------------------------ */

void pending_free(struct pending *pending)
{
	free(pending->message);
	free(pending);
}

static struct pending *pending_new(const char *uri, uint32_t headers_len,
				   size_t body_len)
{
	struct pending *pending = calloc(1, sizeof(*pending));
	size_t uri_len = strlen(uri) + 1;

	if (!pending)
		return NULL;
	pending->len = sizeof(*pending->message) + uri_len + headers_len +
		       body_len;
	pending->message = pending->len <= TASK_BYTES ?
				   calloc(1, pending->len) :
				   NULL;
	if (!pending->message) {
		free(pending);
		return NULL;
	}
	pending->message->uri_len = (uint32_t)uri_len;
	pending->message->headers_len = headers_len;
	pending->message->body_len = (uint32_t)body_len;
	(void)memcpy(pending->message + 1, uri, uri_len);
	return pending;
}

static char *headers_of(struct pending *pending)
{
	return (char *)(pending->message + 1) + pending->message->uri_len;
}

static char *body_of(struct pending *pending)
{
	return headers_of(pending) + pending->message->headers_len;
}

/* The token stays here: a reader does not need it. */
static bool is_for_readers(const struct evkeyval *header)
{
	return strcasecmp(header->key, "Authorization") != 0 &&
	       strcasecmp(header->key, "Cookie") != 0;
}

struct pending *pending_of_exchange(struct exchange *ex)
{
	struct evkeyvalq *headers =
		evhttp_request_get_input_headers(ex->request);
	struct evbuffer *body = evhttp_request_get_input_buffer(ex->request);
	size_t body_len = evbuffer_get_length(body);
	struct pending *pending;
	struct evkeyval *header;
	uint32_t len = 0, at = 0;

	TAILQ_FOREACH(header, headers, next)
		if (is_for_readers(header))
			len += (uint32_t)(strlen(header->key) + 1 +
					  strlen(header->value) + 1);
	pending = pending_new(evhttp_request_get_uri(ex->request), len,
			      body_len);
	if (!pending)
		return NULL;
	TAILQ_FOREACH(header, headers, next)
		if (is_for_readers(header))
			(void)task_add_header(headers_of(pending), len, &at,
					      header->key, header->value);
	(void)evbuffer_copyout(body, body_of(pending), body_len);
	pending->request = ex->request;
	pending->route = ex->route;
	pending->message->now_ns = ex->now_ns;
	pending->message->method = evhttp_request_get_command(ex->request);
	return pending;
}

struct pending *pending_of_server(const char *name, const void *body,
				  size_t len)
{
	struct pending *pending = pending_new(name, 0, len);

	if (!pending)
		return NULL;
	if (len)
		(void)memcpy(body_of(pending), body, len);
	pending->message->method = TASK_INTERNAL;
	return pending;
}

/* ---- answers ----------------------------------------------------------- */

void pending_fail(struct server *server, struct pending *pending, int status,
		  const char *why)
{
	struct exchange ex = { .server = server,
			       .request = pending->request };
	char path[1024];

	if (!pending->request) {
		pending->done(pending->arg, NULL);
	} else {
		exchange_set_path(&ex, path, sizeof(path));
		problem(&ex, status, "%s", why);
	}
	pending_free(pending);
}

/* Only a regular file has a reliable size. */
static bool is_file_of(int file, uint64_t len)
{
	struct stat st;

	return fstat(file, &st) == 0 && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size >= len;
}

/* The kernel sends from the file: truncating it causes no SIGBUS. */
static bool add_file(struct evbuffer *body, int file, uint64_t len)
{
	(void)evbuffer_set_flags(body, EVBUFFER_FLAG_DRAINS_TO_FD);
	if (len > 0 && is_file_of(file, len) &&
	    evbuffer_add_file(body, file, 0, (ev_off_t)len) == 0)
		return true;
	(void)close(file);
	return len == 0;
}

static bool read_file(struct evbuffer *body, int file, uint64_t len)
{
	char *bytes = is_file_of(file, len) ? malloc(len) : NULL;
	bool ok = bytes && tr_file_read_at(file, bytes, len, 0) &&
		  evbuffer_add(body, bytes, len) == 0;

	free(bytes);
	(void)close(file);
	return ok;
}

static struct evbuffer *take_body(const struct pending *pending,
				  const struct task_answer *answer)
{
	struct evbuffer *body = evbuffer_new();
	uint64_t len = answer->head->body_len;
	bool ok = body;

	if (answer->file < 0)
		ok = ok && evbuffer_add(body, answer->body, len) == 0;
	else if (!body)
		(void)close(answer->file);
	else if (pending->request)
		ok = add_file(body, answer->file, len);
	else
		ok = read_file(body, answer->file, len);
	if (!ok && body) {
		evbuffer_free(body);
		body = NULL;
	}
	return body;
}

static void keep(struct server *server, const struct pending *pending,
		 const struct task_answer *answer)
{
	if (answer->head->status == 200 && answer->body &&
	    (pending->route->flags & ROUTE_KEPT))
		answers_keep(&server->answers,
			     (const char *)(pending->message + 1),
			     &(struct answer_age){ pending->message->epoch,
						   answer->head->read_ms },
			     answer->body, answer->head->body_len);
}

static void send_on(struct server *server, struct pending *pending,
		    const struct task_answer *answer, struct evbuffer *body)
{
	struct exchange ex = { .server = server,
			       .request = pending->request };
	const char *name, *value;

	for (size_t at = 0;
	     task_next_header(answer->headers, answer->head->headers_len, &at,
			      &name, &value);)
		exchange_add_header(&ex, name, value);
	keep(server, pending, answer);
	reply_buffer(&ex, answer->head->status, NULL, body);
}

void pending_finish(struct server *server, struct pending *pending,
		    const struct task_answer *answer)
{
	struct evbuffer *body = take_body(pending, answer);

	if (!body) {
		pending_fail(server, pending, 503, "out of memory");
		return;
	}
	if (pending->request)
		send_on(server, pending, answer, body);
	else
		pending->done(pending->arg,
			      answer->head->status == 200 ? body : NULL);
	evbuffer_free(body);
	pending_free(pending);
}

bool pending_send_kept(struct server *server, struct pending *pending)
{
	struct exchange ex = { .server = server,
			       .request = pending->request,
			       .route = pending->route };

	if (!pending->request || !answers_send(&ex))
		return false;
	pending_free(pending);
	return true;
}
