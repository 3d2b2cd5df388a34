/* SPDX-License-Identifier: Apache-2.0 */
#include "server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

/* build/bench/<name> -> build/cli/tare */
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

static void become_server(const int ends[2], unsigned cpu)
{
	char path[512];

	program_path(path, sizeof(path));
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	bench_pin(cpu);
	(void)dup2(ends[1], 1);
	(void)close(ends[0]);
	(void)unsetenv("TARE");
	(void)execl(path, "tare", "serve", "--port", "0", (char *)NULL);
	_exit(127);
}

/* http://127.0.0.1:PORT/#token=TOKEN, somewhere in a line */
static void read_url(struct bench_server *server)
{
	char line[600];

	while (fgets(line, sizeof(line), server->output)) {
		const char *at = strstr(line, "http://127.0.0.1:");

		if (at && sscanf(at, "http://127.0.0.1:%d/#token=%127[^ \n]",
				 &server->port, server->token) == 2)
			return;
	}
	bench_fail("tare serve", "it printed no URL");
}

void bench_server_start(struct bench_server *server, unsigned cpu)
{
	int ends[2];

	if (pipe(ends))
		bench_fail("tare serve", "no pipe");
	server->pid = fork();
	if (server->pid == 0)
		become_server(ends, cpu);
	(void)close(ends[1]);
	server->output = fdopen(ends[0], "r");
	if (server->pid < 0 || !server->output)
		bench_fail("tare serve", "it cannot be started");
	read_url(server);
}

void bench_server_stop(struct bench_server *server)
{
	(void)kill(server->pid, SIGTERM);
	(void)waitpid(server->pid, NULL, 0);
	(void)fclose(server->output);
}

int bench_connect(int port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		(void)close(fd);
		return -1;
	}
	(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return fd;
}
