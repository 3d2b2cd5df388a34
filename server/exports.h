/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports: files that this server made, by name.
 *
 * A download is looked up here first, then among the files of the folder of
 * exports that have the name of one: no spelling of a path leads anywhere
 * else. The last 256 are remembered, for folders of before a change of it.
 */
#ifndef SERVER_EXPORTS_H
#define SERVER_EXPORTS_H

#include <stddef.h>
#include <stdint.h>

#define EXPORTS_N 256u
#define EXPORT_FORMATS 5u

/* What can be written to files: as an option calls it, and its ending. */
extern const struct export_format {
	const char *name, *ending;
	uint32_t format; /* enum tare_format */
} export_formats[EXPORT_FORMATS];

struct export_file {
	char path[512];
	const char *name; /* in the path */
	const char *type;
};

struct exports {
	struct export_file at[EXPORTS_N];
	size_t n; /* ever made */
};

#endif
