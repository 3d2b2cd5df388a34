/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of render/timeline/: events as a trace for Perfetto and other viewers.
 *
 * Comes in: views. Goes out: a Chrome trace in a sink or in a file. Called by:
 * render/export, render/connect, cli.
 */
#ifndef TR_RENDER_TIMELINE_H
#define TR_RENDER_TIMELINE_H

#include <tare/read/export.h>

#include "ledger/hook.h"
#include "read/timeline.h"
#include "render/output.h"

/* ---- trace_file.c ------------------------------------------------------ */

/* The file appears whole or not at all. 0 or an error. */
int tr_trace_file(const struct tr_trace_file *file);
/*
 * Keeps the newest `keep` traces called PREFIX<number>.json, by their time
 * of change; PREFIX is at most 200 bytes long. Returns how many it removed.
 */
size_t tr_trace_keep(const char *folder, const char *prefix, size_t keep);

/*
 * A writer of tare_export(). Borrows its arguments, write to the sink,
 * and return 0 or a TARE_E*; failures of the sink are in the sink.
 */
int tr_export_chrome(struct tr_sink *sink, tare_view *const *views, size_t n,
		     const tare_export_options *options);

#endif
