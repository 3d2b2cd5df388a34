/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Server: `tare serve`, all runs of this user on this host over HTTP.
 *
 * One thread, one loop (libevent). The server reads ledgers like every other
 * reader, without any effect on a measured process; changes go through the
 * control page, as with `tare ctl`.
 *
 * A request passes gate.c, then router.c, then one handler. Its parameters are
 * in a `struct query`, the views in a pool that opens each run at most once in
 * 200 ms. Answers made from them are cached as long.
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
	bool is_port_given;	  /* else any free port if it is in use */
	const char *const *hosts; /* further host names of this server */
	size_t n_hosts;
	const char *export_root;  /* NULL: the option export_directory */
};

/*
 * Serves until SIGINT or SIGTERM. Prints the URL to stdout when ready. Returns
 * an exit code: 0, CODE_FOUND if another server runs, CODE_IO.
 */
int server_run(const struct server_options *options);

#endif
