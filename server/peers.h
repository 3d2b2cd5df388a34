/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peers: the open connections, and when each is closed.
 *
 * evhttp has one timeout, and every received byte restarts it. So each
 * connection has its own deadlines: 10 s for a whole request from its first
 * byte on, 60 s between two requests, 60 s to fetch an answer, of these 10 s
 * without a byte. At 512 connections the one that was inactive for the longest
 * time is closed for a new one, also if it is being served; connections that
 * never sent a token are closed first, streams never.
 *
 * evhttp reads while it writes, without a limit. From the first byte on, at
 * most one request of the largest size waits to be parsed; the rest stays in
 * the kernel, which stops the sender. All peers together may have 16 MiB
 * waiting: above that, the peer with the most bytes is closed, first those that
 * never sent a token. Answers are written one after the other.
 *
 * Connections are identified by descriptor and inode: evhttp frees a connection
 * without notice, so no pointer to one is kept. The kernel's byte counters show
 * whether a peer has begun to send.
 */
#ifndef SERVER_PEERS_H
#define SERVER_PEERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <event2/event.h>
#include <event2/http.h>

#define PEERS_MOST 512u
#define PEERS_FDS 4096u
#define PEERS_REQUEST_MS 10000
#define PEERS_IDLE_MS 60000
#define PEERS_ANSWER_MS 60000
#define PEERS_STALL_MS 10000
/* One head or body of the largest size, and the lines around it. */
#define PEERS_UNREAD_BYTES (72u << 10)
/* Of all peers together. */
#define PEERS_ALL_UNREAD_BYTES (16u << 20)

enum peer_phase {
	PEER_NONE = 0,
	PEER_FRESH,  /* connected, has not sent a request yet */
	PEER_ASKING, /* a request has begun to arrive */
	PEER_SERVED, /* its answer is being sent */
	PEER_IDLE,   /* between two requests */
	PEER_STREAM  /* receives events; handled by stream.c */
};

struct peer {
	struct peers *peers;
	enum peer_phase phase;
	ino_t inode;
	int64_t since_ms; /* start of the phase */
	uint64_t order;	  /* of phases: the lowest is the oldest */
	uint64_t bytes;	  /* received when the phase began */
	uint64_t fetched; /* bytes of the answers that the peer has received */
	int64_t fetched_ms; /* when that last grew, or nothing waited */
	size_t unread;	  /* bytes that wait to be parsed */
	bool has_token;	  /* one of its requests had one */
	bool has_zero;	  /* it sent a zero byte, which is never valid */
};

struct peers {
	struct event *adopt; /* registers newly accepted connections */
	struct event *sweep;
	struct bufferevent **fresh;
	size_t n_fresh;
	size_t fresh_size;
	size_t n; /* connections at the last sweep or accept */
	uint64_t n_phases;
	size_t unread; /* of all peers */
	struct peer at[PEERS_FDS];
};

bool peers_init(struct peers *peers, struct event_base *base,
		struct evhttp *http);
void peers_release(struct peers *peers);

/* The peer of this request is being served; it is idle afterwards. */
void peers_serve(struct peers *peers, struct evhttp_request *request);
/* One of its requests had a token. */
void peers_trust(struct peers *peers, struct evhttp_request *request);
/* Did its bytes contain a zero? evhttp treats it as the end of a line. */
bool peers_sent_zero(struct peers *peers, struct evhttp_request *request);
/* From now on it receives events until it is closed. */
void peers_stream(struct peers *peers, struct evhttp_request *request);

/* Closes its connection. evhttp frees it when it sees the end. */
void peers_drop(struct evhttp_request *request);

#endif
