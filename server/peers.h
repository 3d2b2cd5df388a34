/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Peers: the open connections, and when each has to go.
 *
 * evhttp has one timeout, and every byte that trickles in starts it anew. So
 * a clock of our own runs for each connection: 10 s for a whole request from
 * its first byte on, 60 s between two requests, 60 s for an answer to be
 * fetched, 10 s of them without a byte. At 512 connections the one that has
 * done nothing for the longest time makes room, also one that is being
 * served; those that never showed a token go first, streams never.
 *
 * evhttp reads on while it writes, without a limit. From the first byte on, no
 * more than one request of the largest size waits to be parsed; the rest
 * stays in the kernel, which stops the sender. All peers together may have
 * 16 MiB waiting: beyond that, the peer with the most bytes is closed, first
 * those that never showed a token. Answers are written one after the other.
 *
 * Known by descriptor and inode: evhttp frees a connection without a word, so
 * no pointer to one is kept. Whether a peer has begun to send is asked of the
 * kernel, which counts its bytes.
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
/* A head or a body of the largest size parsed, and the lines around it. */
#define PEERS_UNREAD_BYTES (72u << 10)
/* Of all peers together. */
#define PEERS_ALL_UNREAD_BYTES (16u << 20)

enum peer_phase {
	PEER_NONE = 0,
	PEER_FRESH,  /* connected, and has not asked for anything yet */
	PEER_ASKING, /* a request has begun to arrive */
	PEER_SERVED, /* its answer is on the way */
	PEER_IDLE,   /* between two requests */
	PEER_STREAM  /* gets events; stream.c looks after it */
};

struct peer {
	struct peers *peers;
	enum peer_phase phase;
	ino_t inode;
	int64_t since_ms; /* start of the phase */
	uint64_t order;	  /* of phases: the lowest is the longest ago */
	uint64_t bytes;	  /* that had come in when the phase began */
	uint64_t fetched; /* bytes that the peer has of what was sent */
	int64_t fetched_ms; /* when that last grew, or nothing waited */
	size_t unread;	  /* bytes that wait to be parsed */
	bool has_token;	  /* one of its requests showed one */
	bool has_zero;	  /* it sent a zero byte, which no request holds */
};

struct peers {
	struct event *adopt; /* takes in what was just accepted */
	struct event *sweep;
	struct bufferevent **fresh;
	size_t n_fresh;
	size_t fresh_size;
	size_t n; /* connections, as of the last sweep or accept */
	uint64_t n_phases;
	size_t unread; /* of all peers */
	struct peer at[PEERS_FDS];
};

bool peers_init(struct peers *peers, struct event_base *base,
		struct evhttp *http);
void peers_release(struct peers *peers);

/* The peer of this request is being served; gone idle when it is done. */
void peers_serve(struct peers *peers, struct evhttp_request *request);
/* One of its requests showed a token. */
void peers_trust(struct peers *peers, struct evhttp_request *request);
/* Did its bytes hold a zero? evhttp takes it for the end of a line. */
bool peers_sent_zero(struct peers *peers, struct evhttp_request *request);
/* It now gets events until it goes. */
void peers_stream(struct peers *peers, struct evhttp_request *request);

/* Closes its connection. evhttp cleans up when it sees the end. */
void peers_drop(struct evhttp_request *request);

#endif
