/* SPDX-License-Identifier: Apache-2.0 */
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tare/control.h>

#define STATE_NAME "server"

/* tare's folder: the option `dir`, or the state folder of the user. */
static int folder(char *path, size_t size)
{
	const char *state = secure_getenv("XDG_STATE_HOME");
	const char *home = secure_getenv("HOME");
	int n = tare_option_get("dir", path, size);

	if (n > 0)
		return (size_t)n < size ? 0 : ENAMETOOLONG;
	if (state && state[0] == '/')
		n = snprintf(path, size, "%s/tare", state);
	else if (home && home[0] == '/')
		n = snprintf(path, size, "%s/.local/state/tare", home);
	else
		return ENOENT;
	return (size_t)n < size ? 0 : ENAMETOOLONG;
}

static int make_folders(char *path)
{
	for (char *at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		(void)mkdir(path, 0700);
		*at = '/';
	}
	return mkdir(path, 0700) && errno != EEXIST ? errno : 0;
}

int state_path(char *path, size_t size)
{
	int err = folder(path, size - sizeof("/" STATE_NAME));

	if (!err)
		(void)strcat(path, "/" STATE_NAME);
	return err;
}

static int open_state(int flags)
{
	char path[512];
	int fd, err = folder(path, sizeof(path) - sizeof("/" STATE_NAME));

	if (!err && (flags & O_CREAT))
		err = make_folders(path);
	if (err)
		return -err;
	(void)strcat(path, "/" STATE_NAME);
	fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	return fd < 0 ? -errno : fd;
}

/* A lock of the open file, not of the process: `tare url` can check it. */
static int lock_state(int fd, int command, struct flock *lock)
{
	*lock = (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET };
	return fcntl(fd, command, lock) ? errno : 0;
}

int state_take(int *ret_fd)
{
	struct flock lock;
	int err, fd = open_state(O_RDWR | O_CREAT);

	if (fd < 0)
		return -fd;
	err = lock_state(fd, F_OFD_SETLK, &lock);
	/* The file may exist already: its mode is set. */
	if (!err && (fchmod(fd, 0600) || ftruncate(fd, 0)))
		err = errno;
	if (err) {
		(void)close(fd);
		return err == EAGAIN || err == EACCES ? EWOULDBLOCK : err;
	}
	*ret_fd = fd;
	return 0;
}

int state_write(int fd, const struct state *state)
{
	char text[640];
	int n = snprintf(text, sizeof(text), "%s\n%s\n%s\n%lld\nend\n",
			 state->url, state->token, state->steer_token,
			 (long long)state->pid);

	if (n < 0 || (size_t)n >= sizeof(text))
		return ENAMETOOLONG;
	return pwrite(fd, text, (size_t)n, 0) == n ? 0 : EIO;
}

/* Ends the line at `*text` and moves to the next. */
static const char *next_line(char **text)
{
	char *line = *text, *end = strchr(line, '\n');

	if (!end)
		return "";
	*end = '\0';
	*text = end + 1;
	return line;
}

static int read_lines(char *text, struct state *state)
{
	const char *url = next_line(&text);
	const char *token = next_line(&text);
	const char *steer_token = next_line(&text);
	const char *pid = next_line(&text);

	/* Without its last line, the file is still being written. */
	if (strcmp(next_line(&text), "end") != 0)
		return ENOENT;
	if (strlen(url) >= sizeof(state->url) ||
	    strlen(token) != TOKEN_TEXT - 1 ||
	    strlen(steer_token) != TOKEN_TEXT - 1)
		return EINVAL;
	(void)strcpy(state->url, url);
	(void)strcpy(state->token, token);
	(void)strcpy(state->steer_token, steer_token);
	state->pid = atoll(pid);
	return 0;
}

int state_read(struct state *ret_state)
{
	struct flock lock;
	char text[640];
	ssize_t n;
	int err, fd = open_state(O_RDWR);

	if (fd < 0)
		return -fd;
	err = lock_state(fd, F_OFD_GETLK, &lock);
	if (!err && lock.l_type == F_UNLCK)
		err = ENOENT;
	n = err ? 0 : pread(fd, text, sizeof(text) - 1, 0);
	if (n < 0)
		err = errno;
	(void)close(fd);
	if (err)
		return err;
	text[n] = '\0';
	return read_lines(text, ret_state);
}

void state_print_url(const struct state *state, bool may_steer, char *text,
		     unsigned size)
{
	(void)snprintf(text, size, "%s#token=%s", state->url,
		       may_steer ? state->steer_token : state->token);
}

/* ---- tokens ------------------------------------------------------------ */

bool token_make(char token[TOKEN_TEXT])
{
	unsigned char bytes[TOKEN_BYTES];

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return false;
	for (unsigned i = 0; i < TOKEN_BYTES; i++)
		(void)snprintf(token + 2u * i, 3, "%02x", bytes[i]);
	return true;
}

bool token_in_bearer(const char *token, const char *header)
{
	unsigned char different = 0;

	if (strncasecmp(header, "Bearer ", 7) != 0)
		return false;
	header += 7;
	header += strspn(header, " ");
	/* The length is no secret. */
	if (strlen(header) != TOKEN_TEXT - 1)
		return false;
	for (size_t i = 0; i < TOKEN_TEXT - 1; i++)
		different |= (unsigned char)(token[i] ^ header[i]);
	return different == 0;
}
