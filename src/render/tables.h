/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Door of render/tables/: a whole run as JSON and as CSV tables.
 *
 * Comes in: views. Goes out: text in a sink. Called by: render/report,
 * render/export, cli, server.
 */
#ifndef TR_RENDER_TABLES_H
#define TR_RENDER_TABLES_H

#include <tare/read/export.h>

#include "read/view.h"
#include "render/output.h"

/* ---- json_parts.c: parts of a document that a report has too ----------- */

void tr_json_run(struct tr_json *json, const tare_run *run);
void tr_json_window(struct tr_json *json, const tare_window *window);
void tr_json_series(struct tr_json *json, const tare_stats *stats);
void tr_json_health(struct tr_json *json, const tare_health *health);
const char *tr_kind_name(enum tare_kind kind);

/* Fields of a tare_stats; CSV has all but the last two. */
#define TR_SERIES_FIELDS 33
extern const struct tr_field tr_series_fields[TR_SERIES_FIELDS];

/*
 * Writers of tare_export(). They borrow their arguments, write to the sink,
 * and return 0 or a TARE_E*; failures of the sink are in the sink.
 */
int tr_export_json(struct tr_sink *sink, tare_view *const *views, size_t n,
		   const tare_export_options *options);
int tr_export_csv(struct tr_sink *sink, tare_view *const *views, size_t n,
		  const tare_export_options *options);
/* The table of CSV of this name, in a text that stays; NULL: there is none. */
const char *tr_csv_table(const char *name);

#endif
