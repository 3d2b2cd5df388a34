/* SPDX-License-Identifier: Apache-2.0 */
#include "ask.h"

#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/text.h"
#include "message.h"
#include "server/state.h"

#define SECONDS 10
#define MOST_BYTES (64u << 20)

/* http://HOST:PORT/ or http://[HOST]:PORT/ as the server wrote it. */
static bool split_url(const char *url, char *host, size_t size,
		      const char **ret_port, char *authority)
{
	const char *at = strstr(url, "://"), *end, *colon;
	size_t len;

	if (!at)
		return false;
	at += 3;
	end = at + strcspn(at, "/");
	len = (size_t)(end - at);
	if (len >= size)
		return false;
	memcpy(authority, at, len);
	authority[len] = '\0';
	colon = strrchr(authority, ':');
	if (!colon)
		return false;
	*ret_port = colon + 1;
	len = (size_t)(colon - authority);
	at = authority;
	if (*at == '[' && len > 2) {
		at++;
		len -= 2;
	}
	memcpy(host, at, len);
	host[len] = '\0';
	return true;
}

static int dial(const char *host, const char *port)
{
	const struct timeval time = { SECONDS, 0 };
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list;
	int fd = -1;

	if (getaddrinfo(host, port, &hints, &list))
		return -EHOSTUNREACH;
	for (const struct addrinfo *a = list; a && fd < 0; a = a->ai_next) {
		fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);
		if (fd < 0)
			continue;
		(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &time,
				 sizeof(time));
		(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &time,
				 sizeof(time));
		if (connect(fd, a->ai_addr, a->ai_addrlen)) {
			int err = errno;

			(void)close(fd);
			fd = -1;
			errno = err;
		}
	}
	freeaddrinfo(list);
	return fd < 0 ? -errno : fd;
}

static int send_all(int fd, const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Reads to the end: the request asks to close the connection. */
static int receive_all(int fd, struct tr_buf *text)
{
	char bytes[16384];

	while (text->len < MOST_BYTES && !text->failed) {
		ssize_t n = recv(fd, bytes, sizeof(bytes), 0);

		if (n == 0)
			return 0;
		if (n > 0)
			tr_buf_add(text, bytes, (size_t)n);
		else if (errno != EINTR)
			return errno == EAGAIN ? ETIMEDOUT : errno;
	}
	return ENOMEM;
}

static int take_apart(const char *text, int *ret_status, char **ret_body)
{
	const char *body = text ? strstr(text, "\r\n\r\n") : NULL;

	if (!body || strncmp(text, "HTTP/1.", 7) != 0 || strlen(text) < 12)
		return EPROTO;
	*ret_status = (int)strtol(text + 9, NULL, 10);
	*ret_body = strdup(body + 4);
	return *ret_body ? 0 : ENOMEM;
}

int ask_server(const char *path, const char *accept, int *ret_status,
	       char **ret_body)
{
	char host[300], authority[300], request[1400];
	struct tr_buf text = TR_BUF_INIT;
	const char *port;
	struct state state;
	int fd, err = state_read(&state);

	if (err)
		return err;
	if (!split_url(state.url, host, sizeof(host), &port, authority))
		return EPROTO;
	(void)snprintf(request, sizeof(request),
		       "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: %s\r\n"
		       "Authorization: Bearer %s\r\nConnection: close\r\n\r\n",
		       path, authority, accept, state.token);
	fd = dial(host, port);
	if (fd < 0)
		return -fd;
	err = send_all(fd, request);
	if (!err)
		err = receive_all(fd, &text);
	(void)close(fd);
	if (!err)
		err = take_apart(text.data, ret_status, ret_body);
	tr_buf_release(&text);
	return err;
}

int ask_error(const char *what, int err)
{
	char path[512];

	if ((err == EACCES || err == EPERM || err == ELOOP ||
	     err == ENOTDIR) &&
	    state_path(path, sizeof(path)) == 0)
		return message_error("open", path, err);
	return message_error(what, "the server", err);
}
