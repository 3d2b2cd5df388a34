/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files libdw may read, and under which name.
 *
 * Why: a ledger may come from another user, and a module's path in a ledger can
 * name any file. Our own ELF reader checks every offset and is fuzzed; libdw is
 * a large parser that is not made for hostile input, and opens further files by
 * names in the file that it reads.
 *
 * So libdw gets only files of root and of the user, under a name in a folder
 * where no other user can create a file.
 */
#include "trust.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Under sudo, files of the calling user are trusted like root's. */
static bool is_trusted_owner(uid_t owner)
{
	const char *text = getenv("SUDO_UID");
	char *end;
	unsigned long uid;

	if (owner == 0 || owner == geteuid())
		return true;
	if (geteuid() != 0 || !text || !*text)
		return false;
	uid = strtoul(text, &end, 10);
	return !*end && owner == (uid_t)uid;
}

/* Groups are trusted: many systems let a user's own group write. */
static bool is_trusted(const struct stat *st)
{
	return is_trusted_owner(st->st_uid) && !(st->st_mode & S_IWOTH);
}

bool trust_file(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && is_trusted(&st);
}

/*
 * The kernel's name of the file, without links. A folder that all users can
 * write to is replaced by the root folder, because libdw searches for debug
 * files beside the file that it reads.
 */
void trust_name(int fd, const char *name, char *ret, size_t size)
{
	char link[64];
	struct stat folder;
	ssize_t len;
	char *slash;

	(void)snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	len = readlink(link, ret, size - 1);
	ret[len < 0 ? 0 : len] = '\0';
	slash = strrchr(ret, '/');
	if (slash && slash != ret) {
		*slash = '\0';
		if (stat(ret, &folder) == 0 && is_trusted(&folder)) {
			*slash = '/';
			return;
		}
	}
	(void)snprintf(ret, size, "/%s", name);
}
