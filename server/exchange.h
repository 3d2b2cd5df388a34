/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchange: one request and what is needed to answer it. Lives on the stack,
 * from the gate to the reply.
 *
 * The server answers some routes itself. It forwards the others to a reader
 * process (readers.h), where an exchange is made again from the task: there
 * `request` is NULL and `task` is not. Handlers use the calls below, which work
 * in both processes.
 */
#ifndef SERVER_EXCHANGE_H
#define SERVER_EXCHANGE_H


#include <event2/event.h>
#include <event2/http.h>

#include <tare/read/export.h>

#include "base/text.h"
#include "answers.h"
#include "exports.h"
#include "gate.h"
#include "peers.h"
#include "periodic.h"
#include "pool.h"
#include "query.h"
#include "readers.h"
#include "root.h"
#include "server.h"
#include "state.h"
#include "stream.h"
#include "task.h"
#include "watch.h"

struct server {
	/* Used only in a reader process. */
	struct pool pool;
	struct exports exports;
	tare_exporter *exporter; /* of /metrics */
	struct root root;	 /* for paths that requests name */
	/* Used only in the server. */
	struct event_base *base;
	struct evhttp *http;
	struct state state;
	struct gate gate;
	struct peers peers;
	struct answers answers;
	struct readers readers;
	struct streams streams;
	struct watch *watch;
	struct periodic *periodic; /* NULL: disabled */
	int64_t start_ns;
	uint64_t n_requests;
};

struct route;

struct exchange {
	struct server *server;
	struct evhttp_request *request; /* NULL in a reader */
	const struct task *task;	/* NULL in the server */
	const struct route *route;
	const char *path;	/* decoded, without the query */
	const char *tail;	/* file name, for routes that end with one */
	struct query query;
	int64_t now_ns;		/* time of arrival, ns since 1970 */
	bool may_read;		/* has a valid token; in the server */
	bool may_steer;		/* has the token that permits changes */
	const char *policy;	/* content security policy; NULL: strictest */
	/* In a reader: the answer. */
	int reader_fd;
	bool is_answered;
	uint32_t out_len;
	char out[TASK_OUT_BYTES]; /* headers, see task.h */
	/* The document being written, see reply_json(). */
	struct tr_json json;
	struct tr_buf body;
};

enum evhttp_cmd_type exchange_method(const struct exchange *ex);
/* As received, with the query. */
const char *exchange_uri(const struct exchange *ex);
/* Copies the path into `path`, which must stay valid; false: too long. */
bool exchange_set_path(struct exchange *ex, char *path, size_t size);
/* In a reader: the body, not zero-terminated. */
const char *exchange_body(const struct exchange *ex, size_t *ret_len);
/* The value of a header of the request, or NULL. */
const char *exchange_header(const struct exchange *ex, const char *name);
void exchange_add_header(struct exchange *ex, const char *name,
			 const char *value);

#endif
