/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mount: the folder of this process's cgroup, from two files of /proc.
 *
 * /proc/self/cgroup has the path in a hierarchy, mountinfo has where the
 * hierarchy is mounted, and which part of it: in a container often only its
 * own. A controller is in its own hierarchy (version 1) or in the one of
 * version 2, never in both.
 */
#include "readings.h"

#include <stdio.h>
#include <string.h>

#define PATH_BYTES 512u

/* Is `item` in the comma-separated list text[0..len)? */
static bool list_has(const char *text, size_t len, const char *item)
{
	size_t want = strlen(item);

	for (const char *end = text + len; text < end;) {
		const char *comma = memchr(text, ',', (size_t)(end - text));
		size_t n = (size_t)((comma ? comma : end) - text);

		if (n == want && memcmp(text, item, n) == 0)
			return true;
		text += n + 1;
	}
	return false;
}

/* Copies up to one of `ends`; mountinfo writes blanks as \040. */
static bool copy_path(char *out, size_t size, const char *text,
		      const char *ends)
{
	size_t len = strcspn(text, ends), n = 0;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '\\' && i + 3 < len && strchr("01", text[i + 1]) &&
		    strchr("01234567", text[i + 2]) &&
		    strchr("01234567", text[i + 3])) {
			c = (char)((text[i + 1] - '0') << 6 |
				   (text[i + 2] - '0') << 3 |
				   (text[i + 3] - '0'));
			i += 3;
		}
		if (!c || n + 1 >= size)
			return false;
		out[n++] = c;
	}
	out[n] = '\0';
	return n > 0 && out[0] == '/';
}

/* "4:memory,hugetlb:/a" or "0::/a": the path of the controller's group. */
static unsigned find_path(const char *cgroup, const char *controller,
			  char path[PATH_BYTES])
{
	unsigned version = 0;

	for (const char *line = cgroup; line; line = tr_scan_next(line)) {
		const char *list = line + strcspn(line, ":\n"), *end;

		if (*list != ':')
			continue;
		list++;
		end = list + strcspn(list, ":\n");
		if (*end != ':')
			continue;
		if (list_has(list, (size_t)(end - list), controller))
			return copy_path(path, PATH_BYTES, end + 1, "\n") ? 1 :
									    0;
		if (list == end && strncmp(line, "0:", 2) == 0 &&
		    copy_path(path, PATH_BYTES, end + 1, "\n"))
			version = 2;
	}
	return version;
}

/* A line of mountinfo: its fourth and fifth word, and those after " - ". */
struct mount {
	const char *root, *point, *type, *options;
};

static bool split_mount(const char *line, struct mount *mount)
{
	const char *at = line, *end = line + strcspn(line, "\n");
	const char *dash;

	for (int i = 0; i < 3; i++)
		if (!tr_scan_skip(&at))
			return false;
	mount->root = at + strspn(at, " ");
	(void)tr_scan_skip(&at);
	mount->point = at + strspn(at, " ");
	dash = strstr(at, " - ");
	if (!dash || dash > end)
		return false;
	at = mount->type = dash + 3;
	(void)tr_scan_skip(&at);
	(void)tr_scan_skip(&at);
	mount->options = at + strspn(at, " ");
	return true;
}

static bool is_mount_of(const struct mount *mount, unsigned version,
			const char *controller)
{
	if (version == 2)
		return strncmp(mount->type, "cgroup2 ", 8) == 0;
	return strncmp(mount->type, "cgroup ", 7) == 0 &&
	       list_has(mount->options, strcspn(mount->options, " \n"),
			controller);
}

/*
 * The rest of the path below the mounted part. For a path that is not below it
 * (seen from another namespace) the answer is the mounted part itself: the
 * nearest group that can be read.
 */
static const char *below(const char *path, const char *root)
{
	size_t len = strcmp(root, "/") == 0 ? 0 : strlen(root);

	if (strncmp(path, root, len) != 0 ||
	    (path[len] != '/' && path[len] != '\0') || strstr(path, "/.."))
		return "";
	return strcmp(path + len, "/") == 0 ? "" : path + len;
}

void tr_cgroup_scan(const char *cgroup, const char *mountinfo,
		   const char *controller, struct tr_cgroup *ret)
{
	char path[PATH_BYTES], root[PATH_BYTES], point[PATH_BYTES];
	unsigned version = find_path(cgroup, controller, path);
	struct mount mount;
	int n;

	ret->version = 0;
	for (const char *line = version ? mountinfo : NULL; line;
	     line = tr_scan_next(line)) {
		if (!split_mount(line, &mount) ||
		    !is_mount_of(&mount, version, controller) ||
		    !copy_path(root, sizeof(root), mount.root, " \n") ||
		    !copy_path(point, sizeof(point), mount.point, " \n"))
			continue;
		n = snprintf(ret->dir, sizeof(ret->dir), "%s%s", point,
			     below(path, root));
		if (n < 0 || (size_t)n >= sizeof(ret->dir))
			return;
		ret->version = version;
		ret->top = strlen(point);
		return;
	}
}
