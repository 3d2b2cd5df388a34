/* SPDX-License-Identifier: Apache-2.0 */
/* Router: from a method and a path to a handler. */
#ifndef SERVER_ROUTER_H
#define SERVER_ROUTER_H

#include "exchange.h"

struct route {
	enum evhttp_cmd_type method;
	const char *path;   /* ends with /: a name follows */
	uint32_t accepted;  /* QUERY_ bits */
	bool is_open;	    /* needs no token */
	bool is_kept;	    /* its answer stands as long as the views do */
	void (*handle)(struct exchange *ex);
};

/* The callback for every request. */
void router_take(struct evhttp_request *request, void *server);

#endif
