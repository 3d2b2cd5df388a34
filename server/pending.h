/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pending: a task on its way to a reader and back, with the request that it
 * answers; and an answer on its way to the peer.
 */
#ifndef SERVER_PENDING_H
#define SERVER_PENDING_H

#include "exchange.h"
#include "task.h"

/* A task, from its arrival to its answer. */
struct pending {
	struct pending *next;
	struct evhttp_request *request; /* NULL: an internal task */
	const struct route *route;
	readers_done done;
	void *arg;
	unsigned tries;
	size_t len;
	struct task_head *message; /* the head and what follows it */
};

/* NULL: no memory, or too large. */
struct pending *pending_of_exchange(struct exchange *ex);
struct pending *pending_of_server(const char *name, const void *body,
				  size_t len);
void pending_free(struct pending *pending);

/* These answer and free `pending`. */
void pending_fail(struct server *server, struct pending *pending, int status,
		  const char *why);
void pending_finish(struct server *server, struct pending *pending,
		    const struct task_answer *answer);
/* False: no valid answer is cached. */
bool pending_send_kept(struct server *server, struct pending *pending);

#endif
