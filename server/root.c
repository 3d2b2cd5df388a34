/* SPDX-License-Identifier: Apache-2.0 */
#include "root.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tare/control.h>

/* Appends the parts of `path` to `out`, each after a slash. */
static bool add_parts(char out[PATH_MAX], const char *path)
{
	size_t len = strlen(out);

	while (*path) {
		size_t n = strcspn(path, "/");
		bool is_dot = n == 1 && path[0] == '.';

		if (n == 2 && path[0] == '.' && path[1] == '.')
			return false;
		if (n && !is_dot) {
			if (len + n + 2 > PATH_MAX)
				return false;
			out[len++] = '/';
			(void)memcpy(out + len, path, n);
			len += n;
			out[len] = '\0';
		}
		path += n;
		path += *path == '/';
	}
	return true;
}

static bool make_absolute(const char *path, char out[PATH_MAX])
{
	char here[PATH_MAX];

	out[0] = '\0';
	if (path[0] != '/' &&
	    (!getcwd(here, sizeof(here)) || !add_parts(out, here)))
		return false;
	return add_parts(out, path);
}

/*
 * Resolves links in the longest part that exists; the rest is unchanged. A
 * dangling link as the last part counts as existing: it is refused.
 */
static bool resolve(const char *path, char out[PATH_MAX])
{
	char whole[PATH_MAX], real[PATH_MAX], target[1];
	size_t at;

	if (!make_absolute(path, whole))
		return false;
	at = strlen(whole);
	for (;;) {
		char cut = whole[at];

		whole[at] = '\0';
		if (realpath(at ? whole : "/", real))
			break;
		if (errno != ENOENT || at == 0 ||
		    readlink(whole, target, sizeof(target)) >= 0)
			return false;
		whole[at] = cut;
		while (at > 0 && whole[--at] != '/')
			;
	}
	(void)snprintf(out, PATH_MAX, "%s", strcmp(real, "/") ? real : "");
	if (!make_absolute(path, whole))
		return false;
	return add_parts(out, whole + at);
}

bool root_init(struct root *root, const char *given)
{
	char folder[PATH_MAX];

	if (given)
		return resolve(given, root->path);
	return tare_option_get("export_directory", folder, sizeof(folder)) >
		       0 &&
	       resolve(folder, root->path);
}

bool root_has(const struct root *root, const char *path)
{
	size_t len = strlen(root->path);
	char real[PATH_MAX];

	return resolve(path, real) && strncmp(real, root->path, len) == 0 &&
	       (real[len] == '\0' || real[len] == '/');
}
