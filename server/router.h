/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Router: finds the handler of a method and path, which runs in the server or
 * in a reader process.
 */
#ifndef SERVER_ROUTER_H
#define SERVER_ROUTER_H

#include "exchange.h"

enum {
	ROUTE_OPEN = 1 << 0,  /* needs no token */
	ROUTE_KEPT = 1 << 1,  /* its answer is cached for 200 ms */
	ROUTE_HERE = 1 << 2,  /* answered by the server itself: reads no run */
	ROUTE_STEERS = 1 << 3 /* answered by the reader that changes programs */
};

struct route {
	enum evhttp_cmd_type method;
	const char *path;   /* ends with /: a name follows */
	uint32_t accepted;  /* QUERY_ bits */
	uint32_t flags;	    /* ROUTE_ bits */
	void (*handle)(struct exchange *ex);
};

/* The callback for every request. */
void router_take(struct evhttp_request *request, void *server);

/* The second part, in a reader process. */
void router_run(struct exchange *ex);

#endif
