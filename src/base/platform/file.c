/* SPDX-License-Identifier: Apache-2.0 */
#include "base/platform.h"

#include <tare/error.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

/* Only tests write it, before any thread is started. */
const char *tr_root = "";

int tr_error_of(int error)
{
	switch (error) {
	case ENOENT:
		return TARE_ENOENT;
	case EACCES:
	case EPERM:
		return TARE_EPERM;
	case ENOSPC:
	case EDQUOT:
		return TARE_EFULL;
	case ENOMEM:
		return TARE_ENOMEM;
	default:
		return TARE_EIO;
	}
}

/*
 * Signals that a write may send to its own thread: the pipe has no reader, or
 * the file is too large. Here both are errors, and never end the host.
 */
struct held {
	sigset_t signals, before, waiting;
};

static void hold_signals(struct held *held)
{
	(void)sigemptyset(&held->signals);
	(void)sigaddset(&held->signals, SIGPIPE);
	(void)sigaddset(&held->signals, SIGXFSZ);
	(void)sigpending(&held->waiting);
	(void)pthread_sigmask(SIG_BLOCK, &held->signals, &held->before);
}

static void release_signals(struct held *held)
{
	static const struct timespec at_once;

	/* Only if they were not already pending for the host. */
	if (!sigismember(&held->waiting, SIGPIPE) &&
	    !sigismember(&held->waiting, SIGXFSZ))
		while (sigtimedwait(&held->signals, NULL, &at_once) < 0 &&
		       errno == EINTR)
			;
	(void)pthread_sigmask(SIG_SETMASK, &held->before, NULL);
}

static int write_all(int fd, const char *at, size_t len, uint64_t off)
{
	bool is_there = off == TR_FILE_POSITION;

	while (len > 0) {
		ssize_t n = is_there ? write(fd, at, len) :
				       pwrite(fd, at, len, (off_t)off);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? tr_error_of(errno) : TARE_EIO;
		at += n;
		off += (uint64_t)n;
		len -= (size_t)n;
	}
	return 0;
}

int tr_file_write_below(int fd, const void *data, size_t len, uint64_t off,
			uint64_t limit)
{
	struct held held;
	int saved = errno, err; /* a message may come from a probe */

	if (off <= limit && len <= limit - off) {
		/* No signal can be sent: saves three system calls. */
		err = write_all(fd, data, len, off);
	} else {
		hold_signals(&held);
		err = write_all(fd, data, len, off);
		release_signals(&held);
	}
	errno = saved;
	return err;
}

int tr_file_write_all(int fd, const void *data, size_t len)
{
	return tr_file_write_below(fd, data, len, TR_FILE_POSITION, 0);
}

int tr_file_write_at(int fd, const void *data, size_t len, uint64_t off)
{
	/* The host may change it at any time. */
	return tr_file_write_below(fd, data, len, off, tr_file_limit());
}

uint64_t tr_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

int tr_file_resize(int fd, uint64_t bytes)
{
	while (ftruncate(fd, (off_t)bytes))
		if (errno != EINTR)
			return tr_error_of(errno);
	return 0;
}

int tr_file_open(const char *path, int flags, unsigned permissions)
{
	int fd;

	do
		fd = open(path, flags | O_CLOEXEC, permissions);
	while (fd < 0 && errno == EINTR);
	return fd;
}

int tr_file_open_regular(const char *path, int flags)
{
	int fd = tr_file_open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
			      0);
	struct stat st;

	if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
		return fd;
	(void)close(fd);
	errno = EINVAL;
	return -1;
}

int64_t tr_file_read_some(int fd, void *data, size_t size, uint64_t off)
{
	bool is_there = off == TR_FILE_POSITION;
	size_t done = 0;

	while (done < size) {
		char *to = (char *)data + done;
		ssize_t n = is_there ? read(fd, to, size - done) :
				       pread(fd, to, size - done,
					     (off_t)(off + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return tr_error_of(errno);
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (int64_t)done;
}

bool tr_file_read_at(int fd, void *data, size_t n, uint64_t off)
{
	return tr_file_read_some(fd, data, n, off) == (int64_t)n;
}

int64_t tr_file_read(const char *path, void *data, size_t size)
{
	int saved = errno, fd = tr_file_open(path, O_RDONLY, 0);
	int64_t n;

	if (fd < 0) {
		n = tr_error_of(errno);
	} else {
		n = tr_file_read_some(fd, data, size, TR_FILE_POSITION);
		(void)close(fd);
	}
	errno = saved;
	return n;
}

bool tr_file_text(const char *path, char *text, size_t size)
{
	int64_t n = tr_file_read(path, text, size - 1);

	text[n > 0 ? n : 0] = '\0';
	return n > 0;
}

uint64_t tr_file_free_bytes(const char *dir)
{
	struct statvfs fs;

	if (statvfs(dir, &fs))
		return 0;
	return (uint64_t)fs.f_bavail * fs.f_frsize;
}

/* A folder of another user, or a link to one, is refused. */
static int check_own(const char *dir)
{
	struct stat st;

	if (lstat(dir, &st))
		return tr_error_of(errno);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    (st.st_mode & 022))
		return TARE_EPERM;
	return 0;
}

int tr_dir_prepare(const char *dir)
{
	if (mkdir(dir, 0700) && errno != EEXIST)
		return tr_error_of(errno);
	return check_own(dir);
}

static int make_path(const char *dir, mode_t mode)
{
	char path[1200];
	size_t len = strlen(dir);

	if (len == 0 || len >= sizeof(path))
		return TARE_EINVAL;
	memcpy(path, dir, len + 1);
	for (size_t i = 1; i <= len; i++) {
		if (dir[i] && dir[i] != '/')
			continue;
		path[i] = '\0';
		if (mkdir(path, mode) && errno != EEXIST)
			return tr_error_of(errno);
		path[i] = dir[i];
	}
	return 0;
}

int tr_dir_make(const char *dir)
{
	return make_path(dir, 0700);
}

int tr_dir_make_shared(const char *dir)
{
	return make_path(dir, 0777);
}

int tr_dir_new(const char *dir, bool *ret_is_new)
{
	*ret_is_new = mkdir(dir, 0777) == 0;
	return *ret_is_new || errno == EEXIST ? 0 : tr_error_of(errno);
}

static int copy_extent(int in, int out, off_t at, off_t end)
{
	char block[32768];

	while (at < end) {
		size_t want = end - at < (off_t)sizeof(block) ?
				      (size_t)(end - at) :
				      sizeof(block);
		int64_t n = tr_file_read_some(in, block, want, (uint64_t)at);
		int err = n > 0 ? write_all(out, block, (size_t)n,
					    (uint64_t)at) :
				  (int)n;

		if (err || n == 0)
			return err;
		at += n;
	}
	return 0;
}

static int copy_data(int in, int out, off_t bytes)
{
	off_t at = 0;
	int err;

	/* Above this limit the kernel sends a signal instead of an error. */
	if ((uint64_t)bytes > tr_file_limit())
		return TARE_EFULL;
	err = tr_file_resize(out, (uint64_t)bytes);
	while (!err && at < bytes) {
		off_t data = lseek(in, at, SEEK_DATA), end;

		if (data < 0)
			return errno == ENXIO ? 0 : tr_error_of(errno);
		end = lseek(in, data, SEEK_HOLE);
		if (end < 0)
			return tr_error_of(errno);
		if (end > bytes)
			end = bytes;
		err = copy_extent(in, out, data, end);
		at = end;
	}
	return err;
}

int tr_file_sync(int fd)
{
	while (fsync(fd))
		if (errno != EINTR)
			return tr_error_of(errno);
	return 0;
}

/* A file's name is on the disk only when its folder is. */
static int sync_folder_of(const char *path)
{
	const char *name = strrchr(path, '/');
	char folder[560];
	int fd, err;

	if ((size_t)snprintf(folder, sizeof(folder), "%.*s",
			     name ? (int)(name - path) : 1,
			     name ? path : ".") >= sizeof(folder))
		return TARE_EINVAL;
	fd = tr_file_open(folder[0] ? folder : "/", O_RDONLY | O_DIRECTORY, 0);
	if (fd < 0)
		return tr_error_of(errno);
	err = tr_file_sync(fd);
	(void)close(fd);
	/* Some file systems cannot sync a folder, and need not. */
	return err == TARE_EINVAL ? 0 : err;
}

/* A killed run ended when its ledger was last written, not copied. */
static void keep_times(int in, int out)
{
	struct timespec times[2];
	struct stat st;

	if (fstat(in, &st))
		return;
	times[0] = st.st_atim;
	times[1] = st.st_mtim;
	(void)futimens(out, times);
}

int tr_file_copy_sparse(const char *from, const char *to, uint64_t bytes,
			int (*finish)(int fd))
{
	char temporary[560];
	int in, out, err;

	if ((size_t)snprintf(temporary, sizeof(temporary), "%s.%d.part", to,
			     (int)getpid()) >= sizeof(temporary))
		return TARE_EINVAL;
	in = tr_file_open_regular(from, O_RDONLY);
	if (in < 0)
		return tr_error_of(errno);
	/* Removes the leftover of a killed process, or any such file. */
	(void)unlink(temporary);
	out = tr_file_open(temporary, O_RDWR | O_CREAT | O_EXCL, 0600);
	if (out < 0) {
		err = tr_error_of(errno);
		(void)close(in);
		return err;
	}
	err = copy_data(in, out, (off_t)bytes);
	if (!err && finish)
		err = finish(out);
	keep_times(in, out);
	(void)close(in);
	if (close(out) && errno != EINTR && !err)
		err = tr_error_of(errno);
	if (!err && rename(temporary, to))
		err = tr_error_of(errno);
	if (err)
		(void)unlink(temporary);
	return err;
}

int tr_file_settle(const char *path)
{
	int fd = tr_file_open_regular(path, O_RDONLY), err;

	if (fd < 0)
		return tr_error_of(errno);
	err = tr_file_sync(fd);
	(void)close(fd);
	return err ? err : sync_folder_of(path);
}

/* Below the chosen folder, else $XDG_STATE_HOME/tare or ~/.local/state/tare. */
static int path_of(const char *chosen, const char *tail, char *out,
		   size_t size)
{
	const char *base = chosen, *below = "";

	if (!base[0]) {
		base = secure_getenv("XDG_STATE_HOME");
		below = "/tare";
	}
	if (!base || (below[0] && base[0] != '/')) {
		base = secure_getenv("HOME");
		below = "/.local/state/tare";
	}
	if (!base || (below[0] && base[0] != '/'))
		return TARE_ENOENT;
	return (size_t)snprintf(out, size, "%s%s%s", base, below, tail) <
			       size ?
		       0 :
		       TARE_EINVAL;
}

/* With the folders above, which any user may own; the last must be ours. */
static int make_own(const char *dir)
{
	int err = tr_dir_make(dir);

	return err ? err : tr_dir_prepare(dir);
}

/* ---- if the user's folder cannot be used -------------------------------- */

static bool name_spare(unsigned i, char *out, size_t size)
{
	const char *base = i ? NULL : secure_getenv("XDG_RUNTIME_DIR");
	int n = -1;

	if (base && base[0] == '/')
		n = snprintf(out, size, "%s/tare", base);
	else if (i == 1)
		n = snprintf(out, size, "/var/tmp/tare-%u",
			     (unsigned)geteuid());
	return n > 0 && (size_t)n < size;
}

static int prepare_writable(const char *dir)
{
	int err = tr_dir_prepare(dir);

	/* Asked of the kernel: a file system may be read-only. */
	return err || access(dir, W_OK | X_OK) == 0 ? err : TARE_EPERM;
}

static int make_spare(const char *tail, char *out, size_t size)
{
	char base[320];
	int err = TARE_ENOENT;

	for (unsigned i = 0; err && i < TR_DIR_SPARES; i++) {
		if (!name_spare(i, base, sizeof(base)))
			continue;
		err = prepare_writable(base);
		if (!err && (size_t)snprintf(out, size, "%s%s", base, tail) >=
				    size)
			err = TARE_EINVAL;
		if (!err)
			err = prepare_writable(out);
	}
	return err;
}

bool tr_dir_spare(unsigned i, char *out, size_t size)
{
	char base[320];

	return name_spare(i, base, sizeof(base)) && check_own(base) == 0 &&
	       (size_t)snprintf(out, size, "%s/runs", base) < size &&
	       check_own(out) == 0;
}

int tr_dir_live(const char *chosen, char *out, size_t size)
{
	int err;

	if (!chosen[0] &&
	    (size_t)snprintf(out, size, "/dev/shm/tare-%u",
			     (unsigned)geteuid()) < size &&
	    tr_dir_prepare(out) == 0)
		return 0;
	err = path_of(chosen, "/live", out, size);
	if (!err)
		err = make_own(out);
	return err && !chosen[0] ? make_spare("/live", out, size) : err;
}

int tr_dir_runs(const char *chosen, char *out, size_t size)
{
	int err = path_of(chosen, "/runs", out, size);

	if (!err)
		err = chosen[0] ? make_own(out) : tr_dir_make(out);
	if (!chosen[0] && (err || access(out, W_OK | X_OK)))
		err = make_spare("/runs", out, size);
	return err;
}
