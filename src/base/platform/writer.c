/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writer: does the process that wrote a ledger still live?
 *
 * A process id is not enough: ids are reused, and each pid namespace has its
 * own. In the same boot and namespace, id and start time together are enough.
 * Otherwise the file is tested: the kernel refuses a read lease while any
 * process has the file open for writing or mapped for writing, in whatever
 * namespace, and also after its descriptor was closed.
 *
 * A forked child of the writer may keep the mapping after the writer has ended:
 * "lives" may be wrong. "Gone" is certain.
 */
#include "base/platform.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif
#ifndef F2FS_SUPER_MAGIC
#define F2FS_SUPER_MAGIC 0xF2F52010
#endif
#ifndef OVERLAYFS_SUPER_MAGIC
#define OVERLAYFS_SUPER_MAGIC 0x794c7630
#endif
#define ZFS_SUPER_MAGIC_ 0x2fc12fc1 /* not in any kernel header */

enum place { PLACE_UNKNOWN, PLACE_LOCAL, PLACE_LEASES };

/*
 * Only one kernel writes to a local file system. Not all of these support the
 * test by lease: on overlayfs a mapping belongs to the lower file, and does not
 * count for the upper one.
 */
static enum place place_of(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return PLACE_UNKNOWN;
	switch ((unsigned long)fs.f_type) {
	case TMPFS_MAGIC:
	case EXT4_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BTRFS_SUPER_MAGIC:
	case F2FS_SUPER_MAGIC:
		return PLACE_LEASES;
	case OVERLAYFS_SUPER_MAGIC:
	case ZFS_SUPER_MAGIC_:
		return PLACE_LOCAL;
	default:
		return PLACE_UNKNOWN;
	}
}

/*
 * The lease is released at once. A process that opens the file for writing in
 * that moment waits for it, and the kernel signals the holder: by a signal that
 * is ignored unless it is handled, not by SIGIO.
 */
static enum tr_writer ask_lease(int fd)
{
	(void)fcntl(fd, F_SETSIG, SIGURG);
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
		(void)fcntl(fd, F_SETLEASE, F_UNLCK);
		return TR_WRITER_GONE;
	}
	return errno == EAGAIN ? TR_WRITER_LIVES : TR_WRITER_UNKNOWN;
}

static enum tr_writer ask_file(const char *path, bool is_of_boot)
{
	int saved = errno;
	int fd = path && path[0] ?
			 tr_file_open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK,
				      0) :
			 -1;
	enum tr_writer writer = TR_WRITER_UNKNOWN;
	enum place place;

	if (fd >= 0) {
		place = place_of(fd);
		if (place != PLACE_UNKNOWN && !is_of_boot)
			writer = TR_WRITER_GONE;
		else if (place == PLACE_LEASES)
			writer = ask_lease(fd);
		(void)close(fd);
	}
	errno = saved;
	return writer;
}

enum tr_writer tr_writer_of_file(const char *path)
{
	return ask_file(path, true);
}

/* Does a process with this id exist here? */
static bool has_process(uint32_t pid)
{
	int saved = errno;
	bool is_there = !pid || kill((pid_t)pid, 0) == 0 || errno != ESRCH;

	errno = saved;
	return is_there;
}

static bool is_of_namespace(const struct tr_identity *identity)
{
	struct stat st;

	return identity->pid_ns && stat("/proc/self/ns/pid", &st) == 0 &&
	       st.st_ino == identity->pid_ns;
}

enum tr_writer tr_writer_state(const struct tr_identity *identity,
			       const char *path)
{
	bool is_of_boot = tr_identity_is_of_boot(identity);
	enum tr_writer writer;

	if (is_of_boot && is_of_namespace(identity)) {
		if (!has_process(identity->pid))
			return TR_WRITER_GONE;
		if (identity->start_time && tr_identity_alive(identity))
			return TR_WRITER_LIVES;
		/* Another process has its id, or it is a zombie. */
		writer = ask_file(path, true);
		if (writer != TR_WRITER_UNKNOWN || !identity->start_time)
			return writer;
		return TR_WRITER_GONE;
	}
	return ask_file(path, is_of_boot);
}
