/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writers of tare_export(), one a format. All borrow their arguments,
 * write to the sink, and return 0 or a TARE_E*; failures of the sink are in
 * the sink.
 */
#ifndef TR_WRITER_H
#define TR_WRITER_H

#include <tare/export.h>

#include "export/sink.h"

int tr_export_json(struct tr_sink *sink, tare_view *const *views, size_t n,
		   const tare_export_options *options);
int tr_export_csv(struct tr_sink *sink, tare_view *const *views, size_t n,
		  const tare_export_options *options);
/* Timelines and profiles for other viewers. */
int tr_export_chrome(struct tr_sink *sink, tare_view *const *views, size_t n,
		     const tare_export_options *options);
int tr_export_speedscope(struct tr_sink *sink, tare_view *const *views,
			 size_t n, const tare_export_options *options);
int tr_export_pprof(struct tr_sink *sink, tare_view *const *views, size_t n,
		    const tare_export_options *options);
int tr_export_callgrind(struct tr_sink *sink, tare_view *const *views,
			size_t n, const tare_export_options *options);
int tr_export_collapsed(struct tr_sink *sink, tare_view *const *views,
			size_t n, const tare_export_options *options);
/* Prometheus and OpenMetrics; the exporter may be new. */
int tr_exporter_expose(tare_exporter *exporter, struct tr_sink *sink,
		       tare_view *const *views, size_t n,
		       const tare_export_options *options);

/* ---- export.c ---------------------------------------------------------- */

struct tr_export {
	tare_view *const *views;
	size_t n_views;
	const tare_export_options *options;
};

/* tare_export() with an exporter, and the number of rows (NULL: not told). */
int tr_exporter_run(tare_exporter *exporter, const struct tr_export *what,
		    tare_write_fn write, void *arg, uint64_t *ret_rows);

/* Is the table of this name one of CSV's? */
bool tr_csv_has_table(const char *name);
/* The table "metrics". `asked`: a filter, or NULL. */
int tr_csv_metrics(struct tr_sink *sink, tare_view *const *views, size_t n,
		   const tare_filter *asked);

#endif
