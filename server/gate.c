/* SPDX-License-Identifier: Apache-2.0 */
#include "gate.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include <event2/buffer.h>
#include <event2/keyvalq_struct.h>

#include "exchange.h"
#include "reply.h"

/* Headers that must not occur twice: parsers disagree which one counts. */
static const char *const single[] = {
	"Host",		 "Origin",	  "Authorization", "Content-Length",
	"Content-Type",	 "If-Match",	  "Transfer-Encoding",
};

#define N_SINGLE (sizeof(single) / sizeof(single[0]))

/* ---- host and origin --------------------------------------------------- */

/* A name with a colon is an IPv6 address, which is put in brackets. */
static bool add_host(struct gate *gate, const char *name, uint16_t port)
{
	bool is_v6 = strchr(name, ':') && name[0] != '[' &&
		     strchr(name, ':') != strrchr(name, ':');
	bool has_port = strchr(name, ':') && !is_v6 && name[0] != '[';
	size_t size = sizeof(gate->hosts[0]);
	int n;

	if (gate->n_hosts == GATE_HOSTS)
		return false;
	if (has_port)
		n = snprintf(gate->hosts[gate->n_hosts++], size, "%s", name);
	else
		n = snprintf(gate->hosts[gate->n_hosts++], size, "%s%s%s:%u",
			     is_v6 ? "[" : "", name, is_v6 ? "]" : "", port);
	return n > 0 && (size_t)n < size;
}

bool gate_init(struct gate *gate, const struct server_options *options,
	       uint16_t port)
{
	bool ok = add_host(gate, "127.0.0.1", port) &&
		  add_host(gate, "localhost", port) &&
		  add_host(gate, "::1", port);

	if (options->bind)
		ok = ok && add_host(gate, options->bind, port);
	for (size_t i = 0; i < options->n_hosts; i++)
		ok = ok && add_host(gate, options->hosts[i], port);
	return ok;
}

static bool is_our_host(const struct gate *gate, const char *host)
{
	for (size_t i = 0; i < gate->n_hosts; i++)
		if (strcasecmp(gate->hosts[i], host) == 0)
			return true;
	return false;
}

static bool check_host(struct exchange *ex)
{
	const struct gate *gate = &ex->server->gate;
	const char *host = exchange_header(ex, "Host");
	const char *origin = exchange_header(ex, "Origin");

	if (!host || !is_our_host(gate, host))
		return problem(ex, 421, "this server is not known by that "
			       "Host; start it with --allow-host if it should");
	if (origin && (strncmp(origin, "http://", 7) != 0 ||
		       !is_our_host(gate, origin + 7)))
		return problem(ex, 403, "requests of pages from elsewhere are "
			       "not answered (Origin)");
	return true;
}

/* ---- form of the request ----------------------------------------------- */

static bool is_token_text(const char *text)
{
	if (!*text)
		return false;
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) &&
		    !strchr("!#$%&'*+-.^_`|~", *text))
			return false;
	return true;
}

static bool is_visible_text(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 && *text != '\t')
			return false;
	return true;
}

static bool check_head_size(struct exchange *ex)
{
	struct evkeyvalq *headers =
		evhttp_request_get_input_headers(ex->request);
	size_t bytes = strlen(evhttp_request_get_uri(ex->request));
	struct evkeyval *header;

	TAILQ_FOREACH(header, headers, next)
		bytes += strlen(header->key) + strlen(header->value) + 4;
	if (bytes <= GATE_HEADER_BYTES)
		return true;
	return problem(ex, 400, "the headers have more than %u bytes",
		       GATE_HEADER_BYTES);
}

static bool check_headers(struct exchange *ex)
{
	struct evkeyvalq *headers =
		evhttp_request_get_input_headers(ex->request);
	unsigned n_seen[N_SINGLE] = { 0 };
	struct evkeyval *header;

	TAILQ_FOREACH(header, headers, next) {
		if (!is_token_text(header->key) ||
		    !is_visible_text(header->value))
			return problem(ex, 400, "a header's name or value is "
				       "not well formed");
		for (size_t i = 0; i < N_SINGLE; i++)
			if (strcasecmp(header->key, single[i]) == 0 &&
			    n_seen[i]++)
				return problem(ex, 400, "header '%s' comes "
					       "twice", single[i]);
	}
	return true;
}

/* A body must have exactly one kind of length. */
static bool check_body(struct exchange *ex)
{
	const char *length = exchange_header(ex, "Content-Length");
	const char *coding = exchange_header(ex, "Transfer-Encoding");
	struct evbuffer *body = evhttp_request_get_input_buffer(ex->request);

	if (length && coding)
		return problem(ex, 400, "Content-Length and Transfer-Encoding "
			       "exclude each other");
	if (coding && strcasecmp(coding, "chunked") != 0)
		return problem(ex, 400, "unknown Transfer-Encoding");
	if (length && length[strspn(length, "0123456789")] != '\0')
		return problem(ex, 400, "Content-Length is not a number");
	if (evbuffer_get_length(body) > GATE_BODY_BYTES)
		return problem(ex, 413, "the body has more than %u bytes",
			       GATE_BODY_BYTES);
	return true;
}

/*
 * libevent reads a body of these methods alone. The body of any other request
 * stays in the stream, where it would be read as the next request.
 */
static bool has_unread_body(struct exchange *ex)
{
	enum evhttp_cmd_type method = exchange_method(ex);
	const char *length = exchange_header(ex, "Content-Length");

	if (method == EVHTTP_REQ_POST || method == EVHTTP_REQ_PUT ||
	    method == EVHTTP_REQ_PATCH)
		return false;
	return exchange_header(ex, "Transfer-Encoding") ||
	       (length && strcmp(length, "0") != 0);
}

bool gate_check_form(struct exchange *ex)
{
	const char *uri = evhttp_request_get_uri(ex->request);

	if (has_unread_body(ex))
		exchange_add_header(ex, "Connection", "close");
	if (peers_sent_zero(&ex->server->peers, ex->request)) {
		exchange_add_header(ex, "Connection", "close");
		return problem(ex, 400, "the request holds a zero byte");
	}
	if (!uri || uri[0] != '/')
		return problem(ex, 400, "the target of a request begins with "
			       "/");
	return check_head_size(ex) && check_headers(ex) && check_host(ex) &&
	       check_body(ex);
}

/* Always compares with both tokens, for a constant time. */
static void check_bearer(struct exchange *ex)
{
	const struct state *state = &ex->server->state;
	const char *bearer = exchange_header(ex, "Authorization");
	bool reads = bearer && token_in_bearer(state->token, bearer);

	ex->may_steer = bearer && token_in_bearer(state->steer_token, bearer);
	ex->may_read = reads || ex->may_steer;
}

static bool is_reading(const struct exchange *ex)
{
	enum evhttp_cmd_type method = exchange_method(ex);

	return method == EVHTTP_REQ_GET || method == EVHTTP_REQ_HEAD;
}

bool gate_check_token(struct exchange *ex)
{
	check_bearer(ex);
	if (ex->may_read) {
		peers_trust(&ex->server->peers, ex->request);
		return true;
	}
	exchange_add_header(ex, "WWW-Authenticate", "Bearer");
	return problem(ex, 401, "the token is missing or wrong; 'tare url "
		       "%s--token' prints it",
		       is_reading(ex) ? "" : "--steer ");
}

bool gate_check_steering(struct exchange *ex)
{
	if (ex->may_steer || is_reading(ex))
		return true;
	return problem(ex, 403, "this token only reads; 'tare url --steer "
		       "--token' prints the one that changes things");
}
