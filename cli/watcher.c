/* SPDX-License-Identifier: Apache-2.0 */
#include "watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TOLD 1 /* exit status of a watcher that has reported */

/* An abstract name, which leaves no file behind. */
static socklen_t name_socket(const char *group, struct sockaddr_un *name)
{
	int n;

	memset(name, 0, sizeof(*name));
	name->sun_family = AF_UNIX;
	n = snprintf(name->sun_path + 1, sizeof(name->sun_path) - 1,
		     "tare-%ld-%s", (long)getuid(), group);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			   (size_t)n);
}

static int open_socket(const char *group)
{
	struct sockaddr_un name;
	socklen_t size = name_socket(group, &name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd >= 0 && bind(fd, (const struct sockaddr *)&name, size)) {
		(void)close(fd);
		return -1;
	}
	return fd;
}

/* Waits until there is something to report; false: all ended normally. */
static bool wait_for_news(int socket_fd, int pipe_fd)
{
	struct pollfd fds[2] = { { .fd = socket_fd, .events = POLLIN },
				 { .fd = pipe_fd, .events = POLLIN } };
	char word;

	while (poll(fds, 2, -1) < 0 && errno == EINTR)
		;
	if (fds[1].revents)
		return read(pipe_fd, &word, 1) != 1;
	return true;
}

static void watch(int socket_fd, int pipe_fd, bool (*tell)(void *arg),
		  void *arg)
{
	/* Time for other processes to write their endings. */
	static const struct timespec moment = { 0, 100000000 };

	(void)setsid();
	(void)signal(SIGPIPE, SIG_IGN);
	if (!wait_for_news(socket_fd, pipe_fd))
		_exit(0);
	(void)nanosleep(&moment, NULL);
	_exit(tell(arg) ? TOLD : 0);
}

void watcher_start(struct watcher *watcher, const char *group,
		   bool (*tell)(void *arg), void *arg)
{
	int fd[2], socket_fd = open_socket(group);

	*watcher = (struct watcher){ 0, -1 };
	if (socket_fd < 0)
		return; /* this group already has a watcher */
	if (pipe2(fd, O_CLOEXEC) == 0) {
		watcher->pid = fork();
		if (watcher->pid == 0) {
			(void)close(fd[1]);
			watch(socket_fd, fd[0], tell, arg);
		}
		(void)close(fd[0]);
		watcher->pipe = fd[1];
	}
	if (watcher->pid < 0) {
		(void)close(watcher->pipe);
		watcher->pid = 0;
	}
	(void)close(socket_fd);
}

bool watcher_stop(struct watcher *watcher, bool is_well)
{
	ssize_t sent = 1;
	int status = 0;

	if (!watcher->pid)
		return false;
	if (is_well) /* SIGPIPE is ignored by now */
		sent = write(watcher->pipe, "", 1);
	(void)close(watcher->pipe);
	while (waitpid(watcher->pid, &status, 0) < 0 && errno == EINTR)
		;
	watcher->pid = 0;
	return sent != 1 || (WIFEXITED(status) && WEXITSTATUS(status) == TOLD);
}

void watcher_alert(const char *group)
{
	struct sockaddr_un name;
	socklen_t size = name_socket(group, &name);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	(void)sendto(fd, "", 1, MSG_DONTWAIT, (const struct sockaddr *)&name,
		     size);
	(void)close(fd);
}
