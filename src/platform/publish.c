/* SPDX-License-Identifier: Apache-2.0 */
#include "platform/platform.h"

#include <tare/error.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE (1 << 0)
#endif

/* Names that a kill may leave behind do not look like exports. */
static void name_temporary(struct tr_publish *p, unsigned n)
{
	(void)snprintf(p->temporary, sizeof(p->temporary),
		       ".tare-%d-%llx-%u.part", (int)getpid(),
		       (unsigned long long)tr_realtime_ns(), n);
}

int tr_publish_begin(struct tr_publish *p, const char *folder)
{
	int err = tr_dir_make(folder);

	p->fd = -1;
	p->temporary[0] = '\0';
	p->folder = err ? -1 : tr_file_open(folder, O_RDONLY | O_DIRECTORY, 0);
	if (p->folder < 0)
		return err ? err : tr_error_of(errno);
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

/* Where the kernel or the file system knows no such renaming: a link. */
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

static int sync_to_disk(int fd)
{
	while (fsync(fd))
		if (errno != EINTR)
			return tr_error_of(errno);
	return 0;
}

int tr_publish_name(struct tr_publish *p, const char *name, bool replace)
{
	int err = sync_to_disk(p->fd);

	if (err)
		return err;
	if (replace ? renameat(p->folder, p->temporary, p->folder, name) :
		      name_new(p, name))
		return !replace && errno == EEXIST ? 1 : tr_error_of(errno);
	p->temporary[0] = '\0';
	return sync_to_disk(p->folder);
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
