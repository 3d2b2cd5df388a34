/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gate: the checks that every request must pass before its path is read.
 *
 * A web page can make the browser of this machine's user send requests to
 * 127.0.0.1, and can let its own host name resolve to that address. So the Host
 * must exactly be one of ours, an Origin if present too, and a token is
 * required, in a header that a page of another origin cannot set: the reading
 * token for GET and HEAD, the controlling token for everything else. A request
 * that two parsers could read differently (a length and chunks, a duplicate or
 * empty header name) is refused.
 */
#ifndef SERVER_GATE_H
#define SERVER_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GATE_HOSTS 16u
#define GATE_HEADER_BYTES (32u << 10)
#define GATE_BODY_BYTES (32u << 10)
/* For each of the two; above it, evhttp refuses, without problem+json. */
#define GATE_PARSED_BYTES (64u << 10)

struct exchange;
struct server_options;

struct gate {
	char hosts[GATE_HOSTS][280]; /* "name:port" */
	size_t n_hosts;
};

/* False: a name in the options is too long, or there are too many names. */
bool gate_init(struct gate *gate, const struct server_options *options,
	       uint16_t port);

/* False: the request was refused and answered. */
bool gate_check_form(struct exchange *ex);
bool gate_check_token(struct exchange *ex);
bool gate_check_steering(struct exchange *ex);

#endif
