/* SPDX-License-Identifier: Apache-2.0 */
#include "base/platform.h"

#include <tare/error.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif

/* Names that a kill may leave behind must not look like exports. */
static void name_temporary(struct tr_publish *p, unsigned n)
{
	(void)snprintf(p->temporary, sizeof(p->temporary),
		       ".tare-%d-%llx-%u.part", (int)getpid(),
		       (unsigned long long)tr_realtime_ns(), n);
}

/*
 * A file without a name disappears with its process, however that ends. False:
 * the file system does not support it, or naming it later.
 */
static bool open_unnamed(struct tr_publish *p)
{
	char self[40];
	int saved = errno;

	p->fd = openat(p->folder, ".", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
	if (p->fd >= 0) {
		(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", p->fd);
		if (faccessat(AT_FDCWD, self, F_OK, 0) == 0)
			return true;
		(void)close(p->fd);
	}
	p->fd = -1;
	errno = saved;
	return false;
}

static int link_as(const struct tr_publish *p, const char *name)
{
	char self[40];

	(void)snprintf(self, sizeof(self), "/proc/self/fd/%d", p->fd);
	return linkat(AT_FDCWD, self, p->folder, name, AT_SYMLINK_FOLLOW);
}

/*
 * Links the file under its name. If that name is taken, links it under a
 * temporary name and returns 1: the rename then replaces the old file.
 */
static int name_unnamed(struct tr_publish *p, const char *name)
{
	if (link_as(p, name) == 0)
		return 0;
	for (unsigned n = 0; errno == EEXIST && n < 100; n++) {
		name_temporary(p, n);
		if (link_as(p, p->temporary) == 0)
			return 1;
	}
	p->temporary[0] = '\0';
	return tr_error_of(errno);
}

int tr_publish_begin(struct tr_publish *p, const char *folder)
{
	int err = tr_dir_make(folder);

	p->fd = -1;
	p->temporary[0] = '\0';
	p->folder = err ? -1 : tr_file_open(folder, O_RDONLY | O_DIRECTORY, 0);
	if (p->folder < 0)
		return err ? err : tr_error_of(errno);
	if (p->is_hasty && open_unnamed(p))
		return 0;
	for (unsigned n = 0; p->fd < 0 && n < 100; n++) {
		name_temporary(p, n);
		p->fd = openat(p->folder, p->temporary,
			       O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (p->fd < 0 && errno != EEXIST && errno != EINTR)
			break;
	}
	if (p->fd >= 0)
		return 0;
	p->temporary[0] = '\0';
	return tr_error_of(errno);
}

int tr_publish_write(struct tr_publish *p, const void *data, size_t len)
{
	return tr_file_write_all(p->fd, data, len);
}

/* If the kernel or file system has no such rename: a link. */
static int name_new(const struct tr_publish *p, const char *name)
{
#ifdef SYS_renameat2
	if (syscall(SYS_renameat2, p->folder, p->temporary, p->folder, name,
		    RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != ENOSYS && errno != EINVAL)
		return -1;
#endif
	if (linkat(p->folder, p->temporary, p->folder, name, 0))
		return -1;
	(void)unlinkat(p->folder, p->temporary, 0);
	return 0;
}

int tr_publish_name(struct tr_publish *p, const char *name, bool replace)
{
	int err = p->is_hasty ? 0 : tr_file_sync(p->fd);

	if (!err && !p->temporary[0]) {
		err = name_unnamed(p, name);
		if (err <= 0)
			return err;
	} else if (err) {
		return err;
	}
	if (replace ? renameat(p->folder, p->temporary, p->folder, name) :
		      name_new(p, name))
		return !replace && errno == EEXIST ? 1 : tr_error_of(errno);
	p->temporary[0] = '\0';
	return p->is_hasty ? 0 : tr_file_sync(p->folder);
}

void tr_publish_end(struct tr_publish *p)
{
	if (p->fd >= 0)
		(void)close(p->fd);
	if (p->folder >= 0 && p->temporary[0])
		(void)unlinkat(p->folder, p->temporary, 0);
	if (p->folder >= 0)
		(void)close(p->folder);
	p->fd = p->folder = -1;
}
