/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of render/export/: the public calls that write a view in a format of
 * the caller's choice, to a function or to a file.
 *
 * Comes in: views and tare_export_options. Goes out: bytes to a tare_write_fn,
 * or a file. Called by: cli, server.
 */
#ifndef TR_RENDER_EXPORT_H
#define TR_RENDER_EXPORT_H

#include <tare/read/export.h>

#include "render/output.h"

struct tr_export {
	tare_view *const *views;
	size_t n_views;
	const tare_export_options *options;
};

/* What names of files end with, after the point. */
const char *tr_format_ending(uint32_t format);
/* tare_export() with an exporter, and the number of rows (NULL: not told). */
int tr_exporter_run(tare_exporter *exporter, const struct tr_export *what,
		    tare_write_fn write, void *arg, uint64_t *ret_rows);

#endif
