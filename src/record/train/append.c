/* SPDX-License-Identifier: Apache-2.0 */
#include "record/train/append.h"

#include <tare/error.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/platform.h"

/* Maximum number of repeats of one configuration in one folder. */
#define APPEND_MOST_FILES 1000000u
#define LOCK_TRIES 1000 /* of 1 ms each */

/* A file of one run, and the parts of its name. */
struct name {
	const char *folder, *stem, *ending;
};

/* False: the name is too long. */
static bool put_name(const struct name *name, unsigned number, char *path,
		     size_t size)
{
	char text[16] = "";
	int n;

	if (number > 1)
		(void)snprintf(text, sizeof(text), "_%u", number);
	n = snprintf(path, size, "%s/%s%s%s", name->folder, name->stem, text,
		     name->ending);
	return n >= 0 && (size_t)n < size;
}

static int create_at(struct tr_append *append, const struct name *name,
		     unsigned number)
{
	if (!put_name(name, number, append->path, sizeof(append->path)))
		return TARE_EINVAL;
	append->fd = tr_file_open(append->path, O_RDWR | O_CREAT | O_EXCL,
				  0666);
	append->number = number;
	return append->fd >= 0 ? 0 : errno == EEXIST ? TARE_EFULL :
						       tr_error_of(errno);
}

/* Creates the file with the first free number. */
static int create_from(struct tr_append *append, const struct name *name,
		       unsigned number)
{
	int err = TARE_EFULL;

	for (; err == TARE_EFULL && number < APPEND_MOST_FILES; number++)
		err = create_at(append, name, number);
	return err;
}

static int begin(struct tr_append *append, const char *folder)
{
	memset(append, 0, sizeof(*append));
	append->fd = -1;
	return tr_dir_make_shared(folder);
}

int tr_append_open(struct tr_append *append, const char *folder,
		   const char *stem, const char *ending, unsigned number)
{
	struct name name = { folder, stem, ending };
	int err = begin(append, folder);

	return err ? err : create_from(append, &name, number ? number : 1);
}

/* ---- the newest -------------------------------------------------------- */

/*
 * Locks the folder: a process that moves or creates files there does so. If
 * the lock is not available (a network file system, a stopped process), no run
 * is lost: names are taken by calls that replace nothing.
 */
static int lock_folder(const char *folder)
{
	static const struct timespec pause = { 0, 1000000 };
	int fd = tr_file_open(folder, O_RDONLY | O_DIRECTORY, 0);

	for (int i = 0; fd >= 0 && i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
			break;
		(void)nanosleep(&pause, NULL);
	}
	return fd;
}

/* Never replaces a file; 0 or an errno. */
static int move(const char *from, const char *to)
{
#ifdef SYS_renameat2
	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to,
		    1u /* RENAME_NOREPLACE */) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
#endif
	if (link(from, to))
		return errno;
	return unlink(from) ? errno : 0;
}

/* Is it a file that no process is writing? */
static bool is_finished(const char *path)
{
	int fd = tr_file_open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	     (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK);
	(void)close(fd);
	return is;
}

/* Renames the file with the plain name. Its new number; 0: it stays. */
static unsigned move_away(const struct name *name, unsigned number)
{
	char from[1024], to[1024];

	if (!put_name(name, 1, from, sizeof(from)) || !is_finished(from))
		return 0;
	for (; number < APPEND_MOST_FILES; number++) {
		int err;

		if (!put_name(name, number, to, sizeof(to)))
			return 0;
		err = move(from, to);
		if (err != EEXIST)
			return err ? 0 : number;
	}
	return 0;
}

int tr_append_open_newest(struct tr_append *append, const char *folder,
			  const char *stem, const char *ending,
			  unsigned moved)
{
	struct name name = { folder, stem, ending };
	int err = begin(append, folder), lock;

	if (err)
		return err;
	lock = lock_folder(folder);
	err = create_at(append, &name, 1);
	if (err == TARE_EFULL) {
		append->moved = move_away(&name, moved > 1 ? moved : 2);
		err = create_from(append, &name, append->moved ? 1 : 2);
	}
	if (!err) /* until it is closed: see is_finished() */
		(void)flock(append->fd, LOCK_EX | LOCK_NB);
	if (lock >= 0)
		(void)close(lock);
	return err;
}

int tr_append_flush(struct tr_append *append)
{
	struct tr_buf *pending = &append->pending;
	int err = 0;

	if (pending->failed) { /* a record with a gap is invalid */
		pending->failed = false;
		pending->len = 0;
		return TARE_ENOMEM;
	}
	if (pending->len)
		err = tr_file_write_below(append->fd, pending->data,
					  pending->len, append->size,
					  tr_file_limit());
	if (!err) {
		append->size += pending->len;
		pending->len = 0;
		return 0;
	}
	(void)tr_file_resize(append->fd, append->size);
	if (pending->len > TR_APPEND_KEPT)
		pending->len = 0;
	return err;
}

int tr_append_patch(struct tr_append *append, uint64_t off, const void *data,
		    size_t len)
{
	if (off + len > append->size)
		return TARE_EINVAL;
	return tr_file_write_at(append->fd, data, len, off);
}

int tr_append_close(struct tr_append *append)
{
	int err = 0;

	if (append->fd >= 0) {
		err = tr_append_flush(append);
		/* A forked child may hold the lock, too. */
		(void)flock(append->fd, LOCK_UN);
		/* Some file systems report a full disk only here. */
		if (close(append->fd) && !err && errno != EINTR)
			err = tr_error_of(errno);
	}
	append->fd = -1;
	tr_buf_release(&append->pending);
	return err;
}

void tr_append_host(char *out, size_t size)
{
	struct utsname name;

	(void)snprintf(out, size, "%s",
		       uname(&name) == 0 ? name.nodename : "");
}
