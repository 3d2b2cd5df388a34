/* SPDX-License-Identifier: Apache-2.0 */
#include "problem.h"

#include <stdarg.h>

#include <tare/error.h>

#include "reply.h"

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

const char *problem_title(int status)
{
	for (size_t i = 0; i < sizeof(titles) / sizeof(titles[0]); i++)
		if (titles[i].status == status)
			return titles[i].title;
	return "Error";
}

static void send_problem(struct exchange *ex, int status, const char *detail)
{
	struct tr_buf body = TR_BUF_INIT;
	struct tr_json json;

	tr_json_begin(&json, &body);
	tr_json_object(&json, NULL);
	tr_json_str(&json, "type", "about:blank");
	tr_json_str(&json, "title", problem_title(status));
	tr_json_i64(&json, "status", status);
	tr_json_str(&json, "detail", detail);
	tr_json_str(&json, "instance", ex->path ? ex->path : "");
	tr_json_end_object(&json);
	reply_document(ex, status, "application/problem+json", &body);
}

void problem(struct exchange *ex, int status, const char *format, ...)
{
	char detail[512];
	va_list list;

	va_start(list, format);
	(void)vsnprintf(detail, sizeof(detail), format, list);
	va_end(list);
	send_problem(ex, status, detail);
}

void problem_error(struct exchange *ex, const char *what, int error)
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
	problem(ex, status, "cannot %s: %s", what, tare_strerror(error));
}
