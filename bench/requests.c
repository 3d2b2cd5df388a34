/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests per CPU second of the server's processes: GET processing/stats of
 * `tare serve` against a bare evhttp handler that sends as many bytes. And the
 * time of a request with 64 killed runs present.
 *
 * Both serve the same client in this process, eight connections in turn, in
 * alternating phases. Only the CPU time of the servers counts, so the client
 * and other guests have no effect. The run that is read is this process: it
 * measures some scopes all the time.
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>

#include <tare/probe.h>

#include "bench.h"
#include "server.h"

#define N_CONNECTIONS 8
#define N_PHASES 10
#define PHASE_NS 400000000u
#define PATH "/api/metrics/processing/stats"

/* One server, as seen by the client. */
struct side {
	pid_t pid;
	int fd[N_CONNECTIONS];
	char request[400];
	size_t request_len;
	size_t body_len; /* of the first response */
	double per_cpu_s[N_PHASES];
};

/* ---- the bare handler -------------------------------------------------- */

static char *bare_body;
static size_t bare_len;

static void bare_answer(struct evhttp_request *request, void *arg)
{
	struct evbuffer *body = evbuffer_new();

	(void)arg;
	(void)evbuffer_add(body, bare_body, bare_len);
	(void)evhttp_add_header(evhttp_request_get_output_headers(request),
				"Content-Type", "application/json");
	evhttp_send_reply(request, 200, "OK", body);
	evbuffer_free(body);
}

static void be_bare(int output)
{
	struct event_base *base = event_base_new();
	struct evhttp *http = evhttp_new(base);
	struct evhttp_bound_socket *bound =
		evhttp_bind_socket_with_handle(http, "127.0.0.1", 0);
	struct sockaddr_in address;
	socklen_t len = sizeof(address);
	int fd, port, on = 1;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	bench_pin(1);
	if (!bound)
		_exit(1);
	fd = evhttp_bound_socket_get_fd(bound);
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	(void)getsockname(fd, (struct sockaddr *)&address, &len);
	port = ntohs(address.sin_port);
	evhttp_set_gencb(http, bare_answer, NULL);
	if (write(output, &port, sizeof(port)) != sizeof(port))
		_exit(1);
	(void)event_base_dispatch(base);
	_exit(0);
}

static pid_t start_bare(int *ret_port)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		bench_fail("requests", "no pipe");
	pid = fork();
	if (pid == 0)
		be_bare(ends[1]);
	if (pid < 0 || read(ends[0], ret_port, sizeof(*ret_port)) !=
			       sizeof(*ret_port))
		bench_fail("requests", "the bare server does not start");
	(void)close(ends[0]);
	(void)close(ends[1]);
	return pid;
}

/* ---- the client -------------------------------------------------------- */

/* Sends a request and reads the response; returns the body's length. */
static size_t ask(const struct side *side, int fd)
{
	static char answer[1 << 20];
	size_t got = 0, length = 0;
	const char *end = NULL, *field;
	ssize_t n;

	if (write(fd, side->request, side->request_len) !=
	    (ssize_t)side->request_len)
		bench_fail("requests", "cannot send");
	while (!end || got < (size_t)(end + 4 - answer) + length) {
		n = read(fd, answer + got, sizeof(answer) - 1 - got);
		if (n <= 0)
			bench_fail("requests", "the server hung up");
		got += (size_t)n;
		answer[got] = '\0';
		if (end)
			continue;
		end = strstr(answer, "\r\n\r\n");
		field = end ? strstr(answer, "Content-Length: ") : NULL;
		if (field)
			length = (size_t)atol(field + 16);
	}
	if (strncmp(answer, "HTTP/1.1 200", 12) != 0)
		bench_fail("requests", "not answered with 200");
	return length;
}

static void set_request(struct side *side, const char *path, int port,
			const char *token)
{
	side->request_len = (size_t)snprintf(
		side->request, sizeof(side->request),
		"GET %s HTTP/1.1\r\nHost: 127.0.0.1:%d\r\n"
		"Authorization: Bearer %s\r\nAccept: */*\r\n\r\n",
		path, port, token);
}

static void open_side(struct side *side, pid_t pid, int port,
		      const char *token)
{
	side->pid = pid;
	set_request(side, PATH, port, token);
	for (int i = 0; i < N_CONNECTIONS; i++) {
		side->fd[i] = bench_connect(port);
		if (side->fd[i] < 0)
			bench_fail("requests", "cannot connect");
	}
	side->body_len = ask(side, side->fd[0]);
}

static double cpu_s_of_one(pid_t pid)
{
	clockid_t clock;
	struct timespec used;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &used))
		bench_fail("requests", "no CPU time of the server");
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

/* Includes the processes in which it reads runs. */
static double cpu_s(pid_t pid)
{
	double sum = cpu_s_of_one(pid);
	char path[64];
	FILE *list;
	int child;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
		       (int)pid, (int)pid);
	list = fopen(path, "re");
	while (list && fscanf(list, "%d", &child) == 1)
		sum += cpu_s_of_one(child);
	if (list)
		(void)fclose(list);
	return sum;
}

/* Changing data for the server to read. */
static void measure_some(void)
{
	TARE_OPERATION("requests.outer");
	for (int i = 0; i < 3; i++) {
		TARE_SCOPE("requests.inner");
		BENCH_OPAQUE(i);
	}
	TARE_COUNT("requests.sent", 1);
}

static double phase(const struct side *side)
{
	uint64_t end = bench_ns() + PHASE_NS, n = 0;
	double before = cpu_s(side->pid);

	while (bench_ns() < end) {
		measure_some();
		(void)ask(side, side->fd[n++ % N_CONNECTIONS]);
	}
	return (double)n / (cpu_s(side->pid) - before);
}

static int by_size(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void compare(struct side *tare, struct side *bare)
{
	int n = bench_is_quick() ? 2 : N_PHASES;
	double ratio[N_PHASES];

	for (int i = 0; i < n; i++) {
		tare->per_cpu_s[i] = phase(tare);
		bare->per_cpu_s[i] = phase(bare);
		ratio[i] = tare->per_cpu_s[i] / bare->per_cpu_s[i];
	}
	qsort(ratio, (size_t)n, sizeof(ratio[0]), by_size);
	qsort(tare->per_cpu_s, (size_t)n, sizeof(double), by_size);
	qsort(bare->per_cpu_s, (size_t)n, sizeof(double), by_size);
	bench_report("processing_stats", tare->per_cpu_s[n / 2], "1/cpu_s",
		     ratio[n / 2], "bare evhttp handler, same size");
	bench_report("bare", bare->per_cpu_s[n / 2], "1/cpu_s", NAN, NULL);
	bench_report("body", (double)tare->body_len, "bytes", NAN, NULL);
}

static void requests_part(void)
{
	struct bench_server server;
	struct side tare = { 0 }, bare = { 0 };
	pid_t pid;
	int port;

	measure_some();
	bench_server_start(&server, 1);
	open_side(&tare, server.pid, server.port, server.token);
	bare_len = tare.body_len;
	bare_body = malloc(bare_len);
	if (!bare_body)
		bench_fail("requests", "no memory");
	(void)memset(bare_body, ' ', bare_len);
	pid = start_bare(&port);
	open_side(&bare, pid, port, server.token);
	compare(&tare, &bare);
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	bench_server_stop(&server);
	free(bare_body);
}

/* ---- killed runs ------------------------------------------------------- */

#define N_KILLED 64
#define N_ASKED 40

/* A process with its own ledger, killed while it measures. */
static void leave_killed_run(void)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		bench_fail("killed64", "no pipe");
	pid = fork();
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int i = 0; i < 100; i++)
			measure_some();
		(void)!write(ends[1], "x", 1);
		for (;;)
			measure_some();
	}
	if (pid < 0 || read(ends[0], &byte, 1) != 1)
		bench_fail("killed64", "a measured process does not start");
	(void)kill(pid, SIGKILL);
	(void)waitpid(pid, NULL, 0);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

/*
 * ms from a request to its response: the median of requests for which all
 * cached data is too old (it is cached for 200 ms).
 */
static double ask_anew(struct side *side, const char *path,
		       const struct bench_server *server)
{
	static const struct timespec pause = { .tv_nsec = 220000000 };
	int n = bench_is_quick() ? 5 : N_ASKED;
	double ms[N_ASKED];

	set_request(side, path, server->port, server->token);
	(void)ask(side, side->fd[0]); /* warms up */
	for (int i = 0; i < n; i++) {
		uint64_t start;

		(void)nanosleep(&pause, NULL);
		start = bench_ns();
		(void)ask(side, side->fd[0]);
		ms[i] = (double)(bench_ns() - start) / 1e6;
	}
	qsort(ms, (size_t)n, sizeof(ms[0]), by_size);
	return ms[n / 2];
}

static void killed_part(void)
{
	struct bench_server server;
	struct side side = { 0 };

	measure_some();
	for (int i = 0; i < N_KILLED; i++)
		leave_killed_run();
	bench_server_start(&server, 1);
	open_side(&side, server.pid, server.port, server.token);
	bench_report("runs", ask_anew(&side, "/api/runs", &server), "ms", NAN,
		     NULL);
	bench_report("stats", ask_anew(&side, PATH, &server), "ms", NAN,
		     NULL);
	bench_server_stop(&server);
}

const struct bench_part bench_parts[] = {
	{ "requests", requests_part, { "TARE=on" } },
	{ "killed64", killed_part, { "TARE=on" } },
	{ NULL, NULL, { NULL } },
};
