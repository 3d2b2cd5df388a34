/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>

#include "chosen.h"
#include "handlers.h"
#include "problem.h"
#include "processing.h"
#include "reply.h"

/* What a client sends on a stream is not read; this much may wait. */
#define UNREAD_BYTES 4096u
/* And this much in the kernel of what is sent: it would take megabytes. */
#define UNSENT_BYTES (256 << 10)

static struct bufferevent *channel(struct evhttp_request *request)
{
	return evhttp_connection_get_bufferevent(
		evhttp_request_get_connection(request));
}

/* ---- the snapshot -------------------------------------------------------- */

static void snapshot_json(struct server *server, struct json *json,
			  const struct chosen *chosen, int64_t now_ns)
{
	tare_filter filter = { .struct_size = sizeof(filter) };
	tare_merge *merge;

	json_begin_object(json, NULL);
	json_signed(json, "time_ms", now_ns / 1000000);
	json_unsigned(json, "sequence", server->streams.n_snapshots);
	if (tare_merge_open(chosen->views, chosen->n, &filter, &merge) == 0) {
		(void)processing_json(json, merge);
		tare_merge_close(merge);
	}
	chosen_json(chosen, json);
	json_end_object(json);
}

static struct evbuffer *make_snapshot(struct server *server)
{
	struct exchange ex = { .server = server };
	struct evbuffer *buffer = evbuffer_new();
	struct chosen chosen;
	struct timespec now;
	struct json json;
	char *text = NULL;
	size_t len;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	pool_refresh(&server->pool);
	/* No run is named, so there is nothing that could be refused. */
	(void)chosen_views(&ex, &chosen);
	json = (struct json){ .stream = open_memstream(&text, &len) };
	if (json.stream) {
		snapshot_json(server, &json, &chosen,
			      (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
		if (fclose(json.stream) == 0 && buffer)
			(void)evbuffer_add_printf(
				buffer, "id: %llu\nevent: snapshot\ndata: ",
				(unsigned long long)
					server->streams.n_snapshots);
		if (buffer && text) {
			(void)evbuffer_add(buffer, text, len);
			(void)evbuffer_add(buffer, "\n\n", 2);
		}
	}
	free(text);
	server->streams.n_snapshots++;
	return buffer;
}

/* ---- clients ------------------------------------------------------------- */

static void send_to(struct evhttp_request *request, struct evbuffer *snapshot)
{
	struct evbuffer *copy;

	size_t waiting =
		evbuffer_get_length(bufferevent_get_output(channel(request)));

	/* A large snapshot takes its time: two of them may wait. */
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
	struct server *server = arg;
	struct streams *streams = &server->streams;
	struct evbuffer *snapshot;

	(void)none;
	(void)what;
	if (!streams->n)
		return;
	snapshot = make_snapshot(server);
	if (!snapshot)
		return;
	/* Backwards: a client that fails takes itself off the list. */
	for (size_t i = streams->n; i-- > 0;)
		if (i < streams->n)
			send_to(streams->at[i].request, snapshot);
	evbuffer_free(snapshot);
}

/*
 * A peer that goes takes its connection along, but leaves an answer that is
 * still being written to its writer: ending it is what frees it.
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

/* The timeouts of requests and answers do not fit a stream. */
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
	struct evbuffer *snapshot;

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
		(struct stream){ ex->request, connection };
	snapshot = make_snapshot(ex->server);
	if (snapshot) {
		send_to(ex->request, snapshot);
		evbuffer_free(snapshot);
	}
}

bool streams_init(struct streams *streams, struct server *server)
{
	static const struct timeval second = { .tv_sec = 1 };

	streams->tick = event_new(server->base, -1, EV_PERSIST, tick, server);
	return streams->tick && event_add(streams->tick, &second) == 0;
}

void streams_stop(struct streams *streams)
{
	size_t n = streams->n;

	/* They are evhttp's again: it frees them when they are sent. */
	streams->n = 0;
	for (size_t i = 0; i < n; i++)
		evhttp_send_reply_end(streams->at[i].request);
}

void streams_release(struct streams *streams)
{
	if (streams->tick)
		event_free(streams->tick);
}
