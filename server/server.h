/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server: `tare serve`, all runs of this user on this host over HTTP.
 *
 * One thread, one loop (libevent). It reads ledgers as every other reader
 * does, so a measured process does not notice it; what it changes there goes
 * through the control page, as `tare ctl` does it.
 *
 * A request passes gate.c, then router.c, then one handler. What is asked for
 * is in a `struct query`, the views in a pool that opens each run at most
 * once in 200 ms, and an answer made from them is kept as long.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVER_PORT 8270u

struct server_options {
	const char *bind;	  /* an address; NULL: 127.0.0.1 */
	uint16_t port;		  /* 0: any free one */
	bool is_port_given;	  /* else a taken port is replaced by a free */
	const char *const *hosts; /* further names it is reached by */
	size_t n_hosts;
	const char *export_root;  /* NULL: the option export_directory */
};

/*
 * Serves until SIGINT or SIGTERM. Prints the URL to stdout once it answers.
 * Returns an exit code: 0, CODE_FOUND if another one runs, CODE_IO.
 */
int server_run(const struct server_options *options);

#endif
