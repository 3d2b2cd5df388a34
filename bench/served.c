/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What being served costs a measured process: `tare serve` on another core with
 * 50 clients of its stream and one scrape per second. Phases of a second with
 * everything running alternate with phases in which server and clients are
 * stopped; the median of the ratios of adjacent phases counts.
 */
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tare/probe.h>

#include "bench.h"
#include "server.h"

#define N_STREAMS 50
#define N_PHASES 12
#define PHASE_NS 1000000000u

struct served {
	uint64_t n_scrapes, n_events; /* received by the clients */
	uint32_t ready;
};

static struct served *served;
static struct bench_server server;

/* ---- its clients ------------------------------------------------------- */

static int ask(const char *path)
{
	int fd = bench_connect(server.port);
	char request[400];
	int n = snprintf(request, sizeof(request),
			 "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
			 "Authorization: Bearer %s\r\n"
			 "Connection: %s\r\n\r\n",
			 path, server.port, server.token,
			 strcmp(path, "/metrics") ? "keep-alive" : "close");

	if (fd < 0 || write(fd, request, (size_t)n) != n)
		_exit(1);
	return fd;
}

static void scrape(void)
{
	static char body[1 << 16];
	int fd = ask("/metrics");
	ssize_t n, all = 0;

	while ((n = read(fd, body, sizeof(body))) > 0)
		all += n;
	(void)close(fd);
	served->n_scrapes += all > 500;
}

static void be_clients(void)
{
	static char body[1 << 16];
	struct pollfd stream[N_STREAMS];
	uint64_t next = 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	bench_pin(1);
	for (int i = 0; i < N_STREAMS; i++)
		stream[i] = (struct pollfd){ ask("/api/stream"), POLLIN, 0 };
	__atomic_store_n(&served->ready, 1, __ATOMIC_RELEASE);
	for (;;) {
		(void)poll(stream, N_STREAMS, 50);
		for (int i = 0; i < N_STREAMS; i++) {
			if (!(stream[i].revents & (POLLIN | POLLHUP)))
				continue;
			if (read(stream[i].fd, body, sizeof(body)) <= 0)
				_exit(1);
			served->n_events++;
		}
		if (bench_ns() >= next) {
			scrape();
			next = bench_ns() + 1000000000u;
		}
	}
}

/* ---- the measured loop ------------------------------------------------- */

static void scopes(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		TARE_SCOPE("served.scope");
		BENCH_OPAQUE(i);
	}
}

static double phase_ns(void)
{
	uint64_t start = bench_ns(), now, n = 0;

	do {
		scopes(20000);
		n += 20000;
		now = bench_ns();
	} while (now - start < PHASE_NS);
	return (double)(now - start) / (double)n;
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void measure(pid_t clients)
{
	int n = bench_is_quick() ? 2 : N_PHASES;
	double with[N_PHASES], ratio[N_PHASES];

	for (int i = 0; i < n; i++) {
		double alone;

		with[i] = phase_ns();
		(void)kill(clients, SIGSTOP);
		(void)kill(server.pid, SIGSTOP);
		alone = phase_ns();
		(void)kill(server.pid, SIGCONT);
		(void)kill(clients, SIGCONT);
		ratio[i] = with[i] / alone;
	}
	if (waitpid(clients, NULL, WNOHANG) || !served->n_scrapes ||
	    served->n_events < N_STREAMS)
		bench_fail("served", "the clients were not served");
	qsort(with, (size_t)n, sizeof(with[0]), by_size);
	qsort(ratio, (size_t)n, sizeof(ratio[0]), by_size);
	bench_report("overhead", with[n / 2], "ns", ratio[n / 2],
		     "server and clients stopped");
	bench_report("scrapes", (double)served->n_scrapes, "scrapes", NAN,
		     NULL);
	bench_report("events", (double)served->n_events, "events", NAN, NULL);
}

static void served_part(void)
{
	pid_t clients;

	if (bench_cpus() < 2)
		return;
	served = mmap(NULL, sizeof(*served), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (served == MAP_FAILED)
		bench_fail("served", "no memory");
	scopes(1000);
	bench_server_start(&server, 1);
	clients = fork();
	if (clients == 0)
		be_clients();
	while (!__atomic_load_n(&served->ready, __ATOMIC_ACQUIRE))
		(void)usleep(1000);
	measure(clients);
	(void)kill(clients, SIGKILL);
	(void)waitpid(clients, NULL, 0);
	bench_server_stop(&server);
}

const struct bench_part bench_parts[] = {
	{ "served", served_part, { "TARE=on" } },
	{ NULL, NULL, { NULL } },
};
