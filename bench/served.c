/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a measured process pays for being served: `tare serve` on another
 * core with 50 clients of its stream and a scrape a second. Phases of a
 * second with everything running alternate with phases in which server and
 * clients are stopped; the median of the ratios of neighbours counts.
 */
#include <arpa/inet.h>
#include <math.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tare/probe.h>

#include "bench.h"

#define N_STREAMS 50
#define N_PHASES 12
#define PHASE_NS 1000000000u

struct served {
	uint64_t n_scrapes, n_events; /* what the clients got */
	uint32_t ready;
};

static struct served *served;
static int port;
static char token[128];

/* ---- the server -------------------------------------------------------- */

/* build/bench/served -> build/cli/tare */
static void program_path(char *path, size_t size)
{
	const char *named = getenv("BENCH_PROGRAM");
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	char *slash;

	if (named) {
		(void)snprintf(path, size, "%s", named);
		return;
	}
	path[n > 0 ? n : 0] = '\0';
	for (int i = 0; i < 2 && (slash = strrchr(path, '/')); i++)
		*slash = '\0';
	(void)strncat(path, "/cli/tare", size - strlen(path) - 1);
}

static pid_t start_server(FILE **ret_output)
{
	char path[512];
	int ends[2];
	pid_t pid;

	program_path(path, sizeof(path));
	if (pipe(ends))
		bench_fail("served", "no pipe");
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		bench_pin(1);
		(void)dup2(ends[1], 1);
		(void)close(ends[0]);
		(void)unsetenv("TARE");
		(void)execl(path, "tare", "serve", "--port", "0",
			    (char *)NULL);
		_exit(127);
	}
	(void)close(ends[1]);
	*ret_output = fdopen(ends[0], "r");
	return pid;
}

/* http://127.0.0.1:PORT/?token=TOKEN, somewhere in a line */
static void read_url(FILE *output)
{
	char line[600];

	while (fgets(line, sizeof(line), output)) {
		const char *at = strstr(line, "http://127.0.0.1:");

		if (at && sscanf(at, "http://127.0.0.1:%d/?token=%127[^ \n]",
				 &port, token) == 2)
			return;
	}
	bench_fail("served", "the server printed no URL");
}

/* ---- its clients ------------------------------------------------------- */

static int ask(const char *path)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
				       .sin_port = htons((uint16_t)port),
				       .sin_addr.s_addr =
					       htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char request[400];
	int n = snprintf(request, sizeof(request),
			 "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
			 "Authorization: Bearer %s\r\n"
			 "Connection: %s\r\n\r\n",
			 path, port, token,
			 strcmp(path, "/metrics") ? "keep-alive" : "close");

	if (fd < 0 || connect(fd, (struct sockaddr *)&address,
			      sizeof(address)) ||
	    write(fd, request, (size_t)n) != n)
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

static void measure(pid_t server, pid_t clients)
{
	int n = bench_is_quick() ? 2 : N_PHASES;
	double with[N_PHASES], ratio[N_PHASES];

	for (int i = 0; i < n; i++) {
		double alone;

		with[i] = phase_ns();
		(void)kill(clients, SIGSTOP);
		(void)kill(server, SIGSTOP);
		alone = phase_ns();
		(void)kill(server, SIGCONT);
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
	pid_t server, clients;
	FILE *output;

	if (bench_cpus() < 2)
		return;
	served = mmap(NULL, sizeof(*served), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (served == MAP_FAILED)
		bench_fail("served", "no memory");
	scopes(1000);
	server = start_server(&output);
	read_url(output);
	clients = fork();
	if (clients == 0)
		be_clients();
	while (!__atomic_load_n(&served->ready, __ATOMIC_ACQUIRE))
		(void)usleep(1000);
	measure(server, clients);
	(void)kill(clients, SIGKILL);
	(void)waitpid(clients, NULL, 0);
	(void)kill(server, SIGTERM);
	(void)waitpid(server, NULL, 0);
	(void)fclose(output);
}

const struct bench_part bench_parts[] = {
	{ "served", served_part, { "TARE=on" } },
	{ NULL, NULL, { NULL } },
};
