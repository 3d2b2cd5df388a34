/* SPDX-License-Identifier: Apache-2.0 */
#include "peers.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include <linux/tcp.h>
#include <netinet/in.h>

#include <event2/bufferevent.h>

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t bytes_received(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		return 0;
	return info.tcpi_bytes_received;
}

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

static void enter(struct peer *peer, enum peer_phase phase)
{
	peer->phase = phase;
	peer->since_ms = now_ms();
}

/* Still the connection that was taken in under this descriptor? */
static bool is_open(const struct peers *peers, size_t fd)
{
	const struct peer *peer = &peers->at[fd];

	return peer->phase != PEER_NONE && inode_of((int)fd) == peer->inode;
}

/* The one that has waited longest without being served; PEERS_FDS: none. */
static size_t longest_waiting(const struct peers *peers)
{
	size_t found = PEERS_FDS;

	for (size_t fd = 0; fd < PEERS_FDS; fd++) {
		const struct peer *peer = &peers->at[fd];

		if (peer->phase != PEER_FRESH && peer->phase != PEER_ASKING &&
		    peer->phase != PEER_IDLE)
			continue;
		if (found == PEERS_FDS ||
		    peer->since_ms < peers->at[found].since_ms)
			found = fd;
	}
	return found;
}

static void make_room(struct peers *peers)
{
	size_t fd = longest_waiting(peers);

	if (fd == PEERS_FDS)
		return;
	if (is_open(peers, fd))
		(void)shutdown((int)fd, SHUT_RDWR);
	peers->at[fd].phase = PEER_NONE;
	peers->n--;
}

static void adopt_one(struct peers *peers, int fd)
{
	if (fd < 0)
		return;
	if ((unsigned)fd >= PEERS_FDS) {
		(void)shutdown(fd, SHUT_RDWR);
		return;
	}
	/* One that went unnoticed had this descriptor before. */
	if (peers->at[fd].phase == PEER_NONE)
		peers->n++;
	peers->at[fd] = (struct peer){ .inode = inode_of(fd) };
	enter(&peers->at[fd], PEER_FRESH);
	if (peers->n > PEERS_MOST)
		make_room(peers);
}

static void adopt(evutil_socket_t none, short what, void *arg)
{
	struct peers *peers = arg;

	(void)none;
	(void)what;
	for (size_t i = 0; i < peers->n_fresh; i++) {
		adopt_one(peers, bufferevent_getfd(peers->fresh[i]));
		(void)bufferevent_decref(peers->fresh[i]);
	}
	peers->n_fresh = 0;
}

/*
 * evhttp asks for a bufferevent for each connection that it accepts, and sets
 * its descriptor afterwards; so it is looked at when evhttp is done.
 */
static struct bufferevent *on_accept(struct event_base *base, void *arg)
{
	struct peers *peers = arg;
	struct bufferevent *bev =
		bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	struct bufferevent **fresh = peers->fresh;

	if (!bev)
		return NULL;
	if (peers->n_fresh == peers->fresh_size) {
		fresh = realloc(fresh, sizeof(*fresh) *
					       (peers->fresh_size + 64));
		if (!fresh)
			return bev;
		peers->fresh = fresh;
		peers->fresh_size += 64;
	}
	bufferevent_incref(bev);
	peers->fresh[peers->n_fresh++] = bev;
	event_active(peers->adopt, EV_TIMEOUT, 0);
	return bev;
}

static bool is_overdue(struct peer *peer, int fd)
{
	int64_t age = now_ms() - peer->since_ms;

	switch (peer->phase) {
	case PEER_IDLE:
		if (bytes_received(fd) > peer->bytes)
			enter(peer, PEER_ASKING);
		return age > PEERS_IDLE_MS;
	case PEER_FRESH:
	case PEER_ASKING:
		return age > PEERS_REQUEST_MS;
	case PEER_SERVED:
		return age > PEERS_ANSWER_MS;
	case PEER_NONE:
	case PEER_STREAM:
		break;
	}
	return false;
}

static void sweep(evutil_socket_t none, short what, void *arg)
{
	struct peers *peers = arg;

	(void)none;
	(void)what;
	for (size_t fd = 0; fd < PEERS_FDS; fd++) {
		struct peer *peer = &peers->at[fd];

		if (peer->phase == PEER_NONE)
			continue;
		if (!is_open(peers, fd)) {
			peer->phase = PEER_NONE;
			peers->n--;
		} else if (is_overdue(peer, (int)fd)) {
			(void)shutdown((int)fd, SHUT_RDWR);
		}
	}
}

bool peers_init(struct peers *peers, struct event_base *base,
		struct evhttp *http)
{
	static const struct timeval second = { .tv_sec = 1 };

	peers->adopt = event_new(base, -1, 0, adopt, peers);
	peers->sweep = event_new(base, -1, EV_PERSIST, sweep, peers);
	if (!peers->adopt || !peers->sweep ||
	    event_add(peers->sweep, &second))
		return false;
	evhttp_set_bevcb(http, on_accept, peers);
	return true;
}

void peers_release(struct peers *peers)
{
	for (size_t i = 0; i < peers->n_fresh; i++)
		(void)bufferevent_decref(peers->fresh[i]);
	free(peers->fresh);
	if (peers->adopt)
		event_free(peers->adopt);
	if (peers->sweep)
		event_free(peers->sweep);
}

static int fd_of(struct evhttp_request *request)
{
	struct evhttp_connection *connection =
		evhttp_request_get_connection(request);

	return connection ?
		       bufferevent_getfd(
			       evhttp_connection_get_bufferevent(connection)) :
		       -1;
}

static struct peer *peer_of(struct peers *peers,
			    struct evhttp_request *request)
{
	int fd = fd_of(request);

	return fd < 0 || (unsigned)fd >= PEERS_FDS ? NULL : &peers->at[fd];
}

static void on_done(struct evhttp_request *request, void *arg)
{
	struct peer *peer = peer_of(arg, request);

	if (!peer || peer->phase != PEER_SERVED)
		return;
	enter(peer, PEER_IDLE);
	peer->bytes = bytes_received(fd_of(request));
}

void peers_serve(struct peers *peers, struct evhttp_request *request)
{
	struct peer *peer = peer_of(peers, request);

	if (!peer || peer->phase == PEER_NONE)
		return;
	enter(peer, PEER_SERVED);
	evhttp_request_set_on_complete_cb(request, on_done, peers);
}

void peers_stream(struct peers *peers, struct evhttp_request *request)
{
	struct peer *peer = peer_of(peers, request);

	if (peer && peer->phase != PEER_NONE)
		enter(peer, PEER_STREAM);
}

void peers_drop(struct evhttp_request *request)
{
	int fd = fd_of(request);

	if (fd >= 0)
		(void)shutdown(fd, SHUT_RDWR);
}
