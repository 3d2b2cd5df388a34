/* SPDX-License-Identifier: Apache-2.0 */
/* Server: a `tare serve` for benchmarks. */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include <stdio.h>
#include <sys/types.h>

struct bench_server {
	pid_t pid;
	int port;
	char token[128];
	FILE *output; /* what it prints */
};

/*
 * Starts a server on CPU `cpu` (numbered as in bench_pin()) and waits for its
 * URL. The program is ../cli/tare beside this one's folder, or $BENCH_PROGRAM.
 * It dies with its parent.
 */
void bench_server_start(struct bench_server *server, unsigned cpu);
void bench_server_stop(struct bench_server *server);

/* A connection to 127.0.0.1, or -1. */
int bench_connect(int port);

#endif
