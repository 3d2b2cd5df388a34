/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <sys/socket.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "handlers.h"
#include "reply.h"

/* Input from a client of a stream is not read; this much is buffered. */
#define UNREAD_BYTES 4096u
/* Limit on unsent bytes in the kernel, which would buffer megabytes. */
#define UNSENT_BYTES (256 << 10)

static struct bufferevent *channel(struct evhttp_request *request)
{
	return evhttp_connection_get_bufferevent(
		evhttp_request_get_connection(request));
}

/* ---- the snapshot ------------------------------------------------------ */

static void send_to(struct stream *stream, struct evbuffer *snapshot);

/* Backwards: a client that fails removes itself from the list. */
static void send_all(struct streams *streams, struct evbuffer *snapshot,
		     bool to_new_only)
{
	for (size_t i = streams->n; i-- > 0;)
		if (i < streams->n &&
		    (!to_new_only || !streams->at[i].has_snapshot))
			send_to(&streams->at[i], snapshot);
}

static struct evbuffer *make_event(struct streams *streams,
				   struct evbuffer *document)
{
	struct evbuffer *event = evbuffer_new();

	if (event &&
	    (evbuffer_add_printf(event, "id: %llu\nevent: snapshot\ndata: ",
				 (unsigned long long)streams->n_snapshots) <
		     0 ||
	     evbuffer_add_buffer(event, document) ||
	     /* The document ends with a newline already. */
	     evbuffer_add(event, "\n", 1))) {
		evbuffer_free(event);
		event = NULL;
	}
	return event;
}

static void on_snapshot(void *arg, struct evbuffer *document)
{
	struct streams *streams = arg;
	struct evbuffer *event;
	bool is_of_tick = streams->is_tick_due;

	streams->is_asking = false;
	streams->is_tick_due = false;
	if (!document)
		return;
	event = make_event(streams, document);
	streams->n_snapshots++;
	if (!event)
		return;
	send_all(streams, event, !is_of_tick);
	evbuffer_free(event);
}

static void ask_for_snapshot(struct streams *streams)
{
	if (streams->is_asking)
		return;
	streams->is_asking = true;
	if (!readers_ask(streams->server, "snapshot", &streams->n_snapshots,
			 sizeof(streams->n_snapshots), on_snapshot, streams))
		streams->is_asking = false;
}

/* ---- clients ----------------------------------------------------------- */

static void send_to(struct stream *stream, struct evbuffer *snapshot)
{
	struct evhttp_request *request = stream->request;
	struct evbuffer *copy;
	size_t waiting =
		evbuffer_get_length(bufferevent_get_output(channel(request)));

	stream->has_snapshot = true;
	/* A large snapshot takes time to send: two of them may wait. */
	if (waiting > STREAM_WAITING + 2 * evbuffer_get_length(snapshot)) {
		peers_drop(request);
		return;
	}
	copy = evbuffer_new();
	/* By reference: all clients share the bytes. */
	if (copy && evbuffer_add_buffer_reference(copy, snapshot) == 0)
		evhttp_send_reply_chunk(request, copy);
	if (copy)
		evbuffer_free(copy);
}

static void tick(evutil_socket_t none, short what, void *arg)
{
	struct streams *streams = arg;

	(void)none;
	(void)what;
	if (!streams->n)
		return;
	streams->is_tick_due = true;
	ask_for_snapshot(streams);
}

/*
 * When a peer closes, its connection is freed, but not an answer that is still
 * being written: ending the answer frees it.
 */
static void on_close(struct evhttp_connection *connection, void *arg)
{
	struct streams *streams = arg;
	struct evhttp_request *request;

	for (size_t i = 0; i < streams->n; i++) {
		if (streams->at[i].connection != connection)
			continue;
		request = streams->at[i].request;
		streams->at[i] = streams->at[--streams->n];
		if (!evhttp_request_get_connection(request))
			evhttp_send_reply_end(request);
		return;
	}
}

/* The timeouts for requests and answers do not apply to a stream. */
static void set_limits(struct bufferevent *bev)
{
	int size = UNSENT_BYTES;

	(void)bufferevent_set_timeouts(bev, NULL, NULL);
	bufferevent_setwatermark(bev, EV_READ, 0, UNREAD_BYTES);
	(void)setsockopt(bufferevent_getfd(bev), SOL_SOCKET, SO_SNDBUF, &size,
			 sizeof(size));
}

void handle_stream(struct exchange *ex)
{
	struct streams *streams = &ex->server->streams;
	struct evhttp_connection *connection =
		evhttp_request_get_connection(ex->request);

	if (evhttp_request_get_command(ex->request) == EVHTTP_REQ_HEAD) {
		reply_headers(ex, "text/event-stream");
		evhttp_send_reply(ex->request, 200, "OK", NULL);
		return;
	}
	if (streams->n == STREAM_MOST) {
		problem(ex, 503, "there are %u streams already", STREAM_MOST);
		return;
	}
	reply_headers(ex, "text/event-stream");
	set_limits(channel(ex->request));
	peers_stream(&ex->server->peers, ex->request);
	evhttp_connection_set_closecb(connection, on_close, streams);
	evhttp_send_reply_start(ex->request, 200, "OK");
	streams->at[streams->n++] =
		(struct stream){ ex->request, connection, false };
	ask_for_snapshot(streams);
}

bool streams_init(struct streams *streams, struct server *server)
{
	static const struct timeval second = { .tv_sec = 1 };

	streams->server = server;
	streams->tick = event_new(server->base, -1, EV_PERSIST, tick, streams);
	return streams->tick && event_add(streams->tick, &second) == 0;
}

void streams_stop(struct streams *streams)
{
	size_t n = streams->n;

	/* evhttp owns them again: it frees them once they are sent. */
	streams->n = 0;
	for (size_t i = 0; i < n; i++)
		evhttp_send_reply_end(streams->at[i].request);
}

void streams_release(struct streams *streams)
{
	if (streams->tick)
		event_free(streams->tick);
}
