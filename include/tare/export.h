/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Export: what was measured, for other programs: JSON, CSV, Prometheus.
 *
 *	tare_export_options how = { sizeof(how), TARE_FORMAT_CSV, NULL, NULL };
 *	tare_export(&view, 1, &how, write, arg);
 *
 * All formats are valid UTF-8 whatever a ledger holds, and are written piece
 * by piece: memory does not grow with the number of records. Every field and
 * column is in docs/formats/export.md. As a view, not for signal handlers,
 * and one thread at a time.
 */
#ifndef TARE_EXPORT_H
#define TARE_EXPORT_H

#include <tare/view.h>

TARE_BEGIN

enum tare_format {
	TARE_FORMAT_JSON = 1,	     /* records, statistics, run, health */
	TARE_FORMAT_CSV = 2,	     /* one table, RFC 4180 */
	TARE_FORMAT_PROMETHEUS = 3,  /* text 0.0.4 */
	TARE_FORMAT_OPENMETRICS = 4, /* text 1.0.0 */
	TARE_FORMAT_PROTOBUF = 5     /* Prometheus, native histograms */
};

/*
 * `table` is for CSV: "processing" (the operations in the history; the
 * default), "memory", "gpu" (their records), "stats" (a row a series). Other
 * formats have all of it; NULL there.
 */
typedef struct tare_export_options {
	uint32_t struct_size;	/* sizeof(tare_export_options) */
	uint32_t format;	/* enum tare_format */
	const tare_filter *filter; /* NULL: everything */
	const char *table;
} tare_export_options;

/*
 * Writes the views. Of several, every row says which run it belongs to: CSV
 * has the columns run and pid first, Prometheus the labels run, pid and
 * program; JSON has an array of runs in any case. TARE_EIO: `write` stopped.
 */
TARE_API TARE_MUST_CHECK int
tare_export(tare_view *const *views, size_t n_views,
	    const tare_export_options *options, tare_write_fn write,
	    void *arg);

/*
 * The same into a file of `folder`, which is made if it is not there. The
 * file appears whole or not at all. `name` replaces a file of that name;
 * NULL makes a new one, metrics_<what>_<UTC date_time>.<ending>, and never
 * replaces. Gives its path, if `ret_path` is not NULL and has room for it,
 * and the number of rows (records, series or samples).
 */
TARE_API TARE_MUST_CHECK int
tare_export_file(tare_view *const *views, size_t n_views,
		 const tare_export_options *options, const char *folder,
		 const char *name, char *ret_path, size_t size,
		 uint64_t *ret_rows);

/* "application/json" and so on, with its version; NULL: no such format. */
TARE_API const char *tare_format_media_type(uint32_t format);

/*
 * Exporter: for who exports the same runs again and again, such as a server.
 * It keeps the names and labels of Prometheus series as they are written, and
 * a scrape is then little more than their numbers. Names, once given, stay.
 * Views are not kept. Gives the exporter (free with tare_exporter_free).
 */
typedef struct tare_exporter tare_exporter;

TARE_API TARE_MUST_CHECK int tare_exporter_new(tare_exporter **ret_exporter);
TARE_API void tare_exporter_free(tare_exporter *exporter);
TARE_API TARE_MUST_CHECK int
tare_exporter_write(tare_exporter *exporter, tare_view *const *views,
		    size_t n_views, const tare_export_options *options,
		    tare_write_fn write, void *arg);

TARE_END
#endif
