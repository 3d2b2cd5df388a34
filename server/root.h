/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root: the folder below which requests may name files and folders.
 *
 * It is `tare serve --export-root DIR`, or the export_directory with which the
 * server started. A path from the network is compared as the kernel would
 * follow it: links in the part that exists are resolved first, and ".." is
 * refused.
 */
#ifndef SERVER_ROOT_H
#define SERVER_ROOT_H

#include <limits.h>
#include <stdbool.h>

struct root {
	char path[PATH_MAX]; /* absolute, without links */
};

/* `given` may be NULL. False: the path does not exist. */
bool root_init(struct root *root, const char *given);

/* Is `path` the root or below it? Relative paths are of this process. */
bool root_has(const struct root *root, const char *path);

#endif
