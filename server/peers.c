/* SPDX-License-Identifier: Apache-2.0 */
#include "peers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "gate.h"

_Static_assert(PEERS_UNREAD_BYTES > GATE_PARSED_BYTES,
	       "evhttp wants a line, and a body, as a whole");

static int64_t now_ms(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct tcp_info info_of(int fd)
{
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &len))
		info = (struct tcp_info){ 0 };
	return info;
}

static uint64_t bytes_received(int fd)
{
	return info_of(fd).tcpi_bytes_received;
}

/* The kernel has bytes that the peer has not fetched. */
static bool has_unsent(int fd)
{
	int n = 0;

	return ioctl(fd, SIOCOUTQ, &n) == 0 && n > 0;
}

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

static void enter(struct peers *peers, struct peer *peer,
		  enum peer_phase phase)
{
	peer->phase = phase;
	peer->since_ms = now_ms();
	peer->fetched_ms = peer->since_ms;
	peer->order = ++peers->n_phases;
}

/* Is it still the connection that was registered for this descriptor? */
static bool is_open(const struct peers *peers, size_t fd)
{
	const struct peer *peer = &peers->at[fd];

	return peer->phase != PEER_NONE && inode_of((int)fd) == peer->inode;
}

/* Is `a` closed before `b`? */
static bool is_older(const struct peer *a, const struct peer *b)
{
	if (a->has_token != b->has_token)
		return b->has_token;
	return a->order < b->order;
}

static bool is_larger(const struct peer *a, const struct peer *b)
{
	if (a->has_token != b->has_token)
		return b->has_token;
	return a->unread > b->unread;
}

/* The peer, other than `new_fd`, to close first; PEERS_FDS: none. */
static size_t find_first(const struct peers *peers, size_t new_fd,
			 bool (*goes_first)(const struct peer *a,
					    const struct peer *b))
{
	size_t found = PEERS_FDS;

	for (size_t fd = 0; fd < PEERS_FDS; fd++) {
		const struct peer *peer = &peers->at[fd];

		if (fd == new_fd || peer->phase == PEER_NONE ||
		    peer->phase == PEER_STREAM)
			continue;
		if (found == PEERS_FDS ||
		    goes_first(peer, &peers->at[found]))
			found = fd;
	}
	return found;
}

static void set_unread(struct peer *peer, size_t bytes)
{
	peer->peers->unread += bytes - peer->unread;
	peer->unread = bytes;
}

static void forget(struct peers *peers, size_t fd)
{
	set_unread(&peers->at[fd], 0);
	peers->at[fd].phase = PEER_NONE;
	peers->n--;
}

static void close_first(struct peers *peers, size_t new_fd,
			bool (*goes_first)(const struct peer *a,
					   const struct peer *b))
{
	size_t fd = find_first(peers, new_fd, goes_first);

	if (fd == PEERS_FDS)
		return;
	if (is_open(peers, fd))
		(void)shutdown((int)fd, SHUT_RDWR);
	forget(peers, fd);
}

/* Sets the bytes of a peer that evhttp has not parsed yet. */
static void count_unread(struct peer *peer, size_t bytes)
{
	struct peers *peers = peer->peers;

	if (peer->phase == PEER_NONE)
		return;
	set_unread(peer, bytes);
	if (peers->unread > PEERS_ALL_UNREAD_BYTES)
		close_first(peers, PEERS_FDS, is_larger);
}

/* Checks newly received bytes for zeros. */
static void on_bytes(struct evbuffer *buffer,
		     const struct evbuffer_cb_info *info, void *arg)
{
	struct peer *peer = arg;
	struct evbuffer_iovec parts[16];
	struct evbuffer_ptr at;
	int n;

	count_unread(peer, info->orig_size + info->n_added - info->n_deleted);
	if (!info->n_added || peer->has_zero ||
	    evbuffer_ptr_set(buffer, &at, info->orig_size,
			     EVBUFFER_PTR_SET))
		return;
	n = evbuffer_peek(buffer, (ev_ssize_t)info->n_added, &at, parts, 16);
	/* More pieces than a read can fill: treated as having a zero. */
	peer->has_zero = n > 16;
	for (int i = 0; i < n && i < 16; i++)
		peer->has_zero |= memchr(parts[i].iov_base, '\0',
					 parts[i].iov_len) != NULL;
}

static void adopt_one(struct peers *peers, struct bufferevent *bev)
{
	int fd = bufferevent_getfd(bev);

	if (fd < 0)
		return;
	if ((unsigned)fd >= PEERS_FDS) {
		(void)shutdown(fd, SHUT_RDWR);
		return;
	}
	/* An earlier connection of this descriptor closed without notice. */
	if (peers->at[fd].phase != PEER_NONE)
		forget(peers, (size_t)fd);
	peers->n++;
	peers->at[fd] = (struct peer){ .peers = peers, .inode = inode_of(fd) };
	enter(peers, &peers->at[fd], PEER_FRESH);
	(void)evbuffer_add_cb(bufferevent_get_input(bev), on_bytes,
			      &peers->at[fd]);
	if (peers->n > PEERS_MOST)
		close_first(peers, (size_t)fd, is_older);
}

static void adopt(evutil_socket_t none, short what, void *arg)
{
	struct peers *peers = arg;

	(void)none;
	(void)what;
	for (size_t i = 0; i < peers->n_fresh; i++) {
		adopt_one(peers, peers->fresh[i]);
		(void)bufferevent_decref(peers->fresh[i]);
	}
	peers->n_fresh = 0;
}

/*
 * evhttp asks for a bufferevent for each connection that it accepts, and sets
 * its descriptor afterwards; so it is registered when evhttp is done.
 */
static struct bufferevent *on_accept(struct event_base *base, void *arg)
{
	struct peers *peers = arg;
	struct bufferevent *bev =
		bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);
	struct bufferevent **fresh = peers->fresh;

	if (!bev)
		return NULL;
	bufferevent_setwatermark(bev, EV_READ, 0, PEERS_UNREAD_BYTES);
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

static bool is_stalled(struct peer *peer, int fd)
{
	uint64_t fetched = info_of(fd).tcpi_bytes_acked;

	if (fetched != peer->fetched || !has_unsent(fd)) {
		peer->fetched = fetched;
		peer->fetched_ms = now_ms();
	}
	return now_ms() - peer->fetched_ms > PEERS_STALL_MS;
}

static bool is_overdue(struct peers *peers, struct peer *peer, int fd)
{
	int64_t age = now_ms() - peer->since_ms;

	switch (peer->phase) {
	case PEER_IDLE:
		if (bytes_received(fd) > peer->bytes)
			enter(peers, peer, PEER_ASKING);
		return age > PEERS_IDLE_MS;
	case PEER_FRESH:
	case PEER_ASKING:
		return age > PEERS_REQUEST_MS;
	case PEER_SERVED:
		return age > PEERS_ANSWER_MS || is_stalled(peer, fd);
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
			forget(peers, fd);
		} else if (is_overdue(peers, peer, (int)fd)) {
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
	struct peers *peers = arg;
	struct peer *peer = peer_of(peers, request);

	if (!peer || peer->phase != PEER_SERVED)
		return;
	enter(peers, peer, PEER_IDLE);
	peer->bytes = bytes_received(fd_of(request));
}

void peers_serve(struct peers *peers, struct evhttp_request *request)
{
	struct peer *peer = peer_of(peers, request);

	if (!peer || peer->phase == PEER_NONE)
		return;
	enter(peers, peer, PEER_SERVED);
	evhttp_request_set_on_complete_cb(request, on_done, peers);
}

void peers_stream(struct peers *peers, struct evhttp_request *request)
{
	struct peer *peer = peer_of(peers, request);

	if (peer && peer->phase != PEER_NONE)
		enter(peers, peer, PEER_STREAM);
}

void peers_trust(struct peers *peers, struct evhttp_request *request)
{
	struct peer *peer = peer_of(peers, request);

	if (peer)
		peer->has_token = true;
}

bool peers_sent_zero(struct peers *peers, struct evhttp_request *request)
{
	const struct peer *peer = peer_of(peers, request);

	return peer && peer->has_zero;
}

void peers_drop(struct evhttp_request *request)
{
	int fd = fd_of(request);

	if (fd >= 0)
		(void)shutdown(fd, SHUT_RDWR);
}
