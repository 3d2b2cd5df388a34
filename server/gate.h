/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gate: what every request must pass before anything looks at its path.
 *
 * A page on the web can make the browser of this machine's user send requests
 * to 127.0.0.1, and can let its own name resolve to that address. So the Host
 * must be one of ours, exactly, an Origin if there is one likewise, and a
 * token must be shown, in a header that no page from elsewhere can set: one
 * that reads for GET and HEAD, the one that steers for everything else. A
 * request that two parsers could read differently (a length and chunks, a name
 * twice, an empty name) is refused whole.
 */
#ifndef SERVER_GATE_H
#define SERVER_GATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GATE_HOSTS 16u
#define GATE_HEADER_BYTES (32u << 10)
#define GATE_BODY_BYTES (32u << 10)
/* Of either; the parser refuses more, with a page that is no problem. */
#define GATE_PARSED_BYTES (64u << 10)

struct exchange;
struct server_options;

struct gate {
	char hosts[GATE_HOSTS][280]; /* "name:port" */
	size_t n_hosts;
};

/* False: a name in the options is too long, or there are too many. */
bool gate_init(struct gate *gate, const struct server_options *options,
	       uint16_t port);

/* False: the request was refused and answered. */
bool gate_check_form(struct exchange *ex);
bool gate_check_token(struct exchange *ex);
bool gate_check_steering(struct exchange *ex);

#endif
