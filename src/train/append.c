/* SPDX-License-Identifier: Apache-2.0 */
#include "train/append.h"

#include <tare/error.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "platform/platform.h"

/* Repeats of one configuration in one folder. */
#define APPEND_MOST_FILES 1000000u

static int append_create(struct tr_append *append, const char *folder,
			 const char *stem, const char *ending)
{
	for (unsigned i = append->number; i < APPEND_MOST_FILES; i++) {
		char number[16] = "";
		int n;

		if (i > 1)
			(void)snprintf(number, sizeof(number), "_%u", i);
		n = snprintf(append->path, sizeof(append->path), "%s/%s%s%s",
			     folder, stem, number, ending);
		if (n < 0 || (size_t)n >= sizeof(append->path))
			return TARE_EINVAL;
		append->fd = tr_file_open(append->path,
					  O_RDWR | O_CREAT | O_EXCL, 0666);
		append->number = i;
		if (append->fd >= 0)
			return 0;
		if (errno != EEXIST)
			return tr_error_of(errno);
	}
	return TARE_EFULL;
}

int tr_append_open(struct tr_append *append, const char *folder,
		   const char *stem, const char *ending, unsigned number)
{
	int err;

	memset(append, 0, sizeof(*append));
	append->fd = -1;
	append->number = number ? number : 1;
	err = tr_dir_make_shared(folder);
	return err ? err : append_create(append, folder, stem, ending);
}

int tr_append_flush(struct tr_append *append)
{
	struct tr_buf *pending = &append->pending;
	int err = 0;

	if (pending->failed) { /* a record with a hole is none */
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
		/* Some file systems tell of a full disk only here. */
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
