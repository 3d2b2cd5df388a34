/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exchange: one request and what is needed to answer it. Lives on the stack
 * of the loop from the gate to the reply; only a stream outlives it.
 */
#ifndef SERVER_EXCHANGE_H
#define SERVER_EXCHANGE_H

#include <stdio.h>

#include <event2/event.h>
#include <event2/http.h>

#include <tare/export.h>

#include "cli/json.h"
#include "answers.h"
#include "exports.h"
#include "gate.h"
#include "peers.h"
#include "periodic.h"
#include "pool.h"
#include "query.h"
#include "root.h"
#include "server.h"
#include "state.h"
#include "stream.h"
#include "watch.h"

struct server {
	struct event_base *base;
	struct evhttp *http;
	struct state state;
	struct gate gate;
	struct peers peers;
	struct pool pool;
	struct answers answers;
	struct exports exports;
	struct root root; /* of paths that requests name */
	struct streams streams;
	tare_exporter *exporter; /* of /metrics */
	struct watch *watch;
	struct periodic *periodic; /* NULL: none is wanted */
	int64_t start_ns;
	uint64_t n_requests;
};

struct route;

struct exchange {
	struct server *server;
	struct evhttp_request *request;
	const struct route *route;
	const char *path;	/* decoded, without the query */
	const char *tail;	/* of a route that ends with a file name */
	struct query query;
	int64_t now_ns;		/* since 1970, when it arrived */
	/* The document being written, see reply_json(). */
	struct json json;
	char *body;
	size_t body_len;
};

/* The value of a header of the request, or NULL. */
const char *exchange_header(const struct exchange *ex, const char *name);
void exchange_add_header(struct exchange *ex, const char *name,
			 const char *value);

#endif
