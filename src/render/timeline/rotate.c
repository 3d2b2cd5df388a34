/* SPDX-License-Identifier: Apache-2.0 */


#include "render/timeline/chrome.h"
#include "render/timeline.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define OLD_MOST 4096u /* limit on the traces that are checked */

/* Checks the first bytes: other programs may use such names too. */
static bool is_ours(int folder, const char *name)
{
	char head[sizeof(TR_CHROME_MARK)];
	int fd = openat(folder, name,
			O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	     tr_file_read_at(fd, head, sizeof(head) - 1, 0) &&
	     memcmp(head, TR_CHROME_MARK, sizeof(head) - 1) == 0;
	(void)close(fd);
	return is;
}

bool tr_rotate_remove(const char *folder, const char *name)
{
	int fd = tr_file_open(folder, O_RDONLY | O_DIRECTORY, 0);
	bool is;

	if (fd < 0)
		return false;
	is = is_ours(fd, name) && unlinkat(fd, name, 0) == 0;
	(void)close(fd);
	return is;
}

struct old {
	struct timespec changed;
	char name[256];
};

static bool has_name(const char *name, const char *prefix,
		     uint64_t *ret_number)
{
	size_t len = strlen(prefix);
	const char *at = name + len;
	uint64_t number = 0;

	if (strncmp(name, prefix, len) != 0 || *at < '0' || *at > '9')
		return false;
	for (; *at >= '0' && *at <= '9'; at++)
		number = number * 10 + (uint64_t)(*at - '0');
	*ret_number = number;
	return strcmp(at, ".json") == 0;
}

static int newest_first(const void *a, const void *b)
{
	const struct timespec *x = &((const struct old *)a)->changed;
	const struct timespec *y = &((const struct old *)b)->changed;

	if (x->tv_sec != y->tv_sec)
		return x->tv_sec > y->tv_sec ? -1 : 1;
	return x->tv_nsec > y->tv_nsec ? -1 : x->tv_nsec < y->tv_nsec;
}

static size_t find_old(DIR *dir, const char *prefix, struct old *old)
{
	struct dirent *entry;
	struct stat st;
	uint64_t number;
	size_t n = 0;

	while (n < OLD_MOST && (entry = readdir(dir))) {
		size_t len = strlen(entry->d_name);

		if (len >= sizeof(old->name) ||
		    !has_name(entry->d_name, prefix, &number) ||
		    fstatat(dirfd(dir), entry->d_name, &st,
			    AT_SYMLINK_NOFOLLOW) ||
		    !is_ours(dirfd(dir), entry->d_name))
			continue;
		old[n].changed = st.st_mtim;
		memcpy(old[n++].name, entry->d_name, len + 1);
	}
	return n;
}

size_t tr_trace_keep(const char *folder, const char *prefix, size_t keep)
{
	struct old *old = malloc(OLD_MOST * sizeof(*old));
	DIR *dir = old ? opendir(folder) : NULL;
	size_t n, removed = 0;

	if (!dir) {
		free(old);
		return 0;
	}
	n = find_old(dir, prefix, old);
	qsort(old, n, sizeof(*old), newest_first);
	for (size_t i = keep; i < n; i++)
		removed += unlinkat(dirfd(dir), old[i].name, 0) == 0;
	(void)closedir(dir);
	free(old);
	return removed;
}

void tr_rotate_above(const char *folder, const char *prefix, uint64_t last)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	uint64_t number;

	while (dir && (entry = readdir(dir)))
		if (has_name(entry->d_name, prefix, &number) &&
		    number > last && is_ours(dirfd(dir), entry->d_name))
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		(void)closedir(dir);
}
