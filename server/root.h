/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Root: the folder below which a request may name files and folders.
 *
 * `tare serve --export-root DIR`, or else the export_directory that the server
 * was started with. A path from the network is compared as the kernel would
 * follow it: the links of the part that exists are resolved first, and ".." is
 * refused.
 */
#ifndef SERVER_ROOT_H
#define SERVER_ROOT_H

#include <limits.h>
#include <stdbool.h>

struct root {
	char path[PATH_MAX]; /* absolute, without links */
};

/* `given` may be NULL. False: there is no such path. */
bool root_init(struct root *root, const char *given);

/* Is `path` the root or below it? A relative one is of this process. */
bool root_has(const struct root *root, const char *path);

#endif
