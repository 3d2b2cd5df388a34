/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <event2/http.h>

#include "base/platform.h"
#include "cli/message.h"
#include "exchange.h"
#include "router.h"

/* At a stop, the time for answers that are being sent, in us. */
#define LINGER_US 200000

/* ---- one server -------------------------------------------------------- */

/* Another server has the lock; it may not have written its URL yet. */
static int point_to_other(void)
{
	static const struct timespec nap = { .tv_nsec = 50000000 };
	struct state other;
	char url[400];

	for (int tries = 0; tries < 40; tries++) {
		if (state_read(&other) == 0) {
			state_print_url(&other, false, url, sizeof(url));
			message("a server is running already: %s", url);
			return CODE_FOUND;
		}
		(void)nanosleep(&nap, NULL);
	}
	message("a server is starting already; 'tare url' will print its "
		"address");
	return CODE_FOUND;
}

/* ---- the socket -------------------------------------------------------- */

static uint16_t port_of(int fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);

	if (getsockname(fd, (struct sockaddr *)&address, &len))
		return 0;
	if (address.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)&address)->sin6_port);
	return ntohs(((struct sockaddr_in *)&address)->sin_port);
}

/* Set on the listening socket: on Linux, accepted sockets inherit it. */
static int listen_on(struct server *server,
		     const struct server_options *options, uint16_t *ret_port)
{
	const char *address = options->bind ? options->bind : "127.0.0.1";
	struct evhttp_bound_socket *bound;
	int fd, on = 1;

	bound = evhttp_bind_socket_with_handle(server->http, address,
					       options->port);
	if (!bound && errno == EADDRINUSE && !options->is_port_given)
		bound = evhttp_bind_socket_with_handle(server->http, address,
						       0);
	if (!bound) {
		char where[300];

		(void)snprintf(where, sizeof(where), "%s:%u", address,
			       options->port);
		return message_error("listen on", where,
				     errno ? errno : EADDRNOTAVAIL);
	}
	fd = evhttp_bound_socket_get_fd(bound);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	*ret_port = port_of(fd);
	return CODE_OK;
}

/* The URL to type: an address that means "all" becomes 127.0.0.1. */
static void write_url(struct state *state, const char *bind, uint16_t port)
{
	bool is_v6 = bind && strchr(bind, ':');

	if (!bind || strcmp(bind, "0.0.0.0") == 0 || strcmp(bind, "::") == 0) {
		bind = "127.0.0.1";
		is_v6 = false;
	}
	(void)snprintf(state->url, sizeof(state->url), "http://%s%s%s:%u/",
		       is_v6 ? "[" : "", bind, is_v6 ? "]" : "", port);
}

/* ---- life -------------------------------------------------------------- */

static void on_signal(evutil_socket_t number, short what, void *arg)
{
	static const struct timeval linger = { .tv_usec = LINGER_US };
	struct server *server = arg;

	(void)number;
	(void)what;
	streams_stop(&server->streams);
	(void)event_base_loopexit(server->base, &linger);
}

/* libevent's own warnings do not help users. */
static void be_silent(int severity, const char *text)
{
	(void)severity;
	(void)text;
}

static bool set_up(struct server *server)
{
	event_set_log_callback(be_silent);
	server->start_ns = tr_realtime_ns();
	server->base = event_base_new();
	server->http = server->base ? evhttp_new(server->base) : NULL;
	if (!server->http || !peers_init(&server->peers, server->base,
					 server->http))
		return false;
	/* Our gate answers unknown methods, with problem+json. */
	evhttp_set_allowed_methods(server->http, 0xffff);
	evhttp_set_max_headers_size(server->http, GATE_PARSED_BYTES);
	evhttp_set_max_body_size(server->http, GATE_PARSED_BYTES);
	evhttp_set_timeout(server->http, PEERS_IDLE_MS / 1000);
	evhttp_set_gencb(server->http, router_take, server);
	server->watch = watch_start(server);
	server->periodic = periodic_start(server);
	return server->watch &&
	       readers_init(&server->readers, server) &&
	       streams_init(&server->streams, server) &&
	       tare_exporter_new(&server->exporter) == 0;
}

static void tear_down(struct server *server)
{
	readers_release(&server->readers);
	if (server->http)
		evhttp_free(server->http);
	streams_release(&server->streams);
	periodic_stop(server->periodic);
	watch_stop(server->watch);
	peers_release(&server->peers);
	if (server->base)
		event_base_free(server->base);
	tare_exporter_free(server->exporter);
	answers_release(&server->answers);
	pool_release(&server->pool);
	free(server);
}

static int serve(struct server *server)
{
	struct event *interrupt, *terminate;
	int code = CODE_IO;

	(void)signal(SIGPIPE, SIG_IGN);
	interrupt = evsignal_new(server->base, SIGINT, on_signal, server);
	terminate = evsignal_new(server->base, SIGTERM, on_signal, server);
	if (interrupt && terminate && evsignal_add(interrupt, NULL) == 0 &&
	    evsignal_add(terminate, NULL) == 0 &&
	    event_base_dispatch(server->base) >= 0)
		code = CODE_OK;
	if (interrupt)
		event_free(interrupt);
	if (terminate)
		event_free(terminate);
	return code;
}

static int announce(struct server *server, int fd)
{
	char url[400];
	int err = state_write(fd, &server->state);

	if (err)
		return message_error("write", "the state of the server", err);
	state_print_url(&server->state, false, url, sizeof(url));
	(void)printf("%s\n", url);
	(void)fflush(stdout);
	message("this address reads; 'tare url --steer' prints one that "
		"changes things, too");
	return CODE_OK;
}

static int run_locked(struct server *server,
		      const struct server_options *options, int fd)
{
	uint16_t port;
	int code;

	if (!set_up(server) || !token_make(server->state.token) ||
	    !token_make(server->state.steer_token)) {
		message("cannot start: out of memory");
		return CODE_IO;
	}
	if (!root_init(&server->root, options->export_root)) {
		message("cannot start: no folder '%s' for the exports",
			options->export_root ? options->export_root : "");
		return CODE_USAGE;
	}
	code = listen_on(server, options, &port);
	if (code)
		return code;
	if (!gate_init(&server->gate, options, port)) {
		message("cannot start: too many hosts, or one is too long");
		return CODE_USAGE;
	}
	write_url(&server->state, options->bind, port);
	server->state.pid = getpid();
	code = announce(server, fd);
	return code ? code : serve(server);
}

static int cannot_open_state(int err)
{
	char path[512];

	if (state_path(path, sizeof(path)) != 0)
		return message_error("open", "the state of the server", err);
	return message_error("open", path, err);
}

int server_run(const struct server_options *options)
{
	struct server *server;
	int fd, code, err = state_take(&fd);

	if (err == EWOULDBLOCK)
		return point_to_other();
	if (err)
		return cannot_open_state(err);
	server = calloc(1, sizeof(*server));
	if (!server) {
		(void)close(fd);
		return message_error("start", "the server", ENOMEM);
	}
	code = run_locked(server, options, fd);
	/* If this fails no harm is done: the lock ends with the descriptor. */
	if (ftruncate(fd, 0))
		(void)message_error("empty", "the state of the server", errno);
	(void)close(fd);
	tear_down(server);
	return code;
}
