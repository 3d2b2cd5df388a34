/* SPDX-License-Identifier: Apache-2.0 */
#include "stream.h"

#include <stdlib.h>
#include <string.h>
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

	if (evbuffer_get_length(bufferevent_get_output(channel(request))) >
	    STREAM_WAITING) {
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
			send_to(streams->at[i], snapshot);
	evbuffer_free(snapshot);
}

static void on_close(struct evhttp_connection *connection, void *arg)
{
	struct streams *streams = arg;

	for (size_t i = 0; i < streams->n; i++)
		if (evhttp_request_get_connection(streams->at[i]) ==
		    connection) {
			streams->at[i] = streams->at[--streams->n];
			return;
		}
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
	/* The timeouts of requests and answers do not fit a stream. */
	(void)bufferevent_set_timeouts(channel(ex->request), NULL, NULL);
	bufferevent_setwatermark(channel(ex->request), EV_READ, 0,
				 UNREAD_BYTES);
	peers_stream(&ex->server->peers, ex->request);
	evhttp_connection_set_closecb(connection, on_close, streams);
	evhttp_send_reply_start(ex->request, 200, "OK");
	streams->at[streams->n++] = ex->request;
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
	for (size_t i = streams->n; i-- > 0;)
		if (i < streams->n)
			evhttp_send_reply_end(streams->at[i]);
}

void streams_release(struct streams *streams)
{
	if (streams->tick)
		event_free(streams->tick);
}
