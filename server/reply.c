/* SPDX-License-Identifier: Apache-2.0 */
#include "reply.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>


#include "reader.h"

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

/* A header that does not fit is left out: none of ours is that long. */
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
	text = strndup(body, len);
	if (!text) {
		problem(ex, 503, "out of memory");
	} else if (strlen(text) != len) {
		problem(ex, 400, "the body holds a zero");
		free(text);
		text = NULL;
	}
	return text;
}

bool body_parse(struct exchange *ex, char *text, struct document *document)
{
	const char *wrong = document_parse(document, text);

	return !wrong ||
	       problem(ex, 400, "the body cannot be read: %s", wrong);
}

/* ---- the answer -------------------------------------------------------- */

static const struct {
	int status;
	const char *title;
} titles[] = {
	{ 200, "OK" },
	{ 201, "Created" },
	{ 303, "See Other" },
	{ 304, "Not Modified" },
	{ 400, "Bad Request" },
	{ 401, "Unauthorized" },
	{ 403, "Forbidden" },
	{ 404, "Not Found" },
	{ 405, "Method Not Allowed" },
	{ 406, "Not Acceptable" },
	{ 409, "Conflict" },
	{ 410, "Gone" },
	{ 412, "Precondition Failed" },
	{ 413, "Content Too Large" },
	{ 415, "Unsupported Media Type" },
	{ 421, "Misdirected Request" },
	{ 422, "Unprocessable Content" },
	{ 500, "Internal Server Error" },
	{ 503, "Service Unavailable" },
	{ 507, "Insufficient Storage" },
};

static const char *title_of(int status)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (titles[i].status == status)
			return titles[i].title;
	return "Error";
}

/*
 * Answers are not web pages: the policy forbids a browser everything, unless
 * the handler sets another one. Measurements are private to the owner and
 * outdated after a second, so they are not cached.
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
	evhttp_send_reply(ex->request, status, title_of(status), body);
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
	evhttp_send_reply(ex->request, status, title_of(status), NULL);
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

/* ---- errors ------------------------------------------------------------ */

bool problem(struct exchange *ex, int status, const char *format, ...)
{
	struct tr_buf body = TR_BUF_INIT;
	struct tr_json json;
	char detail[512];
	va_list list;

	va_start(list, format);
	(void)vsnprintf(detail, sizeof(detail), format, list);
	va_end(list);
	tr_json_begin(&json, &body);
	tr_json_object(&json, NULL);
	tr_json_str(&json, "type", "about:blank");
	tr_json_str(&json, "title", title_of(status));
	tr_json_i64(&json, "status", status);
	tr_json_str(&json, "detail", detail);
	tr_json_str(&json, "instance", ex->path ? ex->path : "");
	tr_json_end_object(&json);
	reply_document(ex, status, "application/problem+json", &body);
	return false;
}

bool problem_error(struct exchange *ex, const char *what, int error)
{
	int status = 500;

	if (error == TARE_ENOENT || error == TARE_EDEAD)
		status = 404;
	else if (error == TARE_EINVAL || error == TARE_ERANGE)
		status = 400;
	else if (error == TARE_EOFF)
		status = 409;
	else if (error == TARE_ENOMEM)
		status = 503;
	else if (error == TARE_EFULL)
		status = 507;
	return problem(ex, status, "cannot %s: %s", what,
		       tare_strerror(error));
}
