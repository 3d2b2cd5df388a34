/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream: Server-Sent Events, one snapshot per second.
 *
 * The snapshot is made once and shared: its cost does not grow with the number
 * of clients, and without clients there is none. A client that is too slow is
 * dropped when 1 MiB and two snapshots wait for it; its browser reconnects.
 */
#ifndef SERVER_STREAM_H
#define SERVER_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <event2/event.h>

#define STREAM_MOST 256u
#define STREAM_WAITING (1u << 20)

struct server;
struct evhttp_connection;
struct evhttp_request;

struct stream {
	struct evhttp_request *request;
	struct evhttp_connection *connection;
	bool has_snapshot; /* the first one is sent at once */
};

struct streams {
	struct server *server;
	struct event *tick;
	struct stream at[STREAM_MOST];
	size_t n;
	uint64_t n_snapshots;
	bool is_asking;	  /* a snapshot is being made */
	bool is_tick_due; /* send to all clients, not only to new ones */
};

bool streams_init(struct streams *streams, struct server *server);
/* Ends every stream properly. */
void streams_stop(struct streams *streams);
void streams_release(struct streams *streams);

#endif
