/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exports: files that this server wrote, by name.
 *
 * A download is looked up here first, then among files in export_directory that
 * have the name of an export: no path can lead anywhere else. The last 256 are
 * remembered, so that files in a former export_directory are found.
 */
#ifndef SERVER_EXPORTS_H
#define SERVER_EXPORTS_H

#include <stddef.h>
#include <stdint.h>

#define EXPORTS_N 256u
#define EXPORT_FORMATS 5u

/* Formats that can be written to files: option value and file ending. */
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
	size_t n; /* number of files ever written */
};

#endif
