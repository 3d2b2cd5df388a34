/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include <stdlib.h>
#include <string.h>

#include <event2/keyvalq_struct.h>

#include "problem.h"
#include "reader.h"
#include "router.h"

/* ---- the request ------------------------------------------------------- */

enum evhttp_cmd_type exchange_method(const struct exchange *ex)
{
	return ex->task ? (enum evhttp_cmd_type)ex->task->head->method :
			  evhttp_request_get_command(ex->request);
}

const char *exchange_uri(const struct exchange *ex)
{
	return ex->task ? ex->task->uri : evhttp_request_get_uri(ex->request);
}

bool exchange_set_path(struct exchange *ex, char *path, size_t size)
{
	const char *uri = exchange_uri(ex);
	size_t len = uri ? strcspn(uri, "?#") : 0;

	if (len >= size)
		return false;
	if (len)
		(void)memcpy(path, uri, len);
	path[len] = '\0';
	ex->path = path;
	return true;
}

const char *exchange_body(const struct exchange *ex, size_t *ret_len)
{
	*ret_len = ex->task->head->body_len;
	return ex->task->body;
}

const char *exchange_header(const struct exchange *ex, const char *name)
{
	if (ex->task)
		return task_find_header(ex->task->headers,
					ex->task->head->headers_len, name);
	return evhttp_find_header(
		evhttp_request_get_input_headers(ex->request), name);
}

/* A header that finds no room is left out: none of ours is that long. */
void exchange_add_header(struct exchange *ex, const char *name,
			 const char *value)
{
	if (ex->task)
		(void)task_add_header(ex->out, sizeof(ex->out), &ex->out_len,
				      name, value);
	else
		(void)evhttp_add_header(
			evhttp_request_get_output_headers(ex->request), name,
			value);
}

/* ---- the answer -------------------------------------------------------- */

/*
 * An answer is no page: a browser that shows one may do nothing at all, unless
 * the handler says otherwise. What is measured belongs to the owner alone and
 * is old in a second.
 */
void reply_headers(struct exchange *ex, const char *type)
{
	static const char *const header[][2] = {
		{ "X-Content-Type-Options", "nosniff" },
		{ "X-Frame-Options", "DENY" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
		{ "Cache-Control", "no-store" },
	};

	if (type)
		exchange_add_header(ex, "Content-Type", type);
	exchange_add_header(ex, "Content-Security-Policy",
			    ex->policy ? ex->policy :
					 "default-src 'none'; "
					 "frame-ancestors 'none'");
	for (size_t i = 0; i < sizeof(header) / sizeof(header[0]); i++)
		exchange_add_header(ex, header[i][0], header[i][1]);
}

void reply_buffer(struct exchange *ex, int status, const char *type,
		  struct evbuffer *body)
{
	if (ex->task) {
		size_t len = evbuffer_get_length(body);

		reader_answer(ex, status, type, evbuffer_pullup(body, -1),
			      len);
		return;
	}
	reply_headers(ex, type);
	evhttp_send_reply(ex->request, status, problem_title(status), body);
}

void reply_bytes(struct exchange *ex, int status, const char *type,
		 const void *body, size_t len)
{
	struct evbuffer *buffer;

	if (ex->task) {
		reader_answer(ex, status, type, body, len);
		return;
	}
	buffer = evbuffer_new();
	if (!buffer || evbuffer_add(buffer, body, len)) {
		reply_empty(ex, 503);
	} else {
		reply_buffer(ex, status, type, buffer);
	}
	if (buffer)
		evbuffer_free(buffer);
}

void reply_file(struct exchange *ex, const char *type, int fd, size_t len)
{
	reader_answer_file(ex, 200, type, fd, len);
}

void reply_empty(struct exchange *ex, int status)
{
	if (ex->task) {
		reader_answer(ex, status, NULL, NULL, 0);
		return;
	}
	reply_headers(ex, NULL);
	evhttp_send_reply(ex->request, status, problem_title(status), NULL);
}

struct tr_json *reply_json(struct exchange *ex)
{
	ex->body = (struct tr_buf)TR_BUF_INIT;
	tr_json_begin(&ex->json, &ex->body);
	return &ex->json;
}

void reply_json_end(struct exchange *ex, int status)
{
	reply_document(ex, status, "application/json", &ex->body);
}

void reply_document(struct exchange *ex, int status, const char *type,
		    struct tr_buf *body)
{
	tr_buf_addc(body, '\n');
	if (!body->failed)
		reply_bytes(ex, status, type, body->data, body->len);
	else
		reply_empty(ex, 503);
	tr_buf_release(body);
}
