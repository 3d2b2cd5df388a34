/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream: Server-Sent Events, a snapshot a second.
 *
 * The snapshot is made once and shared: its cost does not grow with the
 * number of clients, and with none there is no snapshot. A client that does
 * not keep up is dropped when 1 MiB and two snapshots wait for it; its browser
 * comes back.
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
	bool has_snapshot; /* the first comes at once */
};

struct streams {
	struct server *server;
	struct event *tick;
	struct stream at[STREAM_MOST];
	size_t n;
	uint64_t n_snapshots;
	bool is_asking;	  /* a snapshot is being made */
	bool is_tick_due; /* it is for all, not only for who is new */
};

bool streams_init(struct streams *streams, struct server *server);
/* Ends every stream in order. */
void streams_stop(struct streams *streams);
void streams_release(struct streams *streams);

#endif
