/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of render/profiles/: stacks for other viewers: flame graphs, pprof,
 * speedscope, callgrind, collapsed stacks.
 *
 * Comes in: views. Goes out: a file's bytes in a sink. Called by:
 * render/export, cli.
 */
#ifndef TR_RENDER_PROFILES_H
#define TR_RENDER_PROFILES_H

#include <tare/read/export.h>

#include "render/output.h"

/*
 * Writers of tare_export(). They borrow their arguments, write to the sink,
 * and return 0 or a TARE_E*; failures of the sink are in the sink.
 */
int tr_export_speedscope(struct tr_sink *sink, tare_view *const *views,
			 size_t n, const tare_export_options *options);
int tr_export_pprof(struct tr_sink *sink, tare_view *const *views, size_t n,
		    const tare_export_options *options);
int tr_export_callgrind(struct tr_sink *sink, tare_view *const *views,
			size_t n, const tare_export_options *options);
int tr_export_collapsed(struct tr_sink *sink, tare_view *const *views,
			size_t n, const tare_export_options *options);
bool tr_costs_has_table(const char *name);

#endif
